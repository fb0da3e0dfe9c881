"""How far a plan is, on standard error: a bar on a terminal, a line now and then elsewhere."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from foretell.cli.local import Progress as Callback
from foretell.cli.output import terminal

_LINES = 4
"""Lines a plan gets where there is no terminal: enough to see that it lives, no flood in CI."""


@contextmanager
def shown_progress() -> Iterator[Callback]:
    """The callback that shows it: (plan's name, done, all)."""
    console = terminal(stderr=True)
    if not console.is_terminal:
        yield _Lines().update
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        yield _Bars(progress).update


class _Bars:
    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: dict[str, TaskID] = {}

    def update(self, name: str, done: int, total: int) -> None:
        if name not in self._tasks:
            self._tasks[name] = self._progress.add_task(name, total=total or None)
        self._progress.update(self._tasks[name], completed=done, total=total or None)


class _Lines:
    def __init__(self) -> None:
        self._said: dict[str, int] = {}

    def update(self, name: str, done: int, total: int) -> None:
        part = done * _LINES // total if total else 0
        if part > self._said.get(name, 0):
            self._said[name] = part
            terminal(stderr=True).print(f"{name}: {done} of {total} targets")
