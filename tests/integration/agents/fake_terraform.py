"""Answers as terraform does, and fails in the ways that the real one can't be made to.

A test copies it to a folder of its own. There a file `fault` says in a word what goes wrong, and
`calls` holds what it was told, one JSON document a line.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FAULT = (HERE / "fault").read_text() if (HERE / "fault").exists() else ""


def note(command: str, options: list[str]) -> None:
    told = {"command": command, "options": options, "env": dict(os.environ), "cwd": os.getcwd()}
    with (HERE / "calls").open("a") as calls:
        calls.write(json.dumps({**told, "stdin": sys.stdin.read()}) + "\n")


def shown() -> dict[str, Any]:
    change = {
        "actions": ["update"],
        "before": {"v": 1},
        "after": {"v": os.environ.get("VALUE", "2")},
        "after_unknown": {},
    }
    entry = {"address": "x.a", "mode": "managed", "type": "x", "name": "a", "change": change}
    return {
        "format_version": "1.2",
        "terraform_version": "1.11.4",
        "planned_values": {"root_module": {}},
        "resource_changes": [entry],
        "prior_state": {"format_version": "1.0", "values": {"root_module": {}}},
        "errored": FAULT == "errored",
    }


def interrupted(*_: object) -> None:
    (HERE / "interrupted").write_text("yes")
    sys.exit(1)


def never_end() -> None:
    """With a child of its own that heeds no interrupt either, as a provider."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    child = subprocess.Popen(["sleep", "600"])
    if FAULT == "endless":
        signal.signal(signal.SIGINT, interrupted)
    (HERE / "child").write_text(str(child.pid))
    os.mkfifo(HERE / "never")
    (HERE / "started.part").write_text(str(os.getpid()))
    (HERE / "started.part").rename(HERE / "started")
    with open(HERE / "never"):
        pass


def plan(options: list[str]) -> None:
    file = next(each for each in options if each.startswith("-out=")).removeprefix("-out=")
    Path(file).write_text("a plan")
    match FAULT:
        case "partial":
            print("Plan: 1 to add, 0 to change, 1 to destroy.")
            sys.exit("Error: it went wrong half way")
        case "endless" | "stubborn":
            never_end()
        case "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        case "loud":
            while True:
                sys.stdout.write("x" * 65536)
    print("Warning: on standard output")
    print("Warning: on standard error", file=sys.stderr)
    sys.exit(0 if FAULT == "zero" else 2)


def show() -> None:
    print("Warning: on standard error", file=sys.stderr)
    if FAULT == "no json":
        print(f"what? {os.environ.get('VALUE')}")
    else:
        json.dump(shown(), sys.stdout)


def answer(command: str, options: list[str]) -> None:
    match command, FAULT:
        case "version", _:
            version = "0.11.1" if FAULT == "old" else "1.11.4"
            print(json.dumps({"terraform_version": version}))
        case "init", "init":
            sys.exit(f"Error: no module\n\nsecret is {os.environ.get('VALUE')}")
        case "init", "locked":
            sys.exit("Error: Error acquiring the state lock")
        case "plan", _:
            plan(options)
        case "show", _:
            show()


if __name__ == "__main__":
    note(sys.argv[1], sys.argv[2:])
    answer(sys.argv[1], sys.argv[2:])
