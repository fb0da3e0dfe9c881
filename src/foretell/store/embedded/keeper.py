"""Stops the server when its last user died without a word; run as a program of its own.

    python keeper.py PID DATA < users.lock

The kernel frees a dead user's share of the lock. So the keeper waits for the whole lock, and that
it gets it means that nobody is left. Only the standard library is imported: it waits for as long as
the server runs, and should weigh little.
"""

import fcntl
import os
import signal
import sys
import time
from pathlib import Path

POLL_SECONDS = 0.02


def is_server(pid: int, data: Path) -> bool:
    """Whether `pid` is the server in `data`: numbers are given out again."""
    try:
        return Path(f"/proc/{pid}/cwd").samefile(data)
    except PermissionError:
        return False
    except FileNotFoundError:
        return not Path("/proc/self").exists() and _is_alive(pid)


def keep(lock: int, pid: int, data: Path) -> None:
    """Wait for the whole lock, then stop the server and hold the lock until it is gone."""
    fcntl.flock(lock, fcntl.LOCK_EX)
    if is_server(pid, data):
        os.kill(pid, signal.SIGINT)
    while is_server(pid, data):
        time.sleep(POLL_SECONDS)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


if __name__ == "__main__":
    keep(sys.stdin.fileno(), int(sys.argv[1]), Path(sys.argv[2]))
