"""One target from the question to the answer: the original, both renders, what they differ in."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TypeVar

from foretell.agents.argocd.answer import State, as_document
from foretell.agents.argocd.application import sources_of
from foretell.agents.argocd.asked import OfTemporary
from foretell.agents.argocd.comparing import Again, Comparer
from foretell.agents.argocd.documents import Application, JsonMap
from foretell.agents.argocd.faults import at_source
from foretell.agents.argocd.manifests import Rendered
from foretell.agents.argocd.opening import Opened, open_side, told_by
from foretell.agents.argocd.original import find_original
from foretell.agents.argocd.release import known_type
from foretell.agents.argocd.render import Ask, Renderer
from foretell.agents.argocd.server import Server
from foretell.agents.argocd.sides import (
    AGAIN,
    PROPOSED,
    Question,
    again_ask,
    current_ask,
    proposed_ask,
    revisions_of,
    unless_same,
)
from foretell.domain.context import DispatchContext
from foretell.domain.digest import digest
from foretell.domain.errors import InvalidRequest
from foretell.domain.result import Done, Phase
from foretell.ports import AgentTools, Clock

T = TypeVar("T")
_CURRENT = "the current side: "


@dataclass(frozen=True, slots=True)
class Found:
    """One side and, in words, where it is from."""

    state: State
    told: str
    ask: Ask | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """A target on its server. `pinned`: what is asked for the original, and that in words."""

    opened: Opened
    server: Server
    question: Question
    original: Application | None
    pinned: tuple[Ask, str] | None

    def original_is_called(self, name: str) -> bool:
        """What there is of another name may be rendered by a file for that name."""
        return self.original is not None and self.original.name == name


def _case(opened: Opened, server: Server, question: Question, original: Application | None) -> Case:
    pinned = current_ask(question, original, opened.wanted.name) if original else None
    return Case(opened, server, question, original, pinned)


class Planner:
    """Answers questions. Nothing of one is kept for the next but renders."""

    def __init__(self, tools: AgentTools, renderer: Renderer) -> None:
        self._tools = tools
        self._renderer = renderer
        self._comparer = Comparer(tools)

    async def plan(
        self, context: DispatchContext, opened: Opened, server: Server, question: Question
    ) -> Done:
        """Raises AgentUnavailable and AgentRejected, for the proposed side first."""
        watch = _Stopwatch(self._tools.clock)
        with told_by(opened.redactor):
            original = await self._original(context, opened, server)
            case = _case(opened, server, question, original)
        watch.lap("lookup")
        proposed = context.proposed is not None
        before, after = await _both(self._before(case), self._after(case) if proposed else _gone())
        watch.lap("render")
        again = self._again(case, after)
        found = await self._comparer.compare(
            before.state, after.state, opened, again, context.compare
        )
        watch.lap("compare")
        told = (before.told, after.told, *found.warnings)
        return Done(found.results, "; ".join(filter(None, told)), tuple(watch.laps))

    async def _original(
        self, context: DispatchContext, opened: Opened, server: Server
    ) -> Application | None:
        """By its name, or else by the name that it was deployed under."""
        found = await find_original(server.client, opened.wanted)
        if found is not None or context.current is None or context.proposed is None:
            return found
        former = (await open_side(context.current, self._tools)).wanted
        if former.name == opened.wanted.name:
            return None
        return await find_original(server.client, former)

    async def _before(self, case: Case) -> Found:
        opened, original, name = case.opened, case.original, case.opened.wanted.name
        if original is None or case.pinned is None:
            return Found(State(), f"there is no Application {name} yet: everything is an add")
        ask, told = case.pinned
        with told_by(opened.redactor, _CURRENT):
            rendered = await self._rendered(case, ask, sources_of(original.spec))
        if original.name != name:
            told += f"; the Application is renamed from {original.name} to {name}"
        return Found(State(as_document(original), rendered), told)

    async def _after(self, case: Case) -> Found:
        wanted = case.opened.wanted
        with told_by(case.opened.redactor):
            types = await self._types(case)
            ask = proposed_ask(case.question, wanted, case.original, types)
            if case.pinned is not None and case.original_is_called(wanted.name):
                ask = unless_same(ask, case.pinned[0])
            rendered = await self._rendered(case, ask, sources_of(wanted.spec))
        told = f"proposed side: {rendered.revision or revisions_of(sources_of(wanted.spec))}"
        return Found(State(wanted.document, rendered), told, ask)

    def _again(self, case: Case, after: Found) -> Again | None:
        """Under another temporary name, under which the server remembers no render."""
        if after.ask is None or not isinstance(after.ask.by, OfTemporary):
            return None
        wanted = case.opened.wanted
        ask = again_ask(after.ask, after.ask.by, case.question.temporary(wanted.name, AGAIN))

        async def again() -> Rendered:
            with told_by(case.opened.redactor):
                return await self._rendered(case, ask, sources_of(wanted.spec))

        return again

    async def _types(self, case: Case) -> list[str]:
        """The server is asked only for what neither the source nor the original tells."""
        return [
            known_type(source, place, case.original) or await self._asked_type(case, source, place)
            for place, source in enumerate(sources_of(case.opened.wanted.spec))
        ]

    async def _asked_type(self, case: Case, source: JsonMap, place: int) -> str:
        question, wanted, client = case.question, case.opened.wanted, case.server.client
        project = question.project(wanted)
        key = digest("argocd-type", question.address, question.plan_id, project, source)

        async def asked() -> str:
            name = question.temporary(wanted.name, PROPOSED)
            with self._renderer.listed():
                return await client.source_type(source, name=name, project=project, index=place)

        try:
            return await self._tools.renders.once(key, asked)
        except InvalidRequest as error:
            raise InvalidRequest(at_source(error.message, sources_of(wanted.spec))) from error

    async def _rendered(self, case: Case, ask: Ask, sources: list[JsonMap]) -> Rendered:
        try:
            return await self._renderer.render(case.server, ask)
        except InvalidRequest as error:
            raise InvalidRequest(at_source(error.message, sources)) from error


async def _gone() -> Found:
    """The proposed side of a target that is being removed."""
    return Found(State(), "")


async def _both(before: Awaitable[T], after: Awaitable[T]) -> tuple[T, T]:
    """Both at once. Of two errors that of the proposed side is told, always."""
    current, proposed = await asyncio.gather(before, after, return_exceptions=True)
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
