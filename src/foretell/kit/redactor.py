"""The values of secret references, taken out of everything that leaves the agent."""

import base64
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from urllib.parse import quote

from foretell.domain.digest import digest
from foretell.domain.errors import AgentError, AgentRejected, AgentUnavailable, ForetellError
from foretell.domain.result import KindResult, ResourceChange

MASK = "***"
_LONG_ENOUGH = 6  # shorter texts are part of too many words to be replaced inside of one
_LEAST_LINE = 8


class Redactor:
    """Replaces secrets as they are, as base64, in a URL, in JSON, and line by line.

    A diff's lines stand under a mark and in an indented block, so no text over several lines is
    looked for as a whole: what is replaced is the same in a text and in its diff. Redactors with
    the same `key` replace the same.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        forms = {form for secret in secrets for form in _forms(secret) if form.strip()}
        parts = [_pattern(form) for form in sorted(forms, key=lambda form: (-len(form), form))]
        self._pattern = re.compile("|".join(parts)) if parts else None
        self.key = digest("redactor", parts)

    def text(self, text: str) -> str:
        """`text` with a mask in place of each secret."""
        return self._pattern.sub(MASK, text) if self._pattern else text

    @contextmanager
    def errors(self, prefix: str = "") -> Iterator[None]:
        """Errors of the block leave as AgentError and redacted, `prefix` before their message."""
        try:
            yield
        except AgentUnavailable as error:
            told = prefix + self.text(error.message)
            raise AgentUnavailable(
                told, reason=error.reason, retry_after=error.retry_after
            ) from None
        except AgentError as error:
            raise AgentRejected(prefix + self.text(error.message), reason=error.reason) from None
        except ForetellError as error:
            raise AgentRejected(prefix + self.text(str(error))) from None
        except OSError as error:
            raise AgentUnavailable(f"{prefix}{error.strerror} on this machine") from error

    def result(self, result: KindResult) -> KindResult:
        """Every text of a kind's answer; what has changed stays said."""
        if self._pattern is None:
            return result
        return replace(
            result,
            current=self.text(result.current),
            proposed=self.text(result.proposed),
            diff=None if result.diff is None else self.text(result.diff),
            resources=tuple(self._change(change) for change in result.resources),
        )

    def _change(self, change: ResourceChange) -> ResourceChange:
        return replace(
            change,
            name=self.text(change.name),
            namespace=self.text(change.namespace),
            before=self.text(change.before),
            after=self.text(change.after),
            diff=self.text(change.diff),
            tags=tuple(self.text(tag) for tag in change.tags),
        )


def _forms(secret: str) -> Iterable[str]:
    lines = secret.split("\n")
    for text in lines if len(lines) > 1 else (secret,):
        if len(lines) == 1 or len(text.strip()) >= _LEAST_LINE:
            yield from (text.strip(), text.replace("'", "''"), quote(text, safe=""))
            yield json.dumps(text)[1:-1]
    for text in (secret, secret + "\n"):
        yield base64.b64encode(text.encode()).decode()
        yield base64.urlsafe_b64encode(text.encode()).decode()
    yield json.dumps(secret)[1:-1]


def _pattern(form: str) -> str:
    if len(form) >= _LONG_ENOUGH:
        return re.escape(form)
    return rf"(?<!\w){re.escape(form)}(?!\w)"
