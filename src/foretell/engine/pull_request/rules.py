"""Which pull requests are planned without anybody asking."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from foretell.formats.pull_request.head import PullRequest
from foretell.ports import PullRequestState


class Forks(StrEnum):
    """Whether the head of another repository is planned.

    A plan runs what it plans: charts, modules, providers. `asked`: only the head for which
    somebody with write access asked, by a comment or by one of the labels.
    """

    OFF = "off"
    ASKED = "asked"
    ON = "on"


@dataclass(frozen=True, slots=True)
class PullRequestRules:
    """`labels`: at least one of them is needed. `paths`: at least one changed file matches one.

    Empty: nothing is asked for. A pattern's `*` and `?` stop at "/", its `**` does not.
    """

    drafts: bool = False
    forks: Forks = Forks.OFF
    labels: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()

    def allow_fork(self, state: PullRequestState) -> bool:
        """Whether the head may be planned, as far as it depends on whose it is."""
        pull_request = state.pull_request
        match self.forks:
            case Forks.OFF:
                return not pull_request.is_fork
            case Forks.ASKED:
                return not pull_request.is_fork or state.asked_sha == pull_request.sha
            case Forks.ON:
                return True

    def allow(self, state: PullRequestState) -> bool:
        """Whether the head may be planned without a word, but for the files it changes."""
        pull_request = state.pull_request
        return (
            self.allow_fork(state)
            and (self.drafts or not pull_request.is_draft)
            and self._has_label(pull_request)
        )

    def names_label(self, label: str) -> bool:
        """Whether it is one of `labels`, whatever the case: GitHub's labels have none."""
        return label.lower() in {own.lower() for own in self.labels}

    def allow_files(self, files: Iterable[str]) -> bool:
        """Whether one of the changed files is one that matters."""
        patterns = [glob(pattern) for pattern in self.paths]
        return any(pattern.fullmatch(file) for file in files for pattern in patterns)

    def _has_label(self, pull_request: PullRequest) -> bool:
        return not self.labels or any(self.names_label(label) for label in pull_request.labels)


_PARTS = re.compile(r"\*\*/|\*\*|\*|\?|[^*?]+")
_MEANING = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def glob(pattern: str) -> re.Pattern[str]:
    """A pattern over paths with "/"; without one it matches the name in any folder."""
    anchored = pattern.removeprefix("/") if "/" in pattern else f"**/{pattern}"
    # What ends in "/" means all that is below.
    whole = f"{anchored}**" if anchored.endswith("/") else anchored
    parts = _PARTS.findall(whole)
    return re.compile("".join(_MEANING.get(part) or re.escape(part) for part in parts), re.DOTALL)
