"""libyaml's events -> values, without recursion, counting what aliases would expand to.

PyYAML's own constructor takes twice as long and follows YAML 1.1.
"""

import base64
import binascii
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml.cyaml import CParser  # type: ignore[attr-defined]

from foretell.formats.yaml.scalar import Scalar, key_text, resolve, whole

_CORE = "tag:yaml.org,2002:"
_CONVERSIONS: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "null": (type(None),),
}


@dataclass(frozen=True, slots=True)
class Limits:
    """What one stream may cost. The API server refuses objects over 3 MB and etcd over 1.5 MB, so
    these leave room for a few thousand of the largest; no CRD of the wild nests deeper than 60."""

    characters: int = 32 * 1024 * 1024
    documents: int = 200_000
    depth: int = 200
    alias_nodes: int = 200_000


class Fault(Exception):
    """Something wrong at `line` (from 0) of this part of the stream, after `ahead` documents."""

    def __init__(self, line: int, message: str, *, ahead: int = 0) -> None:
        super().__init__(message)
        self.line = line
        self.message = message
        self.ahead = ahead


@dataclass(slots=True)
class _Frame:
    """A collection that is still open; `key` is the one whose value comes next."""

    value: Any
    line: int
    anchor: str | None
    size: int = 1
    key: Any = None
    explicit: set[str] = field(default_factory=set)


_COLLECTION_KEY = (
    "has a key that is a mapping or a list; a key must be text (a template that was not rendered?)"
)
_NO_KEY: Any = object()
_MERGE: Any = object()


def documents(text: str, limits: Limits) -> Iterator[tuple[Any, int]]:
    """Value and line (from 0) of each document; an empty one is None."""
    parser: Any = CParser(text)
    try:
        while (event := parser.get_event()) is not None:
            kind = type(event)
            if kind is yaml.DocumentStartEvent:
                yield _Builder(limits).build(parser), event.start_mark.line
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = " ".join(part for part in (error.context, error.problem) if part)
        raise Fault(getattr(mark, "line", 0), f"is no YAML: {said}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position if isinstance(error.position, int) else 0)
        raise Fault(line, f"is no YAML: {error.reason}") from None


class _Builder:
    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._stack: list[_Frame] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._plain: dict[str, Scalar] = {}
        self._aliased = 0
        self._root: Any = None

    def build(self, parser: Any) -> Any:
        next_event = parser.get_event
        while True:
            event = next_event()
            kind = type(event)
            if kind is yaml.ScalarEvent:
                self._scalar(event)
            elif kind is yaml.MappingStartEvent:
                self._open(event, {})
            elif kind is yaml.SequenceStartEvent:
                self._open(event, [])
            elif kind is yaml.AliasEvent:
                self._alias(event)
            elif kind is yaml.DocumentEndEvent:
                return self._root
            else:
                self._close()

    def _open(self, event: Any, value: Any) -> None:
        line = event.start_mark.line
        if len(self._stack) >= self._limits.depth:
            raise Fault(line, f"is nested deeper than {self._limits.depth} levels")
        _check_tag(event.tag, line)
        if self._stack and self._stack[-1].key is _NO_KEY:
            raise Fault(line, _COLLECTION_KEY)
        self._stack.append(_Frame(value, line, event.anchor, key=_no_key(value)))

    def _close(self) -> None:
        frame = self._stack.pop()
        if frame.anchor:
            self._anchors[frame.anchor] = (frame.value, frame.size)
        self._put(frame.value, frame.size, frame.line)

    def _alias(self, event: Any) -> None:
        line, anchor = event.start_mark.line, event.anchor
        if any(frame.anchor == anchor for frame in self._stack):
            raise Fault(line, f"the anchor {anchor!r} contains itself")
        if anchor not in self._anchors:
            raise Fault(line, f"the anchor {anchor!r} is not defined")
        value, size = self._anchors[anchor]
        self._aliased += size
        if self._aliased > self._limits.alias_nodes:
            raise Fault(
                line, f"its aliases expand to more than {self._limits.alias_nodes:,} values"
            )
        if self._stack and self._stack[-1].key is _NO_KEY:
            self._key(value, line)
        else:
            self._put(value, size, line)

    def _scalar(self, event: Any) -> None:
        value = self._value(event)
        if event.anchor:
            self._anchors[event.anchor] = (value, 1)
        stack = self._stack
        if stack and stack[-1].key is _NO_KEY:
            merges = value == "<<" and event.implicit[0]
            self._key(_MERGE if merges else value, event.start_mark.line)
            return
        if type(value) is float:
            value = _number(value, event.start_mark.line)
        self._put(value, 1, event.start_mark.line)

    def _value(self, event: Any) -> Scalar:
        tag, text = event.tag, event.value
        if tag is None:
            if not event.implicit[0]:
                return str(text)
            cached = self._plain.get(text, _NO_KEY)
            if cached is _NO_KEY:
                cached = self._plain[text] = resolve(text)
            return cached  # type: ignore[no-any-return]
        return _tagged(tag, text, event.start_mark.line)

    def _key(self, key: Any, line: int) -> None:
        frame = self._stack[-1]
        if key is _MERGE:
            frame.key = _MERGE
            return
        if isinstance(key, dict | list):
            raise Fault(line, _COLLECTION_KEY)
        text = key if type(key) is str else key_text(key)
        if text is None:
            raise Fault(line, "has a key that is null or beyond 64 bits; a key must be text")
        if text in frame.explicit:
            raise Fault(line, f"the key {text!r} is there twice in one mapping")
        frame.explicit.add(text)
        frame.key = text

    def _put(self, value: Any, size: int, line: int) -> None:
        if not self._stack:
            self._root = value
            return
        frame = self._stack[-1]
        frame.size += size
        if type(frame.value) is list:
            frame.value.append(value)
            return
        if frame.key is _MERGE:
            _merge(frame.value, value, line)
        else:
            frame.value[frame.key] = value
        frame.key = _NO_KEY


def _no_key(value: Any) -> Any:
    return _NO_KEY if type(value) is dict else None


def _merge(into: dict[str, Any], value: Any, line: int) -> None:
    """go-yaml v2 merges where `<<` stands, over the keys before it; of several maps the first
    wins."""
    maps = value if isinstance(value, list) else [value]
    if not all(isinstance(part, dict) for part in maps):
        raise Fault(line, "has a << whose value is neither a mapping nor a list of them")
    for part in reversed(maps):
        into.update(part)


def _number(value: float, line: int) -> int | float:
    if not math.isfinite(value):
        raise Fault(line, "has the number .inf or .nan, which JSON cannot hold; quote it")
    return whole(value)


def _tagged(tag: str, text: str, line: int) -> Scalar:
    """An explicit tag converts or fails; a tag that is not of YAML's core means text."""
    _check_tag(tag, line)
    name = tag.removeprefix(_CORE)
    if name == "binary":
        return _binary(text, line)
    if name not in _CONVERSIONS or not tag.startswith(_CORE):
        return text
    value = resolve(text)
    if type(value) not in _CONVERSIONS[name]:
        raise Fault(line, f"has the tag !!{name} on something else")
    return value


def _check_tag(tag: str | None, line: int) -> None:
    """Go ignores tags it does not know; those of Python are refused, lest anybody run them."""
    if tag and tag.startswith(_CORE + "python/"):
        raise Fault(line, "has a tag that would run Python code; Kubernetes knows no such tag")


def _binary(text: str, line: int) -> str:
    try:
        return base64.b64decode("".join(text.split()), validate=True).decode(errors="replace")
    except (binascii.Error, ValueError):
        raise Fault(line, "has the tag !!binary on text that is not base64") from None
