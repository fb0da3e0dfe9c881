"""Canonical bytes of a value, and their digest as "scheme:<64 hex>".

Two values have the same canonical bytes exactly if they are the same JSON value: the order of a
mapping's keys and list against tuple do not count; everything else does (None against absent,
true against 1, 1 against 1.0, text against bytes, where one part ends and the next begins).

Every value is written as a tag, a length and the payload, so no text can imitate a boundary:
`n` None, `t` `f` bool, `#` number by its text, `s` text in UTF-8, `b` bytes, `l` list, `m` mapping.
"""

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from foretell.domain.errors import InvalidRequest

MIN_KEY_BYTES = 32  # RFC 2104, section 3: a key shorter than the hash's output weakens the MAC

_SCHEME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*")


def digest(scheme: str, *parts: object) -> str:
    """SHA-256 over the scheme and the parts, for values that are no secret.

    Where they are, use `keyed_digest`: a plain digest of a short secret can be searched.
    """
    return f"{scheme}:{hashlib.sha256(_message(scheme, parts)).hexdigest()}"


def keyed_digest(scheme: str, key: bytes, *parts: object) -> str:
    """HMAC-SHA256 over the scheme and the parts.

    Raises InvalidRequest for a key of less than 32 bytes: without a key there is no digest, never
    an unkeyed one.
    """
    if len(key) < MIN_KEY_BYTES:
        raise InvalidRequest(
            f"cannot compute a keyed digest: the key has {len(key)} bytes, at least"
            f" {MIN_KEY_BYTES} are needed; configure a longer random key"
        )
    return f"{scheme}:{hmac.new(key, _message(scheme, parts), hashlib.sha256).hexdigest()}"


@dataclass(frozen=True, slots=True)
class Key:
    """A key for digests and the name it is known by; only the name may be shown."""

    secret: bytes = field(repr=False)
    id: str = ""


def named_key(secret: bytes) -> Key:
    """The key with a name of 16 hex digits, which tells nothing of it.

    Raises InvalidRequest for one of less than 32 bytes.
    """
    return Key(secret, keyed_digest("key-id", secret).partition(":")[2][:16])


def purpose_key(key: bytes, *purpose: str) -> Key:
    """The `derived_key` with its name."""
    return named_key(derived_key(key, *purpose))


def derived_key(key: bytes, *purpose: str) -> bytes:
    """A key of 32 bytes for one purpose: who knows it knows neither `key` nor its other keys.

    Raises InvalidRequest for a `key` of less than 32 bytes, as `keyed_digest` does.
    """
    return bytes.fromhex(keyed_digest("key", key, *purpose).partition(":")[2])


def canonical_bytes(value: object) -> bytes:
    """The one encoding of a JSON-like value (also bytes and Decimal).

    Raises TypeError naming the type for anything else, and for a mapping's key that is no str.
    """
    chunks: list[bytes] = []
    _append(chunks, value)
    return b"".join(chunks)


def _message(scheme: str, parts: tuple[object, ...]) -> bytes:
    if not _SCHEME.fullmatch(scheme):
        raise ValueError(f"a scheme is letters, digits and . _ / -, not {scheme!r}")
    return canonical_bytes((scheme, *parts))


def _append(chunks: list[bytes], value: object) -> None:
    match value:
        case Mapping():
            chunks.append(b"m%d:" % len(value))
            for key, member in sorted(value.items(), key=_key):
                chunks.append(_sized(b"s", _utf8(key)))
                _append(chunks, member)
        case list() | tuple():
            chunks.append(b"l%d:" % len(value))
            for member in value:
                _append(chunks, member)
        case _:
            chunks.append(_scalar(value))


def _scalar(value: object) -> bytes:
    match value:
        case None:
            return b"n"
        case bool():  # before int, which it is a subclass of
            return b"t" if value else b"f"
        case str():
            return _sized(b"s", _utf8(value))
        case int():
            return _sized(b"#", int.__repr__(value).encode())
        case float():
            return _sized(b"#", float.__repr__(value).encode())
        case Decimal():
            return _sized(b"#", str(value).encode())
        case bytes():
            return _sized(b"b", value)
        case _:
            raise TypeError(f"no canonical bytes for a value of type {_name_of(value)}")


def _sized(tag: bytes, payload: bytes) -> bytes:
    return b"%b%d:%b" % (tag, len(payload), payload)


def _utf8(text: str) -> bytes:
    # JSON may carry a lone surrogate ("\ud800"); it must not make a plan fail.
    return text.encode("utf-8", "surrogatepass")


def _key(item: tuple[object, object]) -> bytes:
    key = item[0]
    if not isinstance(key, str):
        raise TypeError(f"no canonical bytes for a mapping's key of type {_name_of(key)}")
    return _utf8(key)


def _name_of(value: object) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"
