"""Who belongs to a started child, what they hold in memory, and how all of them are ended.

A child is started as the leader of a session of its own. What it starts stays in that session, or
descends from it; a daemon that detaches twice (a new session, then a dead parent) is not found.
"""

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")


def can_be_watched() -> bool:
    """False on systems without /proc (macOS): there memory is capped, not watched."""
    return _PROC.joinpath("self/stat").exists()


def members(leader: int) -> dict[int, int]:
    """Process id -> resident bytes, of the session of `leader` and of all that descend from it.

    Shared pages count once for each process that maps them. Empty without /proc.
    """
    rows = _rows()
    family = {pid for pid, (_, session, _) in rows.items() if session == leader}
    found = True
    while found:
        children = {pid for pid, (parent, _, _) in rows.items() if parent in family} - family
        found = bool(children)
        family |= children
    return {pid: rows[pid][2] for pid in family}


def descendants(leader: int) -> dict[int, int]:
    """`members` but for what lost its parent: a few reads instead of one for each process there is.

    Where the kernel does not say who has which children (CONFIG_PROC_CHILDREN), it is `members`.
    """
    family: dict[int, int] = {}
    todo = [leader]
    while todo:
        pid = todo.pop()
        row, children = _row(str(pid)), _children(pid)
        if row is not None:
            family[pid] = row[2]
            if children is None:
                return members(leader)
            todo += children
    return family


def _children(pid: int) -> list[int] | None:
    """Of all threads of `pid`; None where the kernel does not tell."""
    found: list[int] = []
    try:
        for thread in os.listdir(_PROC / str(pid) / "task"):
            with open(_PROC / str(pid) / "task" / thread / "children", "rb", 0) as file:
                found += map(int, file.read().split())
    except FileNotFoundError:
        return None if _row(str(pid)) else []
    except OSError:
        return []
    return found


def kill(leader: int) -> None:
    """SIGKILL to everyone; nobody left is not an error."""
    others = members(leader)
    send(leader, signal.SIGKILL)
    for pid in others:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def send(leader: int, number: signal.Signals) -> None:
    """A signal to the process group of `leader`."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)


def _rows() -> dict[int, tuple[int, int, int]]:
    try:
        names = os.listdir(_PROC)
    except OSError:
        return {}
    found = ((int(name), _row(name)) for name in names if name.isdecimal())
    return {pid: row for pid, row in found if row is not None}


def _row(pid: str) -> tuple[int, int, int] | None:
    """(parent, session, resident bytes) from /proc/PID/stat, see proc_pid_stat(5)."""
    try:
        with open(f"/proc/{pid}/stat", "rb", 0) as file:
            text = file.read(1024)
    except OSError:
        return None
    fields = text.rpartition(b")")[2].split()
    return int(fields[1]), int(fields[3]), int(fields[21]) * _PAGE_BYTES
