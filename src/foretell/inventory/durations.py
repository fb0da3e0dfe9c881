"""Durations as inventories write them: `90s`, `10m`, `1h30m`."""

import re
from datetime import timedelta
from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

_DURATION = re.compile(r"(?:(\d{1,4})h)?(?:(\d{1,5})m)?(?:(\d{1,6})s)?\Z")
LONGEST = timedelta(hours=24)


def _duration(value: Any) -> timedelta:
    parts = _DURATION.match(value) if isinstance(value, str) and value else None
    if parts is None:
        raise PydanticCustomError("duration", "expected a duration such as 90s, 10m or 1h30m")
    hours, minutes, seconds = (int(part or 0) for part in parts.groups())
    duration = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    if not timedelta(0) < duration <= LONGEST:
        raise PydanticCustomError("duration", "expected a duration over 0 and at most 24h")
    return duration


Duration = Annotated[timedelta, BeforeValidator(_duration)]
"""A pydantic field: text in, timedelta out."""
