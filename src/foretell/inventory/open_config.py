"""Configs of job agents before templates are rendered and references resolved."""

import re
from collections.abc import Mapping
from typing import Any

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from foretell.domain.context import secret_reference

_TEMPLATE_MARKS = ("{{", "{%")


def is_open(value: Any) -> bool:
    """Whether a template or a reference stands in place of the value, or of an item of it."""
    if isinstance(value, list):
        return any(is_open(each) for each in value)
    if isinstance(value, Mapping):
        return secret_reference(value) is not None
    return isinstance(value, str) and any(mark in value for mark in _TEMPLATE_MARKS)


def matching(pattern: str, expected: str) -> AfterValidator:
    """A pydantic validator for text that fits the whole pattern; `expected` says it in words."""
    compiled = re.compile(pattern)

    def check(value: str) -> str:
        if not compiled.fullmatch(value):
            raise PydanticCustomError("pattern", "expected {what}", {"what": expected})
        return value

    return AfterValidator(check)
