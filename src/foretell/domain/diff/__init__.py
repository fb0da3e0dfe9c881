"""Unified diffs of two texts, their line counts, and the way back.

The law: `apply_unified(current, unified_diff(current, proposed).text) == proposed`, byte for byte,
for every pair of texts below the size cap. Lines end at "\\n" and nowhere else: "\\r", U+2028 and
their like are content, as they are for git and for `patch`.

`lines` splits, `matching` finds what stays, `unified` writes the rest down, `patch` applies it.
"""

from foretell.domain.diff.lines import NO_NEWLINE, join_lines, split_lines
from foretell.domain.diff.matching import DEFAULT, DiffLimits
from foretell.domain.diff.patch import apply_unified
from foretell.domain.diff.unified import Block, TextDiff, changed_blocks, unified_diff

__all__ = [
    "DEFAULT",
    "NO_NEWLINE",
    "Block",
    "DiffLimits",
    "TextDiff",
    "apply_unified",
    "changed_blocks",
    "join_lines",
    "split_lines",
    "unified_diff",
]
