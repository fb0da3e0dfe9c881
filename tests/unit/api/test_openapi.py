"""The description is that of the routes, in the file and in the reference."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from foretell.api.openapi import described

REFERENCE = Path(__file__).parents[3] / "docs" / "reference"
DOCUMENT: dict[str, Any] = orjson.loads(described())
OPERATIONS = [
    (method.upper(), path, operation)
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
]


def test_the_file_is_what_the_code_says() -> None:
    made = (REFERENCE / "openapi.json").read_bytes()
    assert made == described(), "python -m foretell.api.openapi > docs/reference/openapi.json"


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(found := value.get("$ref"), str):
            yield found
        for inner in value.values():
            yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


def test_every_reference_leads_to_a_schema() -> None:
    names = {found.removeprefix("#/components/schemas/") for found in references(DOCUMENT)}
    assert names
    assert names <= DOCUMENT["components"]["schemas"].keys()


def test_it_is_openapi_3_1_and_every_operation_has_a_name_of_its_own() -> None:
    assert DOCUMENT["openapi"].startswith("3.1")
    names = [operation["operationId"] for _, _, operation in OPERATIONS]
    assert len(names) == len(set(names)) > 20


@pytest.mark.parametrize(
    ("method", "path", "operation"), OPERATIONS, ids=lambda each: str(each)[:60]
)
def test_an_operation_says_who_may_and_what_may_go_wrong(
    method: str, path: str, operation: dict[str, Any]
) -> None:
    assert operation["summary"]
    is_open = path in ("/healthz", "/readyz")
    assert bool(operation.get("security")) is not is_open
    assert ("401" in operation["responses"]) is not is_open
    for status, answer in operation["responses"].items():
        if status >= "4":
            assert list(answer["content"]) == ["application/problem+json"], status
    if method in ("PUT", "POST"):
        assert operation["requestBody"]["required"]


def test_every_call_is_in_the_reference() -> None:
    text = (REFERENCE / "api.md").read_text()
    told = set(re.findall(r"`(GET|PUT|POST|DELETE) (/[^ `?]*)`", text))
    assert told == {(method, path) for method, path, _ in OPERATIONS}
