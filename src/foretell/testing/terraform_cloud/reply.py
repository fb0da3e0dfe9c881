"""A request as the fake's routes see it, and an answer before it is on the wire."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from foretell.testing.terraform_cloud import documents

_JSON_API = {"content-type": "application/vnd.api+json"}


@dataclass(frozen=True)
class Reply:
    """An answer before it is on the wire."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def document(status: int, document: Any) -> "Reply":
        return Reply(status, json.dumps(document).encode(), _JSON_API)

    @staticmethod
    def failed(status: int, title: str, detail: str = "", pointer: str = "") -> "Reply":
        return Reply.document(status, documents.error(status, title, detail, pointer))


NOT_FOUND = Reply.failed(404, "not found")


class Asked(Protocol):
    """A request, as the routes need it."""

    @property
    def method(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def query(self) -> Mapping[str, str]: ...
    @property
    def authorization(self) -> str: ...
    @property
    def body(self) -> bytes: ...
