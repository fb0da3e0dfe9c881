"""A stream of YAML or JSON documents -> values, bounded in size, depth and aliases.

Kubernetes' decoder takes a document that begins with `{` for JSON (or several, one after the
other) and anything else for YAML, so this does too. A repeated key is an error: the API server's
strict field validation refuses it, and whichever value a diff picked could be the wrong one.

No message quotes a value: what cannot be parsed may be a Secret.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from foretell.domain.errors import InvalidRequest
from foretell.formats.yaml.building import Fault, Limits, documents
from foretell.formats.yaml.json_stream import json_documents

__all__ = ["Document", "Limits", "load_documents"]

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_MARKER = re.compile(r"^---(?=[ \t\n]|\Z)", re.MULTILINE)
_DIRECTIVE = re.compile(r"^%", re.MULTILINE)
_NOTHING = re.compile(r"(?:[ \t\ufeff]*(?:#[^\n\x85\u2028\u2029]*)?(?:\n|\Z))*\Z")
_JSON_START = re.compile(r"(?:---(?=[ \t\n{]))?\s*(?=\{)")


@dataclass(frozen=True, slots=True)
class Document:
    """One document: `number` counts from 1 as `---` does, `line` is where it starts.

    Documents with the same text share one `value`: never change it in place. `text` is that text,
    "" when the document shares its part of the stream with others.
    """

    value: Any
    number: int
    line: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class _Part:
    text: str
    line: int


def load_documents(
    text: str | bytes,
    *,
    source: str,
    limits: Limits | None = None,
    known: dict[str, list[tuple[Any, int]]] | None = None,
) -> list[Document]:
    """Every document that is not empty, in order.

    `source` names the input in errors. Give the same `known` to several calls and a document that
    occurs again, byte for byte, is parsed once (the other side of a diff is mostly that).
    Raises InvalidRequest that names the document, its source and its line.
    """
    limits = limits or Limits()
    known = {} if known is None else known
    found: list[Document] = []
    number = 0
    for part in _parts(_decoded(text, source, limits)):
        values = known.get(part.text)
        if values is None:
            values = known[part.text] = _parsed(part, source, limits, number)
        alone = part.text if len(values) == 1 else ""
        for value, line in values:
            number += 1
            if value is not None:
                found.append(Document(value, number, part.line + line, alone))
        if len(found) > limits.documents:
            raise InvalidRequest(f"{source} has more than {limits.documents:,} documents")
    return found


def _parsed(part: _Part, source: str, limits: Limits, before: int) -> list[tuple[Any, int]]:
    values: list[tuple[Any, int]] = []
    try:
        start = _JSON_START.match(part.text)
        found = json_documents(part.text, start.end(), limits) if start else None
        for value in documents(part.text, limits) if found is None else found:
            values.append(value)
    except Fault as fault:
        number, line = before + len(values) + fault.ahead + 1, part.line + fault.line
        raise InvalidRequest(
            f"document {number} of {source}, line {line}: {fault.message}"
        ) from None
    return values


def _decoded(text: str | bytes, source: str, limits: Limits) -> str:
    if isinstance(text, bytes):
        encoding = next((name for bom, name in _BOMS if text.startswith(bom)), "utf-8")
        try:
            text = text.decode(encoding)
        except UnicodeDecodeError as error:
            raise InvalidRequest(
                f"{source} is not {encoding.removesuffix('-sig').upper()} text"
                f" (byte {error.start}); save it as UTF-8"
            ) from None
    if len(text) > limits.characters:
        raise InvalidRequest(
            f"{source} has {len(text):,} characters; at most {limits.characters:,} are read"
        )
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.removeprefix("\ufeff")


def _parts(text: str) -> Iterator[_Part]:
    """The stream cut at `---`, which ends a document wherever it starts a line, quoted or not.

    A directive (`%YAML`) belongs to the marker after it; such a rare stream stays whole.
    """
    starts = [] if _DIRECTIVE.search(text) else [match.start() for match in _MARKER.finditer(text)]
    head = text[: starts[0]] if starts else text
    if not _NOTHING.match(head):
        yield _Part(head, 1)
    line = 1 + head.count("\n")
    for start, end in pairwise([*starts, len(text)]):
        part = text[start:end]
        yield _Part(part, line)
        line += part.count("\n")
