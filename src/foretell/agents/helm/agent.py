"""The Agent: the config of both sides -> charts -> renders -> one answer."""

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

from foretell.agents.helm.answer import ABSENT, Answer, SideRender, Terms, answer
from foretell.agents.helm.chart import Chart, Charts
from foretell.agents.helm.config import config_complaints
from foretell.agents.helm.live import live_manifests
from foretell.agents.helm.program import HelmProgram, find_helm
from foretell.agents.helm.pull import Reference, pull
from foretell.agents.helm.render import Inputs, Rendered, Renderer, read_inputs
from foretell.agents.helm.reveal import RevealedConfig, reveal_config
from foretell.domain.context import DispatchContext, Side
from foretell.domain.digest import digest, purpose_key
from foretell.domain.plan import JsonObject, PlanId
from foretell.domain.result import Done, Outcome, Phase
from foretell.domain.target import CompareSettings
from foretell.inventory.ignore import told_options
from foretell.inventory.wording import Complaint
from foretell.kit.git import Checkouts
from foretell.kit.redactor import Redactor
from foretell.ports import Agent, AgentTools, Clock
from foretell.settings import default_cache_dir

T = TypeVar("T")

_CURRENT = "the current side: "


@dataclass(frozen=True, slots=True)
class _Prepared:
    """One side with all that it takes to render it."""

    inputs: Inputs
    key: str
    secrets: frozenset[str] = field(repr=False)
    kubeconfig: str | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Compared:
    """What is compared besides the two renders."""

    side: _Prepared | None
    settings: CompareSettings

    @property
    def namespace(self) -> str:
        return self.side.inputs.namespace if self.side else ""


class HelmAgent(Agent):
    """Renders a chart for both sides and compares. Leaves nothing behind, so nothing to sweep.

    Its settings: `helm` (the program's path), `cacheDir`, `chartRoots` (None: every path of this
    machine may be read, as on a person's own command line).
    """

    type = "helm"
    timeout = timedelta(minutes=10)

    def __init__(self, tools: AgentTools) -> None:
        self._tools = tools
        self._helm = str(tools.settings.get("helm") or "")
        self._cache = Path(tools.settings.get("cacheDir") or default_cache_dir())
        roots = tools.settings.get("chartRoots", ())
        self._content_key = purpose_key(tools.key, "content")
        self._renderer = Renderer()
        self._charts = Charts(
            checkouts=Checkouts(self._cache / "checkouts"),
            roots=[Path("/")] if roots is None else [Path(root) for root in roots],
            shelf=self._cache / "charts",
            pull=self._pull,
        )

    def config_complaints(self, config: JsonObject, *, partial: bool) -> Sequence[Complaint]:
        """What is wrong with `config`; see `docs/agents/helm.md`."""
        return config_complaints(config, partial=partial)

    async def plan(self, context: DispatchContext, state: JsonObject | None) -> Outcome:
        """One call is the whole answer: a render takes seconds, and has a limit of its own."""
        watch = _Stopwatch(self._tools.clock)
        proposed = await self._prepare(context.proposed, context.plan_id, "")
        current = await self._prepare(context.current, context.plan_id, _CURRENT)
        watch.lap("chart")
        redactor = Redactor(
            secret for side in (current, proposed) if side for secret in side.secrets
        )
        with redactor.errors():
            before, after = await _both(self._before(current, proposed), self._after(proposed))
            watch.lap("render")
            found = await self._answer(
                before, after, redactor, _Compared(current or proposed, context.compare)
            )
            watch.lap("compare")
        return Done(found.results, "; ".join(found.warnings), tuple(watch.laps))

    async def _prepare(self, side: Side | None, plan_id: PlanId, prefix: str) -> _Prepared | None:
        if side is None:
            return None
        with Redactor(()).errors(prefix):
            revealed = await reveal_config(side, self._tools)
        with Redactor(revealed.secrets).errors(prefix):
            chart = await self._chart(revealed, side, plan_id)
            slug = str(side.deployment.get("slug", "release"))
            inputs = read_inputs(revealed.config, chart, slug)
            key = inputs.key(await self._program())
        return _Prepared(inputs, key, revealed.secrets, revealed.config.kubeconfig)

    async def _chart(self, revealed: RevealedConfig, side: Side, plan_id: PlanId) -> Chart:
        """The same chart for all targets of a plan, also when a branch moves meanwhile."""
        config, source = revealed.config, side.source
        place = (source.repository, source.revision) if source else None
        key = digest("helm-chart", plan_id, config.chart, config.repo_url, config.revision, place)
        return await self._tools.renders.once(key, lambda: self._charts.find(config, source))

    async def _pull(self, reference: Reference) -> Path:
        return await pull(await self._program(), reference, self._cache / "charts")

    async def _program(self) -> HelmProgram:
        return await self._tools.renders.once(
            "helm-program", lambda: find_helm(self._helm, self._cache)
        )

    async def _before(
        self, current: _Prepared | None, proposed: _Prepared | None
    ) -> SideRender | None:
        """What is there now: as recorded, else the live release, else None: it is not known."""
        with Redactor(()).errors(_CURRENT):
            if current is not None:
                return await self._rendered(current)
            if proposed is not None and proposed.kubeconfig is not None:
                return await self._live(proposed, proposed.kubeconfig)
        return None

    async def _after(self, proposed: _Prepared | None) -> SideRender:
        return ABSENT if proposed is None else await self._rendered(proposed)

    async def _rendered(self, side: _Prepared) -> SideRender:
        program, inputs = await self._program(), side.inputs
        rendered: Rendered = await self._tools.renders.once(
            side.key, lambda: self._renderer.render(program, inputs)
        )
        return SideRender(
            text=rendered.text,
            again=rendered.again,
            values=inputs,
            key=side.key,
            name=inputs.chart.name,
        )

    async def _live(self, proposed: _Prepared, kubeconfig: str) -> SideRender | None:
        program, inputs = await self._program(), proposed.inputs
        text = await live_manifests(program, inputs, kubeconfig)
        if text is None:
            return None
        name = f"the live release {inputs.release_name}"
        return SideRender(text=text, key=digest("helm-live", text), name=name)

    async def _answer(
        self,
        before: SideRender | None,
        after: SideRender,
        redactor: Redactor,
        about: _Compared,
    ) -> Answer:
        """The same two renders are compared once, whatever the number of targets."""
        current, new = before or ABSENT, before is None
        namespace, settings = about.namespace, about.settings
        asked = (new, namespace, asdict(settings))
        key = digest("helm-answer", current.key, after.key, redactor.key, *asked)

        async def compared() -> Answer:
            async with told_options(settings) as (options, rules):
                terms = Terms(namespace, self._content_key, new, options)
                found = await asyncio.to_thread(answer, current, after, redactor, terms)
                said = tuple(map(redactor.text, rules.warnings))
            return replace(found, warnings=(*found.warnings, *said))

        return await self._tools.renders.once(key, compared)


async def _both(
    before: Awaitable[SideRender | None], after: Awaitable[SideRender]
) -> tuple[SideRender | None, SideRender]:
    """Both at once. Of two errors that of the proposed side is told, always."""
    found = await asyncio.gather(before, after, return_exceptions=True)
    current, proposed = found
    if isinstance(proposed, BaseException):
        raise proposed
    if isinstance(current, BaseException):
        raise current
    return current, proposed


class _Stopwatch:
    """How long each part took."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since = clock.now()
        self.laps: list[Phase] = []

    def lap(self, name: str) -> None:
        """Ends the part called `name`."""
        now = self._clock.now()
        self.laps.append(Phase(name, (now - self._since).total_seconds()))
        self._since = now
