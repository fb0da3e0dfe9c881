"""What is asked of the server for each side: of which Application, at which revisions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from foretell.agents.argocd.application import (
    Desired,
    is_multi,
    is_same_but_for_revisions,
    sources_of,
    synced_revisions,
)
from foretell.agents.argocd.asked import By, OfExisting, OfTemporary
from foretell.agents.argocd.documents import Application, JsonMap
from foretell.agents.argocd.release import PLUGIN, Names, known_type, under_name
from foretell.agents.argocd.render import Ask
from foretell.agents.argocd.temporary import temporary_application, temporary_name
from foretell.domain.digest import digest
from foretell.domain.plan import InvocationId, PlanId

CURRENT, PROPOSED, AGAIN = SIDES = "current", "proposed", "again"
_SERVERS_OWN = "argocd"
"""Where Argo CD is installed mostly; a server tells it with an Application, not before."""


@dataclass(frozen=True, slots=True)
class Question:
    """One target, on one server. `plan_project` "": temporary Applications are in the original's.

    `spares`: no temporary Application where the original can be asked at another revision.
    """

    plan_id: PlanId
    invocation_id: InvocationId
    address: str
    asked_at: datetime
    plan_project: str = ""
    spares: bool = False

    def project(self, wanted: Desired) -> str:
        """Where its temporary Application is."""
        return self.plan_project or wanted.project

    def temporary(self, original: str, side: str) -> str:
        """What the temporary Application of that side is called."""
        return temporary_name(original, self.invocation_id, side)


def revisions_of(sources: Sequence[JsonMap]) -> str:
    """The revision of each source, as it is asked for."""
    return ", ".join(str(source.get("targetRevision") or "HEAD") for source in sources)


def as_wanted(application: Application) -> Desired:
    """What is there, as if it were asked for."""
    metadata = application.metadata
    return Desired(metadata.name, metadata.namespace, application.spec, {})


def types_of(sources: Sequence[JsonMap], original: Application | None) -> list[str]:
    """What each source is, "" where only the server can tell."""
    return [known_type(source, place, original) for place, source in enumerate(sources)]


def proposed_ask(
    question: Question, wanted: Desired, original: Application | None, types: Sequence[str]
) -> Ask:
    """The temporary Application of RFC 0004; where it can be spared, the original elsewhere."""
    sources = _renamed(wanted, sources_of(wanted.spec), types, original)
    project, by = question.project(wanted), _spared(question, wanted, original)
    if by is None:
        name = question.temporary(wanted.name, PROPOSED)
        by = _temporary(question, wanted, sources, name)
    else:
        project = wanted.project
    inputs, named = _inputs(question, wanted, project, sources), _is_named(types, by)
    return Ask(inputs, by, _expected(sources), named)


def unless_same(ask: Ask, other: Ask) -> Ask:
    """`other` where it has the same inputs: what is there can be asked without a copy of it."""
    return other if other.inputs == ask.inputs else ask


def again_ask(ask: Ask, by: OfTemporary, name: str) -> Ask:
    """The same once more, made anew."""
    metadata = {**by.document["metadata"], "name": name}
    by = replace(by, name=name, document={**by.document, "metadata": metadata})
    return replace(ask, inputs=digest("argocd-again", ask.inputs), by=by)


def current_ask(question: Question, original: Application, called: str) -> tuple[Ask, str]:
    """The original as it is synced, else as it is wanted now; and in words which of them.

    `called`: what its successor is called, after which a temporary Application of it is, too.
    """
    wanted, revisions = as_wanted(original), synced_revisions(original)
    sources = sources_of(original.spec)
    types = types_of(sources, original)
    if revisions is not None:
        pairs = zip(sources, revisions, strict=True)
        sources = [{**source, "targetRevision": revision} for source, revision in pairs]
    renamed = _renamed(wanted, sources, types, original)
    by = _pinned(question, wanted, renamed, revisions, called)
    project = question.project(wanted) if isinstance(by, OfTemporary) else wanted.project
    inputs, named = _inputs(question, wanted, project, renamed), _is_named(types, by)
    told = _told(original.name, sources, revisions)
    return Ask(inputs, by, _expected(sources), named), told


def _pinned(
    question: Question,
    wanted: Desired,
    sources: list[JsonMap],
    revisions: list[str] | None,
    called: str,
) -> By:
    """A server up to 3.1 at least keeps the revisions that it is asked for several sources at.

    It writes them into its own copy of the Application, which then shows them to everybody until
    the next change: of an Application with several sources a temporary one is asked instead.
    """
    existing = OfExisting(wanted.name, wanted.project, wanted.namespace)
    if revisions is None:
        return existing
    if not is_multi(wanted.spec):
        return OfExisting(wanted.name, wanted.project, wanted.namespace, revisions[0])
    if revisions == [source.get("targetRevision") for source in sources_of(wanted.spec)]:
        return existing
    return _temporary(question, wanted, sources, question.temporary(called, CURRENT))


def _spared(question: Question, wanted: Desired, original: Application | None) -> By | None:
    if not question.spares or original is None or is_multi(wanted.spec):
        return None
    if not is_same_but_for_revisions(wanted.spec, original.spec):
        return None
    revision = str(wanted.spec["source"].get("targetRevision") or "HEAD")
    return OfExisting(original.name, original.project, original.metadata.namespace, revision)


def _temporary(
    question: Question, wanted: Desired, sources: list[JsonMap], name: str
) -> OfTemporary:
    project = question.project(wanted)
    document = temporary_application(
        name,
        wanted,
        sources=sources,
        project=project,
        invocation_id=question.invocation_id,
        created_at=question.asked_at,
    )
    return OfTemporary(
        name, wanted.name, project, wanted.namespace, question.invocation_id, document
    )


def _renamed(
    wanted: Desired,
    sources: Sequence[JsonMap],
    types: Sequence[str],
    original: Application | None,
) -> list[JsonMap]:
    own = (original.status.controller_namespace if original else "") or _SERVERS_OWN
    qualified = wanted.namespace not in ("", own)
    instance = f"{wanted.namespace}_{wanted.name}" if qualified else wanted.name
    return under_name(sources, types, wanted.name, Names(instance, wanted.project))


def _inputs(question: Question, wanted: Desired, project: str, sources: Sequence[JsonMap]) -> str:
    """Of a plan: its branches may move before the next."""
    destination = wanted.spec.get("destination")
    inputs = (question.address, question.plan_id, project, destination, list(sources))
    return digest("argocd-render", *inputs)


def _is_named(types: Sequence[str], by: By) -> bool:
    """A plug-in may look at the name; for the name of one that is there, a folder may have a file
    (`.argocd-source-<name>.yaml`)."""
    return isinstance(by, OfExisting) or any(type in (PLUGIN, "") for type in types)


def _expected(sources: Sequence[JsonMap]) -> str:
    """Of several sources the server says nothing, or of one of them."""
    return str(sources[0].get("targetRevision") or "") if len(sources) == 1 else ""


def _told(name: str, sources: Sequence[JsonMap], revisions: Sequence[str] | None) -> str:
    asked = revisions_of(sources)
    several = "s" if len(sources) > 1 else ""
    if revisions is not None:
        return f"current side: {name} at its synced revision{several} {asked}"
    return f"current side: {name} at its target revision{several} {asked}, since it is not synced"
