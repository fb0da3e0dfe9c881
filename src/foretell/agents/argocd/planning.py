"""One target from the question to the answer: the original, both renders, what they differ in."""

import asyncio
from collections.abc import Awaitable
from dataclasses import asdict, dataclass, replace
from typing import TypeVar

from foretell.agents.argocd.answer import (
    Answer,
    State,
    Terms,
    as_document,
    cr_result,
    manifest_answer,
)
from foretell.agents.argocd.application import Desired, sources_of
from foretell.agents.argocd.documents import Application, JsonMap
from foretell.agents.argocd.faults import at_source
from foretell.agents.argocd.manifests import Rendered
from foretell.agents.argocd.opening import Opened, open_side, told_by
from foretell.agents.argocd.original import find_original
from foretell.agents.argocd.release import known_type
from foretell.agents.argocd.render import Ask, Renderer
from foretell.agents.argocd.server import Server
from foretell.agents.argocd.sides import PROPOSED, Question, current_ask, proposed_ask, revisions_of
from foretell.domain.context import DispatchContext, Side
from foretell.domain.digest import digest, purpose_key
from foretell.domain.errors import AgentError, InvalidRequest
from foretell.domain.result import Done, KindResult, Phase
from foretell.domain.target import CompareSettings
from foretell.inventory.ignore import told_options
from foretell.ports import AgentTools, Clock

T = TypeVar("T")
_CURRENT = "the current side: "
_SMALL = 64 * 1024
"""Characters that are compared sooner than another thread has begun."""


@dataclass(frozen=True, slots=True)
class Found:
    """One side and, in words, where it is from."""

    state: State
    told: str


class Planner:
    """Answers questions. Nothing of one is kept for the next but renders."""

    def __init__(self, tools: AgentTools, renderer: Renderer) -> None:
        self._tools = tools
        self._renderer = renderer
        self._key = purpose_key(tools.key, "content")

    async def plan(
        self, context: DispatchContext, opened: Opened, server: Server, question: Question
    ) -> Done:
        """Raises AgentUnavailable and AgentRejected, for the proposed side first."""
        watch = _Stopwatch(self._tools.clock)
        with told_by(opened.redactor):
            original = await self._original(context, opened, server)
        watch.lap("lookup")
        before, after = await _both(
            self._before(opened, server, question, original),
            self._after(context.proposed, opened, server, question, original),
        )
        watch.lap("render")
        results, warnings = await self._compared(before, after, opened, context.compare)
        watch.lap("compare")
        told = (before.told, after.told, *warnings)
        return Done(results, "; ".join(filter(None, told)), tuple(watch.laps))

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

    async def _before(
        self, opened: Opened, server: Server, question: Question, original: Application | None
    ) -> Found:
        with told_by(opened.redactor, _CURRENT):
            if original is None:
                told = f"there is no Application {opened.wanted.name} yet: everything is an add"
                return Found(State(), told)
            ask, told = current_ask(question, original, opened.wanted.name)
            rendered = await self._rendered(server, ask, sources_of(original.spec))
        if original.name != opened.wanted.name:
            told += f"; the Application is renamed from {original.name} to {opened.wanted.name}"
        return Found(State(as_document(original), rendered), told)

    async def _after(
        self,
        proposed: Side | None,
        opened: Opened,
        server: Server,
        question: Question,
        original: Application | None,
    ) -> Found:
        if proposed is None:
            return Found(State(), "")
        wanted = opened.wanted
        with told_by(opened.redactor):
            types = await self._types(server, question, wanted, original)
            ask = proposed_ask(question, wanted, original, types)
            rendered = await self._rendered(server, ask, sources_of(wanted.spec))
        told = f"proposed side: {rendered.revision or revisions_of(sources_of(wanted.spec))}"
        return Found(State(wanted.document, rendered), told)

    async def _types(
        self, server: Server, question: Question, wanted: Desired, original: Application | None
    ) -> list[str]:
        """The server is asked only for what neither the source nor the original tells."""
        sources = sources_of(wanted.spec)
        return [
            known_type(source, place, original)
            or await self._asked_type(server, question, wanted, source, place)
            for place, source in enumerate(sources)
        ]

    async def _asked_type(
        self, server: Server, question: Question, wanted: Desired, source: JsonMap, place: int
    ) -> str:
        project = question.project(wanted)
        key = digest("argocd-type", question.address, question.plan_id, project, source)

        async def asked() -> str:
            name = question.temporary(wanted.name, PROPOSED)
            return await server.client.source_type(source, name=name, project=project, index=place)

        try:
            return await self._tools.renders.once(key, asked)
        except InvalidRequest as error:
            raise InvalidRequest(at_source(error.message, sources_of(wanted.spec))) from error

    async def _rendered(self, server: Server, ask: Ask, sources: list[JsonMap]) -> Rendered:
        try:
            return await self._renderer.render(server, ask)
        except AgentError:
            raise
        except InvalidRequest as error:
            raise InvalidRequest(at_source(error.message, sources)) from error

    async def _compared(
        self, before: Found, after: Found, opened: Opened, settings: CompareSettings
    ) -> tuple[tuple[KindResult, ...], tuple[str, ...]]:
        redactor, wanted = opened.redactor, opened.wanted
        terms = Terms(_destination(wanted), self._key, redactor)
        manifest = await self._manifest(before.state, after.state, terms, settings)
        with told_by(redactor):
            namespace = wanted.namespace or _namespace(before.state.document)
            cr = cr_result(before.state, after.state, replace(terms, namespace=namespace))
        return (*manifest.results, cr), manifest.warnings

    async def _manifest(
        self, current: State, proposed: State, terms: Terms, settings: CompareSettings
    ) -> Answer:
        """The same two renders are compared once, whatever the number of targets."""
        new = current.document is None
        texts = (current.rendered, proposed.rendered)
        key = digest(
            "argocd-answer",
            *((each.text, each.leaks) for each in texts),
            terms.redactor.key,
            new,
            terms.namespace,
            asdict(settings),
        )

        async def compared() -> Answer:
            small = sum(len(each.text) for each in texts) < _SMALL
            async with told_options(settings) as (options, rules):
                told = replace(terms, options=options)
                if small and not settings.ignore:
                    return manifest_answer(current, proposed, told)
                found = await asyncio.to_thread(manifest_answer, current, proposed, told)
                said = tuple(map(terms.redactor.text, rules.warnings))
            return replace(found, warnings=(*found.warnings, *said))

        return await self._tools.renders.once(key, compared)


def _destination(wanted: Desired) -> str:
    return str(wanted.spec["destination"].get("namespace") or "")


def _namespace(document: JsonMap | None) -> str:
    return str(document["metadata"].get("namespace") or "") if document else ""


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
