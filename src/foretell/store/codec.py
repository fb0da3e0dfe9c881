"""Domain values <-> JSON text, exactly: what is read is equal to what was written.

The dataclasses are the schema: keys are their field names, a key that is absent takes the field's
default (a row written by an older version), one that is unknown is ignored (by a newer one).
"""

import json
from collections.abc import Callable, Hashable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime, timedelta
from enum import Enum
from functools import cache
from types import UnionType
from typing import Any, NewType, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import orjson

from foretell.domain.errors import InvalidRequest
from foretell.store.text import MARK, restored, storable

T = TypeVar("T")
Read = Callable[[Any], Any]
_MARK_BYTES = MARK.encode()
_MICROSECOND = timedelta(microseconds=1)
_NUMBER = f"{MARK}n"
_EXACT_BELOW = 1e16


def dump(value: Any) -> bytes:
    """JSON for a column of type JSON, which keeps the text as it is."""
    try:
        dumped = orjson.dumps(value, default=_plain)
    except orjson.JSONEncodeError:
        return dump_searchable(value)
    return dump_searchable(value) if _MARK_BYTES in dumped else dumped


def dump_searchable(value: Any) -> bytes:
    """JSON for a column of type JSONB, which takes no odd text and turns 1e22 into an integer."""
    return json.dumps(_marked(value), ensure_ascii=False, separators=(",", ":")).encode()


def load(text: bytes | str) -> Any:
    """The JSON value that `dump` or `dump_searchable` was given, dataclasses as objects."""
    value = json.loads(text)
    return _unmarked(value) if _has_mark(text) else value


def decode(type_: type[T], text: bytes | str) -> T:
    """The value of `type_` that was dumped as `text`."""
    return cast(T, reader(cast(Hashable, type_))(load(text)))


def decode_all(type_: type[T], text: bytes | str | None) -> tuple[T, ...]:
    """The values of `type_` that were dumped as one list; none for no text."""
    if text is None:
        return ()
    read = cast(Callable[[Any], T], reader(cast(Hashable, type_)))
    return tuple(map(read, load(text)))


def _has_mark(text: bytes | str) -> bool:
    # ASCII-only writers spell it as an escape.
    if isinstance(text, str):
        return MARK in text or "\\ue000" in text
    return _MARK_BYTES in text or b"\\ue000" in text


def _plain(value: Any) -> Any:
    """What orjson does not write by itself."""
    if isinstance(value, timedelta):
        return value // _MICROSECOND
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not a value of JSON")


def _marked(value: Any) -> Any:
    match value:
        case Enum():
            return value.value
        case str():
            return storable(value)
        case float() if not abs(value) < _EXACT_BELOW:
            return f"{_NUMBER}{value!r}"
        case Mapping():
            return _marked_mapping(value)
        case list() | tuple():
            return [_marked(part) for part in value]
        case None | bool() | int() | float():
            return value
        case _:
            return _marked_object(value)


def _marked_object(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if is_dataclass(value):
        return {field.name: _marked(getattr(value, field.name)) for field in fields(value)}
    return _plain(value)


def _marked_mapping(value: Mapping[Any, Any]) -> Any:
    if any(isinstance(key, tuple) for key in value):
        return [[_marked(key), _marked(part)] for key, part in value.items()]
    return {_key(key): _marked(part) for key, part in value.items()}


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise InvalidRequest(f"{key!r} is a key of an object and not text: write it in quotes")
    return storable(key)


def _unmarked(value: Any) -> Any:
    match value:
        case str():
            is_number = value.startswith(_NUMBER)
            return float(value[len(_NUMBER) :]) if is_number else restored(value)
        case dict():
            return {restored(key): _unmarked(part) for key, part in value.items()}
        case list():
            return [_unmarked(part) for part in value]
        case _:
            return value


@cache
def reader(type_: Any) -> Read:
    """A function from the loaded JSON to a value of `type_`."""
    if isinstance(type_, NewType):
        return reader(type_.__supertype__)
    if type_ in _LEAVES:
        return _LEAVES[type_]
    if is_dataclass(type_):
        return _dataclass_reader(type_)
    if isinstance(type_, type) and issubclass(type_, Enum):
        return type_
    return _container_reader(type_, get_origin(type_), get_args(type_))


def _same(value: Any) -> Any:
    return value


def _microseconds(value: int) -> timedelta:
    return value * _MICROSECOND


_LEAVES: dict[Any, Read] = {
    Any: _same,
    str: _same,
    int: _same,
    bool: _same,
    float: float,
    datetime: datetime.fromisoformat,
    timedelta: _microseconds,
}


def _container_reader(type_: Any, origin: Any, parts: tuple[Any, ...]) -> Read:
    if origin in (Union, UnionType) and type(None) in parts:
        (inner,) = (reader(part) for part in parts if part is not type(None))
        return lambda value: None if value is None else inner(value)
    if origin is tuple and parts[1:] == (Ellipsis,):
        item = reader(parts[0])
        return lambda value: tuple(map(item, value))
    if origin is Mapping:
        return _same if parts == (str, Any) else _pairs_reader(*parts)
    raise TypeError(f"no JSON is known for {type_}")


def _pairs_reader(key_type: Any, value_type: Any) -> Read:
    """A mapping whose keys are tuples is a list of pairs in JSON."""
    keys, value_of = [reader(part) for part in get_args(key_type)], reader(value_type)

    def read(pairs: list[tuple[list[Any], Any]]) -> Any:
        return {
            tuple(read_(part) for read_, part in zip(keys, key, strict=True)): value_of(value)
            for key, value in pairs
        }

    return read


def _dataclass_reader(type_: Any) -> Read:
    hints = get_type_hints(type_)
    readers = {field.name: reader(hints[field.name]) for field in fields(type_)}
    required = {
        field.name
        for field in fields(type_)
        if field.default is MISSING and field.default_factory is MISSING
    }

    def read(value: dict[str, Any]) -> Any:
        missing = required - value.keys()
        if missing:
            raise ValueError(f"a stored {type_.__name__} has no {', '.join(sorted(missing))}")
        return type_(
            **{name: read_(value[name]) for name, read_ in readers.items() if name in value}
        )

    return read
