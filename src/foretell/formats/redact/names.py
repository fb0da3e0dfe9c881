"""Secrets by the name of what holds them: the net for what no provider marked."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache
from typing import Any, Final

HIDE: Final = (
    *("*secret*", "*password*", "*passwd*", "*passphrase*", "*token*", "*credential*"),
    *("*private_key*", "*privatekey*", "*api_key*", "*apikey*", "*access_key*", "*accesskey*"),
    *("*account_key*", "*auth_key*", "*encryption_key*", "*signing_key*", "*shared_key*"),
    *("*connection_string*", "*bearer*", "pass", "*_pass", "pwd", "*_pwd", "dsn"),
    *("*_dsn", "authorization", "*_authorization", "*_auth_header"),
)
"""Globs over lower-case snake-case names whose values are hidden."""

SHOW: Final = (
    *("*_name", "*_names", "*_arn", "*_arns", "*_length", "*_version", "*_versions", "*_ttl"),
    *("*_type", "*_types", "*_enabled", "*_policy", "*_expir*", "*_count", "*_days", "*_hours"),
    *("*_minutes", "*_seconds", "*_required", "*_rotation", "*_endpoint", "*_fingerprint"),
    *("*public_key*", "max_tokens", "automount_*", "*_version_id", "*_algorithm"),
)
"""Exceptions to `HIDE`: names of things about a secret (`password_length`), not the secret."""

_SIBLING_NAMES: Final = ("name", "key", "variable", "env", "field", "parameter")
_SIBLING_VALUES: Final = ("value", "value_string", "default", "val")
_SIBLING = re.compile(
    r"(?:^|[_\W])(?:key|token|secret|pass|passwd|password|pwd|credentials?|private|auth|dsn)"
    r"(?:$|[_\W\d])",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NOT_WORD = re.compile(r"[\W]+")


def _pattern(globs: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, globs)) or r"(?!)")


@dataclass(frozen=True)
class NameRule:
    """Which names hide what they hold; `hide` and `show` are globs over snake-case names."""

    hide: tuple[str, ...] = HIDE
    show: tuple[str, ...] = SHOW

    def hides(self, name: str) -> bool:
        """Whether a value of this name is hidden; `dbPassword`, `DB-PASSWORD` count alike."""
        return _hides(self.hide, self.show, name)

    def hidden_members(self, holder: Mapping[str, Any]) -> frozenset[str]:
        """Members that a sibling names as secret: `{name: SOME_API_KEY, value: …}`."""
        named = any(
            isinstance(name := holder.get(key), str)
            and (_SIBLING.search(name) is not None or self.hides(name))
            for key in _SIBLING_NAMES
        )
        return frozenset(key for key in _SIBLING_VALUES if key in holder) if named else frozenset()


DEFAULT_NAMES: Final = NameRule()


@lru_cache(maxsize=8)
def _patterns(
    hide: tuple[str, ...], show: tuple[str, ...]
) -> tuple[re.Pattern[str], re.Pattern[str]]:
    return _pattern(hide), _pattern(show)


@lru_cache(maxsize=16_384)
def _hides(hide: tuple[str, ...], show: tuple[str, ...], name: str) -> bool:
    snake = _NOT_WORD.sub("_", _CAMEL.sub("_", name)).lower()
    hidden, shown = _patterns(hide, show)
    return hidden.match(snake) is not None and shown.match(snake) is None
