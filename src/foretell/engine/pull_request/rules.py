"""Which pull requests are planned without anybody asking."""

import re
from collections.abc import Iterable

from foretell.ports import Forks, PullRequestRules, PullRequestState


def allow_fork(rules: PullRequestRules, state: PullRequestState) -> bool:
    """Whether the head may be planned, as far as it depends on whose it is."""
    pull_request = state.pull_request
    match rules.forks:
        case Forks.OFF:
            return not pull_request.is_fork
        case Forks.ASKED:
            return not pull_request.is_fork or state.asked_sha == pull_request.sha
        case Forks.ON:
            return True


def allow(rules: PullRequestRules, state: PullRequestState) -> bool:
    """Whether the head may be planned without a word, but for the files it changes."""
    pull_request = state.pull_request
    return (
        allow_fork(rules, state)
        and (rules.drafts or not pull_request.is_draft)
        and (not rules.labels or any(names_label(rules, one) for one in pull_request.labels))
    )


def names_label(rules: PullRequestRules, label: str) -> bool:
    """Whether it is one of the rules' labels, whatever the case: GitHub's labels have none."""
    return label.lower() in {own.lower() for own in rules.labels}


def allow_files(paths: Iterable[str], files: Iterable[str]) -> bool:
    """Whether one of the changed files fits one of the patterns."""
    patterns = [glob(pattern) for pattern in paths]
    return any(pattern.fullmatch(file) for file in files for pattern in patterns)


_PARTS = re.compile(r"\*\*/|\*\*|\*|\?|[^*?]+")
_MEANING = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def glob(pattern: str) -> re.Pattern[str]:
    """A pattern over paths with "/"; without one it matches the name in any folder."""
    anchored = pattern.removeprefix("/") if "/" in pattern else f"**/{pattern}"
    # What ends in "/" means all that is below.
    whole = f"{anchored}**" if anchored.endswith("/") else anchored
    parts = _PARTS.findall(whole)
    return re.compile("".join(_MEANING.get(part) or re.escape(part) for part in parts), re.DOTALL)
