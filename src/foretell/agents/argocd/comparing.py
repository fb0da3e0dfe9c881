"""Both sides -> the answer; where a change looks made up, after one more render of the proposed."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, replace

from foretell.agents.argocd.answer import Answer, State, Terms, cr_result, manifest_answer
from foretell.agents.argocd.application import Desired, sources_of
from foretell.agents.argocd.documents import JsonMap
from foretell.agents.argocd.manifests import Rendered
from foretell.agents.argocd.opening import Opened, told_by
from foretell.agents.argocd.volatile import is_volatile
from foretell.domain.digest import digest, purpose_key
from foretell.domain.result import KindResult
from foretell.domain.target import CompareSettings
from foretell.inventory.ignore import told_options
from foretell.ports import AgentTools

Again = Callable[[], Awaitable[Rendered]]
_SMALL = 64 * 1024
"""Characters that are compared sooner than another thread has begun."""


@dataclass(frozen=True, slots=True)
class Compared:
    """Both kinds, and what a person should know beside them."""

    results: tuple[KindResult, ...]
    warnings: tuple[str, ...]


class Comparer:
    """Compares the same two renders once, whatever the number of targets."""

    def __init__(self, tools: AgentTools) -> None:
        self._renders = tools.renders
        self._key = purpose_key(tools.key, "content")

    async def compare(
        self,
        current: State,
        proposed: State,
        opened: Opened,
        again: Again | None,
        settings: CompareSettings,
    ) -> Compared:
        """`again` renders the proposed side a second time; None where that is not possible."""
        wanted, redactor = opened.wanted, opened.redactor
        terms = Terms(_destination(wanted), self._key, redactor)
        manifest = await self._manifest(current, proposed, terms, settings)
        if again is not None and is_volatile(manifest.results[0], _revisions(wanted, current)):
            proposed = replace(proposed, again=await again())
            manifest = await self._manifest(current, proposed, terms, settings)
        with told_by(redactor):
            namespace = wanted.namespace or _namespace(current.document)
            cr = cr_result(current, proposed, replace(terms, namespace=namespace))
        return Compared((*manifest.results, cr), manifest.warnings)

    async def _manifest(
        self, current: State, proposed: State, terms: Terms, settings: CompareSettings
    ) -> Answer:
        renders = [current.rendered, proposed.rendered]
        renders += [proposed.again] if proposed.again else []
        key = digest(
            "argocd-answer",
            [(each.text, each.leaks) for each in renders],
            terms.redactor.key,
            current.document is None,
            current.rendered is proposed.rendered,
            terms.namespace,
            asdict(settings),
        )

        async def compared() -> Answer:
            small = sum(len(each.text) for each in renders) < _SMALL
            async with told_options(settings) as (options, rules):
                told = replace(terms, options=options)
                if small and not settings.ignore:
                    return manifest_answer(current, proposed, told)
                found = await asyncio.to_thread(manifest_answer, current, proposed, told)
                said = tuple(map(terms.redactor.text, rules.warnings))
            return replace(found, warnings=(*found.warnings, *said))

        return await self._renders.once(key, compared)


def _revisions(wanted: Desired, current: State) -> list[str]:
    """A commit in an image's tag is no value that is made up."""
    rendered = current.rendered.revision
    return [rendered, *(str(each.get("targetRevision")) for each in sources_of(wanted.spec))]


def _destination(wanted: Desired) -> str:
    return str(wanted.spec["destination"].get("namespace") or "")


def _namespace(document: JsonMap | None) -> str:
    return str(document["metadata"].get("namespace") or "") if document else ""
