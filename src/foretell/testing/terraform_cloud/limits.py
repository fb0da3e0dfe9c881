"""A fake's limits and faults: how often it may be asked, and when it answers as it should not."""

import asyncio
import math
import re
from collections import Counter
from dataclasses import dataclass, field
from enum import Enum


class Break(Enum):
    """How an answer goes wrong; a status number is the other way."""

    BEFORE = "the connection breaks before anything happened"
    AFTER = "the connection breaks after it happened: the answer is lost"
    PAGE = "a proxy answers with a page"


@dataclass
class Fault:
    """The next `times` calls of `method` whose path fits `path` (a regular expression)."""

    method: str
    path: str
    how: Break | int
    times: int = 1

    def hits(self, method: str, path: str) -> bool:
        """Whether it strikes now; it is used up by that."""
        if self.times < 1 or method != self.method or not re.search(self.path, path):
            return False
        self.times -= 1
        return True


@dataclass
class Limit:
    """So many requests for each token in each window, from the window's own start.

    `per_window` 0: none, and the header says so, as Terraform Enterprise can be set.
    """

    per_window: int = 0
    window: float = 1.0
    refused: int = 0
    taken: Counter[tuple[str, int]] = field(default_factory=Counter)

    def headers(self, token: str) -> tuple[bool, dict[str, str]]:
        """Whether one more is too many, and what the answer says of it."""
        if not self.per_window:
            return False, {"x-ratelimit-limit": "0"}
        now = asyncio.get_running_loop().time()
        place = token, math.floor(now / self.window)
        self.taken[place] += 1
        left = self.per_window - self.taken[place]
        reset = (place[1] + 1) * self.window - now
        told = {
            "x-ratelimit-limit": str(self.per_window),
            "x-ratelimit-remaining": str(max(left, 0)),
            "x-ratelimit-reset": f"{reset:.3f}",
        }
        if left < 0:
            self.refused += 1
        return left < 0, told
