"""A plan of 10,000 resources beside `terraform show -json`, which prints it.

Ours: read the JSON (10 MB), hide the secrets, count and judge, and take the hash, as `foretell
tfplan show` and `hash` do; `rules` is what the document for rules costs besides. The best of
three in a process of its own, whose whole peak is our memory. The peer: the best of three runs of
the program on the same plan file, by turns with ours, so that other load hits both. Growth: the
same plan cut to a part of its resources, per resource. Needs terraform (or tofu); it plans
offline, with the resource that is built in.
"""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench import Line
from foretell.formats.tfplan.hash import plan_hash
from foretell.formats.tfplan.parse import parse
from foretell.formats.tfplan.redacted import redact
from foretell.formats.tfplan.summary import summary
from foretell.formats.tfplan.text.page import page
from foretell.formats.tfplan.verdict import judge

RESOURCES = 10_000
GROWTH = (1_000, 2_000, 5_000)
ROUNDS = 3
MIB = 2**20
TIME_GOAL = 0.35
MEMORY_GOAL_MIB = 250
GROWTH_GOAL = 1.15

CONFIGURATION = """
variable "secret" {
  sensitive = true
  default   = "S3cr3t-Value-42"
}
resource "terraform_data" "r" {
  count = COUNT
  input = {
    name = "resource-${count.index}"
    size = count.index
    tags = { team = "team-${count.index % 17}", env = "prod" }
    note = "a longer text that says in some words what number ${count.index} is good for"
    pw   = var.secret
  }
}
"""


def run() -> Iterator[Line]:
    program = shutil.which("terraform") or shutil.which("tofu")
    if program is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        yield from _lines(program, Path(folder))


def _lines(program: str, folder: Path) -> Iterator[Line]:
    _planned(program, folder)
    document = json.loads(_call(program, folder, "show", "-json", "plan"))
    paths = {number: _cut(document, number, folder) for number in (RESOURCES, *GROWTH)}
    del document
    peers, ours = [], []
    for _ in range(ROUNDS):
        peers.append(_timed(lambda: _call(program, folder, "show", "-json", "plan")))
        ours.append(_measured(paths[RESOURCES]))
    peer, seconds = min(peers), min(sample["seconds"] for sample in ours)
    told = f"{Path(program).name} show -json {peer:.2f} s"
    yield Line("tfplan_10k_time", seconds / peer, TIME_GOAL, f"{told}, ours {seconds:.2f} s")
    text = min(sample["page"] for sample in ours)
    yield Line("tfplan_10k_text", text / peer, TIME_GOAL, f"{told}, the text {text:.2f} s")
    rules = min(sample["rules"] for sample in ours)
    yield Line("tfplan_10k_rules", rules / peer, TIME_GOAL, f"{told}, all for rules {rules:.2f} s")
    peak = max(sample["peak_bytes"] for sample in ours) / MIB
    note = f"{peak:.0f} MiB of {MEMORY_GOAL_MIB} MiB, whole process"
    yield Line("tfplan_10k_memory", peak / MEMORY_GOAL_MIB, 1, note)
    yield from _growth(paths)


def _growth(paths: dict[int, Path]) -> Iterator[Line]:
    """By turns as well: what one resource costs in a large plan over what it costs in a small."""
    rounds = [{n: _measured(path)["seconds"] / n for n, path in paths.items()} for _ in range(2)]
    each = {number: min(one[number] for one in rounds) for number in paths}
    whole = each[RESOURCES]
    for number in GROWTH:
        note = (
            f"{each[number] * 1e6:.0f} µs a resource of {number}, {whole * 1e6:.0f} of {RESOURCES}"
        )
        yield Line(f"tfplan_growth_{number}", whole / each[number], GROWTH_GOAL, note)


def _planned(program: str, folder: Path) -> None:
    (folder / "main.tf").write_text(CONFIGURATION.replace("COUNT", str(RESOURCES)))
    _call(program, folder, "init", "-input=false")
    _call(program, folder, "plan", "-input=false", "-out=plan")


def _call(program: str, folder: Path, *arguments: str) -> bytes:
    environment = {**os.environ, "TF_CLI_CONFIG_FILE": os.devnull, "CHECKPOINT_DISABLE": "1"}
    argv = [program, *arguments]
    return subprocess.run(
        argv, cwd=folder, env=environment, check=True, capture_output=True, stdin=subprocess.DEVNULL
    ).stdout


def _cut(document: dict[str, Any], number: int, folder: Path) -> Path:
    """The plan with its first resources only."""
    module = document["planned_values"]["root_module"]
    values = {"root_module": {"resources": module["resources"][:number]}}
    changes = document["resource_changes"][:number]
    part = {**document, "resource_changes": changes, "planned_values": values}
    path = folder / f"{number}.json"
    path.write_text(json.dumps(part))
    return path


def _measured(path: Path) -> dict[str, float]:
    argv = [sys.executable, "-m", "bench.tfplan", str(path)]
    done = subprocess.run(argv, check=True, capture_output=True, cwd=Path(__file__).parents[1])
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _timed(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def _ours(text: bytes) -> None:
    plan = parse(text)
    summary(redact(plan, for_rules=False), judge(plan))
    plan_hash(plan, b"k" * 32)


def _measure(path: Path) -> dict[str, float]:
    text = path.read_bytes()
    seconds = min(_timed(lambda: _ours(text)) for _ in range(ROUNDS))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    plan = parse(text)
    shown, verdict = redact(plan), judge(plan)
    return {
        "seconds": seconds,
        "peak_bytes": peak,
        "rules": min(_timed(lambda: redact(plan)) for _ in range(ROUNDS)),
        "page": min(_timed(lambda: page(shown, verdict)) for _ in range(ROUNDS)),
    }


if __name__ == "__main__":
    print(json.dumps(_measure(Path(sys.argv[1]))))
