"""Configs of job agents before templates are rendered and references resolved."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import AfterValidator, BaseModel, ValidationError
from pydantic_core import PydanticCustomError

from foretell.domain.context import secret_reference
from foretell.domain.plan import JsonObject
from foretell.inventory.wording import Complaint, complaints

_TEMPLATE_MARKS = ("{{", "{%")


def is_open(value: Any) -> bool:
    """Whether a template or a reference stands in place of the value, or of an item of it."""
    if isinstance(value, list):
        return any(is_open(each) for each in value)
    if isinstance(value, Mapping):
        return secret_reference(value) is not None
    return isinstance(value, str) and any(mark in value for mark in _TEMPLATE_MARKS)


def open_complaints(
    config: JsonObject, model: type[BaseModel], *, partial: bool
) -> list[Complaint]:
    """What is wrong with a config that was not rendered yet.

    A template or a reference may stand for any value that is allowed; under a key that the model
    does not know it is wrong like any other. `partial`: a missing key may still come.
    """
    try:
        model.model_validate(dict(config))
    except ValidationError as error:
        return [
            found
            for found in complaints(error, model)
            if found.unknown or not (partial if found.missing else _is_open_at(config, found.path))
        ]
    return []


def _is_open_at(config: Any, path: Sequence[str | int]) -> bool:
    """Whether what stands at the path, or what it lies in, is still open."""
    for step in path:
        if isinstance(config, Mapping) and secret_reference(config) is not None:
            return True
        try:
            config = config[step]
        except (KeyError, IndexError, TypeError):
            break
    return is_open(config)


def matching(pattern: str, expected: str) -> AfterValidator:
    """A pydantic validator for text that fits the whole pattern; `expected` says it in words."""
    compiled = re.compile(pattern)

    def check(value: str) -> str:
        if not compiled.fullmatch(value):
            raise PydanticCustomError("pattern", "expected {what}", {"what": expected})
        return value

    return AfterValidator(check)
