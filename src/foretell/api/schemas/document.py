"""What every answer's schema is made of."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

Time = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
"""RFC 3339, UTC."""
Id = Annotated[str, Field(json_schema_extra={"format": "uuid"})]


class Document(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, frozen=True)
