"""What this process began, for when it is told to stop before anything was written down."""

from collections import OrderedDict
from typing import Final

from foretell.domain.plan import InvocationId

_MOST: Final = 10_000


class Attempts:
    """Invocations whose run this process tried to make, and the runs that it made; bounded."""

    def __init__(self) -> None:
        self._runs: OrderedDict[InvocationId, str] = OrderedDict()

    def begin(self, id: InvocationId) -> None:
        """Before the call: its answer may never come."""
        self.made(id, "")

    def made(self, id: InvocationId, run: str) -> None:
        self._runs[id] = run
        self._runs.move_to_end(id)
        if len(self._runs) > _MOST:
            self._runs.popitem(last=False)

    def began(self, id: InvocationId) -> bool:
        return id in self._runs

    def run_of(self, id: InvocationId) -> str:
        """The run that was made, "" where none is known."""
        return self._runs.get(id, "")
