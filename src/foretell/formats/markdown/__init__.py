"""Summary and diffs -> comment, check and status texts. Limits of the platform live here."""

from foretell.formats.markdown.annotation import Annotation
from foretell.formats.markdown.check import (
    CHECK_LIMIT,
    DESCRIPTION_LIMIT,
    NAME_LIMIT,
    Check,
    plan_check,
    short,
    target_check,
)
from foretell.formats.markdown.comment import COMMENT_LIMIT, About, comment
from foretell.formats.markdown.fitting import Fold, fitted, folded
from foretell.formats.markdown.grouping import (
    DiffGroup,
    destructive_first,
    distinct_places,
    group_diffs,
    place,
)
from foretell.formats.markdown.since import Since, since, target_digests
from foretell.formats.markdown.text import code, cut, fenced, inline

__all__ = [
    "CHECK_LIMIT",
    "COMMENT_LIMIT",
    "DESCRIPTION_LIMIT",
    "NAME_LIMIT",
    "About",
    "Annotation",
    "Check",
    "DiffGroup",
    "Fold",
    "Since",
    "code",
    "comment",
    "cut",
    "destructive_first",
    "distinct_places",
    "fenced",
    "fitted",
    "folded",
    "group_diffs",
    "inline",
    "place",
    "plan_check",
    "short",
    "since",
    "target_check",
    "target_digests",
]
