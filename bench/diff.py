"""The text diff beside `git diff --no-index` and difflib: time, memory, size of the diff.

Every contender runs in a process of its own. Ours and difflib's time is the best of three calls in
a warm interpreter, as on a server; git's is the best of three whole processes, for there is no
other way to call it. Our memory is what the call adds to an idle interpreter; git's is its whole
peak. Needs Linux (/proc) and git.
"""

import difflib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

from bench import Line
from foretell.domain.diff import unified_diff

DIFFLIB_SECONDS = 20
ROUNDS = 3
MIB = 2**20


@dataclass(frozen=True, slots=True)
class Case:
    """The goals are the most that ours may be over git's, and over the minimum for lines."""

    name: str
    sides: Callable[[], tuple[list[str], list[str]]]
    time_goal: float
    memory_goal: float
    lines_goal: float = 1


@dataclass(frozen=True, slots=True)
class Sample:
    seconds: float
    peak_bytes: int
    changed: int


def run() -> Iterator[Line]:
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            paths = Path(folder, "current"), Path(folder, "proposed")
            for path, lines in zip(paths, case.sides(), strict=True):
                path.write_bytes("".join(f"{line}\n" for line in lines).encode())
            yield from _compared(case, *paths)


def _compared(case: Case, *paths: Path) -> Iterator[Line]:
    ours, git = _sample("ours", *paths), _sample("git", *paths)
    minimum = _sample("git-minimal", *paths).changed
    yield Line(
        f"diff-{case.name}-time",
        ours.seconds / git.seconds,
        case.time_goal,
        f"ours {ours.seconds * 1000:.1f} ms, git {git.seconds * 1000:.1f} ms, {_difflib(*paths)}",
    )
    yield Line(
        f"diff-{case.name}-memory",
        ours.peak_bytes / git.peak_bytes,
        case.memory_goal,
        f"ours adds {ours.peak_bytes / MIB:.1f} MiB, git's peak {git.peak_bytes / MIB:.1f} MiB",
    )
    yield Line(
        f"diff-{case.name}-lines",
        ours.changed / minimum,
        case.lines_goal,
        f"ours changes {ours.changed} lines, git {git.changed}, git --minimal {minimum}",
    )


def _difflib(*paths: Path) -> str:
    try:
        sample = _sample("difflib", *paths)
    except subprocess.TimeoutExpired:
        return f"difflib stopped after {DIFFLIB_SECONDS} s"
    return f"difflib {sample.seconds * 1000:.1f} ms changing {sample.changed} lines"


def _sample(contender: str, *paths: Path) -> Sample:
    """One contender's numbers, from a fresh process that prints them as JSON."""
    argv = [sys.executable, "-m", "bench.diff", contender, *map(str, paths)]
    if contender.startswith("git"):
        # Nothing else imported: the peak of a child is never under that of the one that starts it.
        argv[1:4] = ["-I", "-S", "-c", _GIT, "--minimal" if "minimal" in contender else "--patch"]
    timeout = DIFFLIB_SECONDS if contender == "difflib" else None
    done = subprocess.run(argv, stdout=subprocess.PIPE, check=True, timeout=timeout)
    return Sample(**json.loads(done.stdout))


_GIT = f"""
import json, resource, subprocess, sys, time
seconds, argv = [], ["git", "diff", "--no-index", "--no-color", *sys.argv[1:]]
for _ in range({ROUNDS}):
    begun = time.perf_counter()
    with open("/dev/null", "w") as null:
        subprocess.call(argv, stdout=null)
    seconds.append(time.perf_counter() - begun)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
counts = subprocess.run([*argv, "--numstat"], stdout=subprocess.PIPE).stdout.split()
changed = sum(map(int, counts[:2]))
print(json.dumps(dict(seconds=min(seconds), peak_bytes=peak, changed=changed)))
"""


def _ours(current: str, proposed: str) -> int:
    diff = unified_diff(current, proposed)
    return diff.additions + diff.deletions


def _by_difflib(current: str, proposed: str) -> int:
    rows = difflib.unified_diff(current.split("\n"), proposed.split("\n"))
    return sum(row[0] in "+-" for row in rows) - 2


def _measured(contender: str, *paths: str) -> Sample:
    current, proposed = (Path(path).read_bytes().decode() for path in paths)
    call = {"ours": _ours, "difflib": _by_difflib}[contender]
    idle = _peak_bytes()
    seconds: list[float] = []
    while len(seconds) < ROUNDS and sum(seconds) < DIFFLIB_SECONDS / ROUNDS:
        begun = time.perf_counter()
        changed = call(current, proposed)
        seconds.append(time.perf_counter() - begun)
    # A page is the least that can be seen.
    return Sample(min(seconds), max(_peak_bytes() - idle, os.sysconf("SC_PAGESIZE")), changed)


def _peak_bytes() -> int:
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


def _manifests(count: int) -> list[str]:
    """Lines as charts make them: most are repeated in every document, some are unique."""
    random, lines = Random(1), list[str]()
    while len(lines) < count:
        name = f"app-{len(lines)}"
        lines += [
            "---", "apiVersion: apps/v1", "kind: Deployment", "metadata:", f"  name: {name}",
            "  labels:", f"    app: {name}", "spec:", f"  replicas: {random.randrange(5)}",
            "  template:", "    spec:", "      containers:", "      - name: main",
            f"        image: registry.example/app:1.{random.randrange(40)}", "        env:",
            "        - name: LEVEL", f'          value: "{random.randrange(100)}"',
        ]  # fmt: skip
    return lines[:count]


def _small_edit() -> tuple[list[str], list[str]]:
    lines = _manifests(2_000)
    return lines, [*lines[:1_000], "  replicas: 99", *lines[1_001:]]


def _changed(lines: list[str]) -> tuple[list[str], list[str]]:
    """30 % of the lines changed, removed or followed by a new one, a third each."""
    random, proposed = Random(2), list[str]()
    for line in lines:
        match random.randrange(10):
            case 0:
                proposed.append(f"{line}{random.randrange(100)}")
            case 1:
                proposed += [line, f"        extra: {random.randrange(1_000)}"]
            case 2:
                pass
            case _:
                proposed.append(line)
    return lines, proposed


def _all_different() -> tuple[list[str], list[str]]:
    return [f"current {n}" for n in range(10_000)], [f"proposed {n}" for n in range(10_000)]


CASES = (
    Case("small-edit", _small_edit, time_goal=1, memory_goal=1),
    Case("30-percent", lambda: _changed(_manifests(50_000)), time_goal=10, memory_goal=4),
    Case("30-percent-unique", lambda: _changed([f"{n}" for n in range(50_000)]), 10, 4),
    Case("all-different", _all_different, time_goal=2, memory_goal=2),
)


if __name__ == "__main__":
    print(json.dumps(asdict(_measured(*sys.argv[1:]))))
