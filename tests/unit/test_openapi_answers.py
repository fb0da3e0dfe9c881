"""The check of fakes against published schemas finds what is wrong, and only that."""

from typing import Any

import pytest
from openapi_answers import VARIABLE, Answers, published

RUN: dict[str, Any] = {
    "type": "object",
    "required": ["id", "secret"],
    "properties": {
        "id": {"type": "string", "pattern": "^run-"},
        "secret": {"type": "string", "writeOnly": True},
        "status": {"type": "string", "enum": ["pending", "planning"]},
        "at": {"type": "string", "format": "date-time", "nullable": True},
        "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
        "parent": {"nullable": True, "type": "object", "allOf": [{"$ref": "#/x/run"}]},
        "tags": {"type": "array", "maxItems": 2, "items": {"type": "string"}},
        "either": {"oneOf": [{"type": "string"}, {"type": "integer", "minimum": 1}]},
    },
}
THREE = Answers(
    {
        "paths": {
            "/runs/{id}": {
                "get": {
                    "responses": {
                        "200": {"content": {"application/json": {"schema": {"$ref": "#/x/run"}}}},
                        "204": {"description": "nothing yet"},
                    }
                },
                "post": {
                    "requestBody": {
                        "content": {"application/json": {"schema": {"$ref": "#/x/run"}}}
                    },
                    "responses": {"default": {}},
                },
            },
            "/runs/all": {"get": {"responses": {"default": {"content": {}}}}},
        },
        "x": {"run": RUN},
    }
)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"id": "run-1"}, []),
        ({"id": "run-1", "at": None, "parent": None, "more": 1}, []),
        ({"id": "run-1", "at": "2026-01-02T03:04:05Z", "tags": ["a"], "either": 3}, []),
        ({}, ["id is required"]),
        ({"id": 1}, ["id: expected string, found int"]),
        ({"id": "x"}, ["id: 'x' does not match"]),
        ({"id": "run-1", "status": "odd"}, ["'odd' is none of"]),
        ({"id": "run-1", "status": None}, ["status"]),
        ({"id": "run-1", "at": "yesterday"}, ["no RFC 3339"]),
        ({"id": "run-1", "at": "2026-01-02T03:04:05"}, ["no RFC 3339"]),
        ({"id": "run-1", "counts": {"a": True}}, ["counts.a: expected integer"]),
        ({"id": "run-1", "parent": {"id": "y"}}, ["parent.id: 'y'"]),
        ({"id": "run-1", "tags": ["a", 1, "c"]}, ["3 elements", "tags[1]"]),
        ({"id": "run-1", "either": 0}, ["fits none of 2"]),
        (None, ["there is none"]),
    ],
)
def test_an_answer_that_differs_from_the_schema_is_told_with_its_place(
    body: Any, told: list[str]
) -> None:
    problems = THREE.problems("GET", "/runs/run-1?x=y", 200, body)
    assert [part for part in told if any(part in problem for problem in problems)] == told
    assert bool(problems) == bool(told)


def test_a_call_that_is_not_published_is_a_problem() -> None:
    assert THREE.problems("GET", "/walks/1", 200, {})
    assert THREE.problems("PUT", "/runs/1", 200, {})
    assert THREE.problems("GET", "/runs/1", 302, {})
    assert THREE.problems("GET", "/runs/1", 204, None) == []


def test_a_literal_path_wins_over_a_placeholder() -> None:
    assert THREE.template("/runs/all") == "/runs/all"
    assert THREE.template("/runs/1") == "/runs/{id}"


def test_what_a_client_sends_is_checked_too() -> None:
    assert THREE.request_problems("POST", "/runs/1", {"id": "run-1"}) == []
    assert THREE.request_problems("POST", "/runs/1", {"id": 2})
    assert THREE.request_problems("GET", "/runs/1", {"id": "run-1"})


def test_a_keyword_that_is_not_known_is_never_taken_for_checked() -> None:
    odd = Answers({"definitions": {"odd": {"not": {"type": "string"}}}})
    with pytest.raises(NotImplementedError, match="not"):
        odd.schema_problems("odd", 1)


def test_swagger_2_answers_and_nulls_of_go_are_understood() -> None:
    document = {
        "paths": {
            "/apps/{a.b}": {
                "get": {"responses": {"200": {"schema": {"$ref": "#/definitions/app"}}}},
                "post": {
                    "parameters": [{"in": "body", "schema": {"$ref": "#/definitions/app"}}],
                    "responses": {},
                },
            }
        },
        "definitions": {"app": {"type": "object", "properties": {"items": {"type": "array"}}}},
    }
    assert Answers(document).problems("GET", "/apps/x", 200, {"items": None})
    go = Answers(document, nulls_are_absent=True)
    assert go.problems("GET", "/apps/x", 200, {"items": None}) == []
    assert go.request_problems("POST", "/apps/x", {"items": 1})


@pytest.mark.parametrize(
    "name",
    ["tfe-openapi-subset.json", "argocd-swagger-subset.json", "github-openapi-subset.json"],
)
def test_every_published_schema_can_be_read_wholly(name: str) -> None:
    answers = published(name)
    folder = "definitions" if "definitions" in answers.document else None
    schemas = answers.document[folder] if folder else answers.document["components"]["schemas"]
    for schema in schemas:
        for value in ({}, [], "", 1, None):
            answers.schema_problems(schema, value)


def test_without_a_folder_of_schemas_the_reason_of_the_skip_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(pytest.skip.Exception, match=VARIABLE):
        published("any.json")
