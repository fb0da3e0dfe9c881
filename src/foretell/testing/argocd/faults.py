"""What can go wrong on the fake, set by a test before or while it runs."""

import asyncio
import re
from dataclasses import dataclass, field
from datetime import timedelta

from foretell.testing.argocd.refused import AWAY, EXHAUSTED, Refused


@dataclass(slots=True)
class Fault:
    """Calls whose method and path fit are refused, `times` of them (None: all)."""

    call: str
    refused: Refused
    times: int | None = 1

    def hits(self, call: str) -> bool:
        """Whether this call is refused; counts it."""
        if self.times == 0 or not re.search(self.call, call):
            return False
        if self.times is not None:
            self.times -= 1
        return True


@dataclass(slots=True)
class Faults:
    """All off at first.

    `render_for`: how long a render takes that is in no cache. `most_at_once`: more renders than
    that at the same time are refused with `refuses_with`. `stale`: commits for which an older one
    is answered, until a call asks for no cache; for good with `stale_for_good`. `finalizers`: what
    a webhook writes into every Application that is made, so that it stays when it is deleted.
    `conditions`: Applications (by regular expression) that render nothing and have a condition, a
    type and a message, instead. `hanging`: those whose renders wait until their event is set.
    """

    render_for: timedelta = timedelta(0)
    most_at_once: int | None = None
    refuses_with: int = EXHAUSTED
    stale: dict[str, str] = field(default_factory=dict)
    stale_for_good: bool = False
    finalizers: tuple[str, ...] = ()
    conditions: dict[str, tuple[str, str]] = field(default_factory=dict)
    hanging: dict[str, asyncio.Event] = field(default_factory=dict)
    calls: list[Fault] = field(default_factory=list)

    def refuse(
        self, call: str, *, code: int = AWAY, message: str = "away", times: int | None = 1
    ) -> None:
        """`call` is a regular expression over `METHOD /path`."""
        self.calls.append(Fault(call, Refused(code, message), times))

    def condition(self, name: str) -> tuple[str, str] | None:
        """The condition that this Application has in place of manifests."""
        found = [each for pattern, each in self.conditions.items() if re.search(pattern, name)]
        return found[0] if found else None

    def check(self, call: str) -> None:
        """Raises Refused where this call is to be."""
        for fault in self.calls:
            if fault.hits(call):
                raise fault.refused

    async def wait(self, name: str) -> None:
        """As long as the render is held, then as long as it takes."""
        for pattern, event in self.hanging.items():
            if re.search(pattern, name):
                await event.wait()
        if self.render_for:
            await asyncio.sleep(self.render_for.total_seconds())
