"""Secrets by value: any text that holds a known secret, in the forms in which secrets travel.

A sensitive input copied by a provider into an unmarked attribute, an error message or a policy's
finding has no mark any more; only its value gives it away.
"""

import html
import json
import unicodedata
from base64 import b64encode
from collections.abc import Iterable, Iterator
from typing import Final

MASK: Final = "***"
HIDDEN: Final = "(sensitive value)"

SHORTEST: Final = 4
"""Shorter values are never searched for: they would blot out half of any text."""
_ANYWHERE: Final = 6
"""From this length a secret is hidden inside a longer word too; below, only as a word."""
_SHORTEST_NUMBER: Final = 6
_SHORTEST_LINE: Final = 16
_SHORTEST_ENCODED: Final = 7
_ORDINARY: Final = frozenset(
    ("true", "false", "null", "none", "enabled", "disabled", "default", "undefined", "unknown")
)
_URL_SAFE = str.maketrans("+/", "-_")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=")

Span = tuple[int, int]


class Finder:
    """All occurrences of many strings in one pass, skipping ahead where none can end.

    Wu-Manber's block shifts: time falls with the length of the shortest string and hardly grows
    with their number, where one alternation of a regular expression grows linearly.
    """

    def __init__(self, needles: Iterable[str]) -> None:
        found = sorted(set(needles), key=len, reverse=True)
        self._window = min(map(len, found), default=0)
        self._block = min(4 if len(found) > 1000 else 3, self._window)
        self._far = self._window - self._block + 1
        self._shifts: dict[str, int] = {}
        self._by_window: dict[str, list[str]] = {}
        for needle in found:
            self._add(needle)

    def _add(self, needle: str) -> None:
        self._by_window.setdefault(needle[: self._window], []).append(needle)
        for end in range(self._block, self._window + 1):
            block = needle[end - self._block : end]
            shift = self._window - end
            self._shifts[block] = min(self._shifts.get(block, self._far), shift)

    def found(self, text: str) -> list[tuple[int, str]]:
        """(start, needle) of every occurrence, overlapping ones too."""
        window, block, far = self._window, self._block, self._far
        shift_of, starting_with = self._shifts.get, self._by_window.get
        end, length = window, len(text)
        hits: list[tuple[int, str]] = []
        while end <= length and window:
            shift = shift_of(text[end - block : end], far)
            if shift:
                end += shift
                continue
            start = end - window
            for needle in starting_with(text[start:end], ()):
                if text.startswith(needle, start):
                    hits.append((start, needle))
            end += 1
        return hits


class Scrubber:
    """Takes known secrets out of text.

    Sane against over-masking: values under 4 characters, words like `true` and numbers under 6
    digits are not searched for; those of 4 or 5 characters and numbers only where they stand as
    a word of their own.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        usable = {secret for secret in secrets if _searchable(secret)}
        self._whole = frozenset(usable)
        anywhere = {secret for secret in usable if _anywhere(secret)}
        plain = {form for secret in anywhere for form in _forms(secret)}
        self._words = frozenset(usable - anywhere - plain)
        encoded = {form for secret in usable for form in _base64_forms(secret)}
        self._encoded = frozenset(encoded - plain - self._words)
        self._finder = Finder(plain | self._words | self._encoded)

    def __repr__(self) -> str:
        return f"Scrubber({len(self._whole)} secrets)"

    @property
    def empty(self) -> bool:
        return not self._whole

    def is_secret(self, text: str) -> bool:
        """Whether the whole text is a known secret."""
        return text in self._whole

    def text(self, text: str, *, shortest: int = SHORTEST) -> str:
        """The text with every known secret of at least `shortest` characters as `***`."""
        hits = self._finder.found(text)
        if not hits:
            return text
        return _masked(text, self._spans(text, hits, shortest))

    def _spans(self, text: str, hits: list[tuple[int, str]], shortest: int) -> Iterator[Span]:
        for start, needle in hits:
            span = start, start + len(needle)
            if needle in self._encoded:
                yield _whole_run(text, span)
            elif len(needle) >= shortest and (needle not in self._words or _is_word(text, span)):
                yield span


def _searchable(secret: str) -> bool:
    plain = secret.strip()
    if plain.isdecimal():
        return len(plain) >= _SHORTEST_NUMBER
    return len(plain) >= SHORTEST and plain.lower() not in _ORDINARY and plain != HIDDEN


def _anywhere(secret: str) -> bool:
    return len(secret.strip()) >= _ANYWHERE and not secret.strip().isdecimal()


def _forms(secret: str) -> Iterator[str]:
    plain = secret.strip()
    variants = {plain, unicodedata.normalize("NFC", plain), unicodedata.normalize("NFD", plain)}
    lines = [line.strip() for line in plain.splitlines()] if "\n" in plain else []
    variants |= {line for line in lines if len(line) >= _SHORTEST_LINE and line[:5] != "-----"}
    for text in variants:
        yield from (text, html.escape(text), text.replace("${", "$${").replace("%{", "%%{"))
        yield from _json_forms(text)
        yield from _url_forms(text)


def _json_forms(text: str) -> Iterator[str]:
    """As it stands inside a JSON string, and inside JSON inside a JSON string."""
    for ascii_only in (True, False):
        once = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        yield once
        yield once.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")
        yield json.dumps(once, ensure_ascii=ascii_only)[1:-1]


def _url_forms(text: str) -> Iterator[str]:
    """In a path, in a query and in a form, escapes in capitals or not (RFC 3986, section 2)."""
    for escape in ("%{:02X}", "%{:02x}"):
        for plain in (_UNRESERVED | {"/"}, _UNRESERVED, _UNRESERVED | {" "}):
            quoted = (c if c in plain else _escaped(c, escape) for c in text)
            yield "".join(quoted).replace(" ", "+")


def _escaped(character: str, escape: str) -> str:
    return "".join(escape.format(byte) for byte in character.encode())


def _base64_forms(secret: str) -> Iterator[str]:
    """The characters that any base64 text holding the secret must hold, at each alignment."""
    for plain in {secret, secret.strip()}:
        raw = plain.encode()
        for offset, first in ((0, 0), (1, 2), (2, 3)):
            whole = b64encode(b"\0" * offset + raw).decode()
            core = whole[first : (offset + len(raw)) * 8 // 6]
            if len(core) >= _SHORTEST_ENCODED:
                yield from (core, core.translate(_URL_SAFE))


def _is_word(text: str, span: Span) -> bool:
    start, end = span
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (before.isalnum() or after.isalnum())


def _whole_run(text: str, span: Span) -> Span:
    """The base64 text around an encoded secret: its edges hold the secret's first bits."""
    start, end = span
    while start > 0 and text[start - 1] in _BASE64:
        start -= 1
    while end < len(text) and text[end] in _BASE64:
        end += 1
    return start, end


def _masked(text: str, spans: Iterable[Span]) -> str:
    parts: list[str] = []
    done = 0
    for start, end in sorted(spans):
        if start >= done:  # overlapping secrets are one blot
            parts += (text[done:start], MASK)
        done = max(done, end)
    return "".join([*parts, text[done:]])
