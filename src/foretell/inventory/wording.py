"""pydantic's errors in the words of somebody who writes an inventory.

Shared with agents, whose configuration is checked the same way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError
from rapidfuzz import process as nearest

_EXPECTED: Mapping[str, str] = {
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "dict_type": "a map",
    "list_type": "a list",
    "model_type": "a map",
    "model_attributes_type": "a map",
}
_LEAST_LIKENESS = 70


@dataclass(frozen=True, slots=True)
class Complaint:
    """What is wrong with the value at `path` and what was expected there.

    `missing`: there is no value; `unknown`: nothing is expected there at all.
    """

    path: tuple[str | int, ...]
    message: str
    missing: bool = False
    unknown: bool = False

    @property
    def field(self) -> str:
        """`path` as the author wrote it: `variables[1].key`."""
        return written(self.path)


def written(path: Sequence[str | int]) -> str:
    """`deployments[0].variables[1].key`."""
    steps = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in path]
    return "".join(steps).removeprefix(".")


def complaints(error: ValidationError, model: type[BaseModel]) -> list[Complaint]:
    """pydantic's errors about a `model`; none quotes a value, which may be a secret's."""
    return [
        Complaint(
            path=detail["loc"],
            message=_message(detail, detail["loc"], model),
            missing=detail["type"] == "missing",
            unknown=detail["type"] == "extra_forbidden",
        )
        for detail in error.errors(include_url=False)
    ]


def _message(detail: Any, path: Sequence[str | int], model: type[BaseModel]) -> str:
    kind = detail["type"]
    if kind == "extra_forbidden":
        return f"unknown key; {_meant(str(path[-1]), _keys_at(model, path[:-1]))}"
    if kind == "missing":
        return "missing; it is required"
    if kind in _EXPECTED:
        return f"expected {_EXPECTED[kind]}, found {_found(detail['input'])}"
    return str(detail["msg"]).replace("Input should be", "expected")


def _found(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return f"{str(value).lower()} (quote it to make it text)"
        case int() | float():
            return "a number (quote it to make it text)"
        case str():
            return "text"
        case list():
            return "a list"
        case Mapping():
            return "a map"
        case _:
            return type(value).__name__


def _meant(key: str, known: Sequence[str]) -> str:
    best = nearest.extractOne(key, known, score_cutoff=_LEAST_LIKENESS)
    if best:
        return f"did you mean {best[0]!r}?"
    return f"expected one of {', '.join(sorted(known))}"


def _keys_at(model: type[BaseModel], path: Sequence[str | int]) -> list[str]:
    """The keys that the map at `path` may have."""
    for step in path:
        if isinstance(step, str):
            inner = _model_of(model, step)
            if inner is None:
                break
            model = inner
    return [field.alias or name for name, field in model.model_fields.items()]


def _model_of(model: type[BaseModel], key: str) -> type[BaseModel] | None:
    for name, field in model.model_fields.items():
        if key in (name, field.alias):
            annotation = field.annotation
            options = [annotation, *getattr(annotation, "__args__", ())]
            for option in options:
                if isinstance(option, type) and issubclass(option, BaseModel):
                    return option
    return None
