"""What people and CI read: counts, a conclusion, a title, an exit code. From rollups only."""

from foretell.domain.summary.counts import (
    SELECTOR_LIMIT,
    Conclusion,
    Group,
    PlanReport,
    ResourceCounts,
    Summary,
    conclude,
    count_changes,
    distinct_changes,
    exit_code,
    group_of,
    suggest_selector,
    summarize,
)
from foretell.domain.summary.words import (
    change_words,
    count_words,
    denial_note,
    override_words,
    summary_line,
)

__all__ = [
    "SELECTOR_LIMIT",
    "Conclusion",
    "Group",
    "PlanReport",
    "ResourceCounts",
    "Summary",
    "change_words",
    "conclude",
    "count_changes",
    "count_words",
    "denial_note",
    "distinct_changes",
    "exit_code",
    "group_of",
    "override_words",
    "suggest_selector",
    "summarize",
    "summary_line",
]
