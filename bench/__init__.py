"""Benchmarks: each module with a `run()` prints ratios against a named peer or floor.

They gate nothing; a number is worth something only beside its peer, measured in the same run.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """One result: `ratio` is ours over the peer's, `goal` the most it should be.

    `note` names the peer and both measured values; each of its lines is printed indented.
    """

    name: str
    ratio: float
    goal: float
    note: str = ""

    def __str__(self) -> str:
        head = f"{self.name} ratio {self.ratio:.2f} goal {self.goal:.2f}"
        return "\n  ".join([head, *self.note.splitlines()])
