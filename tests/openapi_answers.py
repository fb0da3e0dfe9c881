"""Does an answer of a fake look as the service's published schema says? OpenAPI 3.0 and Swagger 2.

Small on purpose: the keywords that the published subsets use. A keyword that it does not know
raises, so that a schema which grows is never taken for one that was checked.

    answers = published("tfe-openapi-subset.json")       # skips where FORETELL_SCHEMAS is unset
    assert answers.problems("GET", "/runs/run-1", 200, body) == []
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

VARIABLE = "FORETELL_SCHEMAS"
_ASSERTIONS = (
    "$ref type properties required enum nullable x-nullable items additionalProperties allOf oneOf "
    "anyOf format pattern minLength maxLength minimum maximum minItems maxItems"
)
_ANNOTATIONS = (
    "title description default example examples readOnly writeOnly deprecated discriminator xml "
    "externalDocs"
)
_KNOWN = frozenset(f"{_ASSERTIONS} {_ANNOTATIONS}".split())
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (Mapping,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}


def published(file_name: str, *, nulls_are_absent: bool = False) -> "Answers":
    """The schema of that name in the folder that FORETELL_SCHEMAS names; skips where it is unset.

    `nulls_are_absent` for services in Go, which print an empty list or map as null.
    """
    folder = os.environ.get(VARIABLE)
    if not folder:
        pytest.skip(f"{VARIABLE} is not set: no published schema to hold the fake against")
    document = json.loads(Path(folder, file_name).read_text(encoding="utf-8"))
    return Answers(document, nulls_are_absent)


@dataclass(frozen=True)
class Answers:
    """A document of published calls, asked about one answer at a time."""

    document: Mapping[str, Any]
    nulls_are_absent: bool = False

    def problems(
        self, method: str, path: str, status: int, body: Any, *, body_only: str = ""
    ) -> list[str]:
        """What is wrong with `body` (parsed JSON, None for none) as the answer to a call.

        `path` as the client sent it, its query is ignored. Literal segments of a template win
        over placeholders. `body_only` names a media type where several are published.
        """
        template = self.template(path)
        if template is None:
            return [f"{method} {path}: no such path is published"]
        call = self.document["paths"][template].get(method.lower())
        if call is None:
            return [f"{method} {template}: no such method is published"]
        told = call["responses"].get(str(status)) or call["responses"].get("default")
        if told is None:
            return [f"{method} {template}: status {status} is not published"]
        schema = self._body_schema(self._resolved(told), body_only)
        where = f"{method} {template} {status}"
        if schema is None:
            return []
        if body is None:
            return [f"{where}: a body is published and there is none"]
        return [f"{where}: {problem}" for problem in self._check(schema, body, "body")]

    def request_problems(self, method: str, path: str, body: Any) -> list[str]:
        """What is wrong with the JSON body of a call that a client makes."""
        template = self.template(path)
        call = self.document["paths"].get(template or "", {}).get(method.lower())
        if call is None:
            return [f"{method} {path}: no such call is published"]
        schema = self._request_schema(call)
        where = f"{method} {template}"
        if schema is None:
            return [] if body is None else [f"{where}: no body is published"]
        return [f"{where}: {problem}" for problem in self._check(schema, body, "body")]

    def template(self, path: str) -> str | None:
        """The published path that `path` is an instance of."""
        asked = urlsplit(path).path
        fitting = [known for known in self.document["paths"] if _fits(known, asked)]
        return min(fitting, key=lambda known: known.count("{"), default=None)

    def schema_problems(self, name: str, value: Any) -> list[str]:
        """What is wrong with `value` as the schema of that name."""
        folder = "definitions" if "definitions" in self.document else "components/schemas"
        return list(self._check({"$ref": f"#/{folder}/{name}"}, value, name))

    def _body_schema(self, told: Mapping[str, Any], wanted: str) -> Any:
        if "schema" in told:  # Swagger 2
            return told["schema"]
        content = told.get("content") or {}
        media = content.get(wanted) or next(iter(content.values()), {})
        return media.get("schema")

    def _request_schema(self, call: Mapping[str, Any]) -> Any:
        for parameter in map(self._resolved, call.get("parameters", ())):
            if parameter.get("in") == "body":  # Swagger 2
                return parameter["schema"]
        return self._body_schema(self._resolved(call.get("requestBody", {})), "")

    def _resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        # OpenAPI 3.0 and Swagger 2: what stands beside a $ref is ignored.
        while "$ref" in schema:
            found: Any = self.document
            for part in schema["$ref"].removeprefix("#/").split("/"):
                found = found[part.replace("~1", "/").replace("~0", "~")]
            schema = found
        return schema

    def _check(self, schema: Mapping[str, Any], value: Any, where: str) -> Iterator[str]:
        schema = self._resolved(schema)
        unknown = {k for k in schema if k not in _KNOWN and not k.startswith("x-")}
        if unknown:
            raise NotImplementedError(f"{where}: schema keywords {sorted(unknown)}")
        if value is None and self._may_be_null(schema):
            return
        yield from _type_problems(schema, value, where)
        yield from _scalar_problems(schema, value, where)
        yield from self._composed(schema, value, where)
        if isinstance(value, Mapping):
            yield from self._members(schema, value, where)
        elif isinstance(value, list):
            yield from self._elements(schema, value, where)

    def _may_be_null(self, schema: Mapping[str, Any]) -> bool:
        asserts = {"type", "enum", "allOf", "oneOf", "anyOf"} & set(schema)
        nullable = schema.get("nullable") or schema.get("x-nullable")
        return bool(nullable) or not asserts or self.nulls_are_absent

    def _composed(self, schema: Mapping[str, Any], value: Any, where: str) -> Iterator[str]:
        for part in schema.get("allOf", ()):
            yield from self._check(part, value, where)
        for word in ("oneOf", "anyOf"):
            if word not in schema:
                continue
            tried = [list(self._check(part, value, where)) for part in schema[word]]
            fitting = sum(not problems for problems in tried)
            if not fitting:
                yield f"{where}: fits none of {len(tried)} ({word}); nearest: {min(tried, key=len)}"
            elif word == "oneOf" and fitting > 1:
                yield f"{where}: fits {fitting} of {len(tried)} where exactly one may (oneOf)"

    def _members(
        self, schema: Mapping[str, Any], value: Mapping[str, Any], where: str
    ) -> Iterator[str]:
        properties = schema.get("properties", {})
        for name in schema.get("required", ()):
            # What only a client sends is not owed by an answer.
            if name not in value and not properties.get(name, {}).get("writeOnly"):
                yield f"{where}: {name} is required and missing"
        for name, member in value.items():
            below = f"{where}.{name}"
            if name in properties:
                yield from self._check(properties[name], member, below)
            elif schema.get("additionalProperties") is False:
                yield f"{below}: is not published, and nothing else may be here"
            elif isinstance(schema.get("additionalProperties"), Mapping):
                yield from self._check(schema["additionalProperties"], member, below)

    def _elements(self, schema: Mapping[str, Any], value: list[Any], where: str) -> Iterator[str]:
        least, most = schema.get("minItems", 0), schema.get("maxItems", len(value))
        if not least <= len(value) <= most:
            yield f"{where}: {len(value)} elements, expected {least} to {most}"
        if "items" in schema:
            for place, element in enumerate(value):
                yield from self._check(schema["items"], element, f"{where}[{place}]")


def _fits(template: str, path: str) -> bool:
    pattern = re.sub(r"\\\{[^/]*?\\\}", "[^/]+", re.escape(template))
    return re.fullmatch(pattern, path) is not None


def _type_problems(schema: Mapping[str, Any], value: Any, where: str) -> Iterator[str]:
    wanted = schema.get("type")
    if wanted is None:
        return
    names = wanted if isinstance(wanted, list) else [wanted]
    if not any(_is(name, value) for name in names):
        yield f"{where}: expected {' or '.join(names)}, found {type(value).__name__}: {value!r:.80}"


def _is(name: str, value: Any) -> bool:
    if isinstance(value, bool) and name != "boolean":
        return False
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[name])


def _scalar_problems(schema: Mapping[str, Any], value: Any, where: str) -> Iterator[str]:
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where}: {value!r} is none of {schema['enum']}"
    if isinstance(value, str):
        yield from _text_problems(schema, value, where)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        least, most = schema.get("minimum", value), schema.get("maximum", value)
        if not least <= value <= most:
            yield f"{where}: {value} is not in {least} to {most}"


def _text_problems(schema: Mapping[str, Any], value: str, where: str) -> Iterator[str]:
    if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
        yield f"{where}: {len(value)} characters are too few or too many"
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{where}: {value!r:.80} does not match {schema['pattern']}"
    if schema.get("format") == "date-time" and not _is_moment(value):
        yield f"{where}: {value!r:.80} is no RFC 3339 time with an offset"
    if schema.get("format") == "uri" and not urlsplit(value).scheme:
        yield f"{where}: {value!r:.80} is no URI"


def _is_moment(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False
