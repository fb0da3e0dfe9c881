"""200 Helm targets with 20 distinct inputs: the agent beside as many runs of the bare program."""

import asyncio
import os
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import Line
from foretell.agents.helm.agent import HelmAgent
from foretell.agents.helm.program import find_helm
from foretell.agents.helm.render import RENDERS
from foretell.cli.demo_repository import DemoRepository, make_repository
from foretell.domain.context import DispatchContext, Source
from foretell.domain.plan import JsonObject
from foretell.domain.result import Done
from foretell.kit.git import Checkouts
from foretell.settings import default_cache_dir
from foretell.testing.agents import a_context, a_side, agent_tools

TARGETS = 200
DISTINCT = 20
SIDES = 2


@dataclass(frozen=True, slots=True)
class _Measured:
    seconds: float
    renders: int


def run() -> Iterable[Line]:
    with tempfile.TemporaryDirectory(prefix="foretell-bench-") as folder:
        yield asyncio.run(_compare(Path(folder)))


async def _compare(folder: Path) -> Line:
    made = await make_repository(folder / "shop")
    program = await find_helm(os.environ.get("FORETELL_HELM", ""), default_cache_dir())
    bare = await _bare(program.path, made, folder)
    ours = await _ours(program.path, made, folder)
    again = await _bare(program.path, made, folder)
    floor = min(bare, again)
    note = (
        f"{TARGETS} targets, {DISTINCT} distinct inputs: {ours.renders} renders in "
        f"{ours.seconds:.2f} s; {DISTINCT * SIDES} runs of helm {program.version} alone, "
        f"{os.cpu_count()} at a time: {floor:.2f} s"
    )
    return Line("helm", ours.seconds / floor, 1.2, note)


async def _bare(program: Path, made: DemoRepository, folder: Path) -> float:
    """`helm template` and nothing else, one a core, for each distinct input on both sides."""
    checkouts = Checkouts(folder / "bare")
    trees = [await checkouts.checkout(str(made.path), sha) for sha in (made.base, made.head)]
    room = asyncio.Semaphore(os.cpu_count() or 1)

    async def render(tree: Path, number: int) -> None:
        values = folder / f"values-{number}.yaml"
        values.write_text(f"replicas: {number + 1}\n")
        argv = [str(program), "template", "web", str(tree / "charts/storefront")]
        argv += ["-f", str(tree / "envs/production.yaml"), "-f", str(values)]
        async with room:
            child = await asyncio.create_subprocess_exec(
                *argv, stdout=asyncio.subprocess.PIPE, env={"HOME": str(folder)}
            )
            await child.communicate()
        assert child.returncode == 0

    began = time.perf_counter()
    await asyncio.gather(*(render(tree, n) for tree in trees for n in range(DISTINCT)))
    return time.perf_counter() - began


async def _ours(program: Path, made: DemoRepository, folder: Path) -> _Measured:
    settings = {"helm": str(program), "cacheDir": str(folder / "ours")}
    async with agent_tools(settings) as tools:
        agent = HelmAgent(tools)
        # A worker that is up has looked at its helm and has a child for templates.
        await agent.plan(_context(made, DISTINCT + 1), None)
        before = _renders()
        began = time.perf_counter()
        outcomes = await asyncio.gather(*(agent.plan(each, None) for each in _contexts(made)))
        seconds = time.perf_counter() - began
    assert all(isinstance(outcome, Done) for outcome in outcomes)
    return _Measured(seconds, int(_renders() - before))


def _renders() -> float:
    return next(sample.value for metric in RENDERS.collect() for sample in metric.samples)


def _contexts(made: DemoRepository) -> Sequence[DispatchContext]:
    return [_context(made, number % DISTINCT + 1) for number in range(TARGETS)]


def _context(made: DemoRepository, replicas: int) -> DispatchContext:
    config: JsonObject = {
        "chart": "charts/storefront",
        "valuesFiles": ["envs/production.yaml"],
        "values": {"replicas": "{{ variables.replicas }}"},
    }
    base, head = (
        a_side(config, variables={"replicas": replicas}, source=Source(str(made.path), sha))
        for sha in (made.base, made.head)
    )
    return a_context("helm", current=base, proposed=head)
