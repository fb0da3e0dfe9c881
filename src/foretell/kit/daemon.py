"""A child that outlives the call that started it, and may outlive the program.

The second place, beside `foretell.kit.process`, that may start a program: that one runs a program
to its end under limits; this one starts a server, leaves it alone, and takes note of its end.
"""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

LOG_TAIL_BYTES = 4_000


@dataclass(frozen=True, slots=True)
class Account:
    """The user a child runs as, by number: it needs no entry in the password file."""

    uid: int
    gid: int


class Daemon:
    """A started child: its pid, and its exit code once it has ended."""

    def __init__(self, child: subprocess.Popen[bytes], log: Path, log_begins: int) -> None:
        self._child = child
        self._log = log
        self._log_begins = log_begins
        # Somebody has to wait for it: a zombie looks alive to every other process that asks the
        # kernel for this pid. A thread needs no event loop, so it outlives the one of the caller.
        Thread(target=child.wait, name=f"reap-{child.pid}", daemon=True).start()

    @property
    def pid(self) -> int:
        return self._child.pid

    def exit_code(self) -> int | None:
        """None while it runs; negative is the number of the signal that ended it."""
        return self._child.poll()

    def last_words(self) -> str:
        """The end of what it wrote, at most `LOG_TAIL_BYTES`."""
        with self._log.open("rb") as log:
            end = log.seek(0, os.SEEK_END)
            log.seek(max(self._log_begins, end - LOG_TAIL_BYTES))
            return log.read().decode(errors="replace")


def spawn(
    argv: Sequence[str | Path],
    *,
    cwd: Path,
    log: Path,
    env: Mapping[str, str],
    account: Account | None = None,
    stdin: int = subprocess.DEVNULL,
) -> Daemon:
    """Start `argv` in a session of its own, with `env` alone; what it writes is added to `log`.

    A session of its own keeps Ctrl-C at the terminal away from it: who stops it, stops it by name.
    Raises OSError when the program cannot be started or the account cannot be taken.
    """
    with log.open("ab") as out:
        log_begins = out.tell()
        child = subprocess.Popen(
            [str(arg) for arg in argv],
            cwd=cwd,
            env=dict(env),
            stdin=stdin,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
        )
    return Daemon(child, log, log_begins)
