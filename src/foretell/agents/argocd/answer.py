"""Two renders and two Applications -> the answer: kinds `manifest` and `cr` (RFC 0013)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from foretell.agents.argocd.application import API_VERSION, normalised
from foretell.agents.argocd.documents import Application, JsonMap
from foretell.agents.argocd.hiding import hidden
from foretell.agents.argocd.manifests import NOTHING, Rendered
from foretell.domain.digest import Key, keyed_digest
from foretell.domain.errors import AgentRejected, InvalidRequest
from foretell.domain.result import Kind, KindResult
from foretell.formats.kubernetes import CompareOptions, Comparison, compare, kind_result, remarks
from foretell.formats.kubernetes.answer import SCHEME
from foretell.kit.redactor import Redactor

MANIFEST, CR = Kind("manifest"), Kind("cr")

_SERVERS_ANNOTATIONS = (
    "argocd.argoproj.io/refresh",
    "argocd.argoproj.io/tracking-id",
    "kubectl.kubernetes.io/last-applied-configuration",
    "notified.notifications.argoproj.io",
)


@dataclass(frozen=True, slots=True)
class State:
    """One side: the Application as a document, None where there is none, and what it renders.

    `again`: a second render of the same, where one was made.
    """

    document: JsonMap | None = field(default=None, repr=False)
    rendered: Rendered = NOTHING
    again: Rendered | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What both kinds say, and what a person should know beside them."""

    results: tuple[KindResult, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Terms:
    """How two sides are compared. `namespace` is that of objects without one; `key` is for content
    hashes. `options` are what the inventory says of comparing."""

    namespace: str
    key: Key
    redactor: Redactor = field(repr=False)
    options: CompareOptions = field(default_factory=CompareOptions)


def manifest_answer(current: State, proposed: State, terms: Terms) -> Answer:
    """The rendered objects. Raises AgentRejected where Kubernetes could not read them."""
    redactor = terms.redactor
    comparison = _compared(
        current.rendered.text,
        proposed.rendered.text,
        terms,
        "what Argo CD rendered",
        again=proposed.again.text if proposed.again else None,
    )
    result = kind_result(MANIFEST, comparison, terms.key, new=current.document is None)
    if current.rendered is proposed.rendered:
        # One render for both: whatever of it is masked is the same.
        result = replace(result, has_changes=False)
    if comparison.incomparable:
        # Equal masks are no equal Secrets: a hash over them would stand for what nobody has seen.
        result = replace(result, content_hash="", plan_key_id="")
    result = redactor.result(result)
    told = [*remarks(comparison, "the Application"), *_leaks(current, proposed)]
    return Answer((result,), tuple(redactor.text(each) for each in told))


def cr_result(current: State, proposed: State, terms: Terms) -> KindResult:
    """The Application itself, without what only the server writes into it."""
    sides = [_meant(side.document) for side in (current, proposed)]
    before, after = hidden(sides[0], sides[1])
    comparison = _compared(_text(before), _text(after), terms, "the Application")
    result = kind_result(CR, comparison, terms.key, new=current.document is None)
    # Of the Application as it is: what is hidden counts too.
    result = replace(result, content_hash=keyed_digest(SCHEME, terms.key.secret, sides[1]))
    return terms.redactor.result(result)


def as_document(application: Application) -> JsonMap:
    """What is there, as somebody would have asked for it."""
    metadata = application.metadata
    return {
        "apiVersion": API_VERSION,
        "kind": "Application",
        "metadata": {
            "name": metadata.name,
            "namespace": metadata.namespace,
            "labels": metadata.labels,
            "annotations": metadata.annotations,
            "finalizers": list(metadata.finalizers),
        },
        "spec": application.spec,
    }


def _compared(
    current: str, proposed: str, terms: Terms, what: str, *, again: str | None = None
) -> Comparison:
    options = replace(
        terms.options,
        proposed_again=again,
        default_namespace=terms.namespace,
        current_source="the current side",
        proposed_source="the proposed side",
    )
    try:
        return compare(current, proposed, options)
    except InvalidRequest as error:
        raise AgentRejected(terms.redactor.text(f"{what} can't be read: {error}")) from error


def _leaks(current: State, proposed: State) -> Sequence[str]:
    found = sorted({*current.rendered.leaks, *proposed.rendered.leaks})
    if not found:
        return []
    return [
        f"rendered under a temporary name, which is in {', '.join(found)}: a plug-in or a file of "
        "this source looks at the Application's name, so these differences may be none"
    ]


def _text(document: JsonMap | None) -> str:
    return "" if document is None else json.dumps(document)


def _meant(document: JsonMap | None) -> JsonMap | None:
    """What somebody asked for, without what the server writes or leaves out."""
    if document is None:
        return None
    metadata = dict(document["metadata"])
    metadata["annotations"] = _annotations(metadata.get("annotations") or {})
    kept = {key: metadata.get(key) for key in _METADATA}
    spec = {**document["spec"], "project": document["spec"].get("project") or "default"}
    head = {"apiVersion": API_VERSION, "kind": "Application"}
    return head | {"metadata": _filled(kept), "spec": normalised(spec)}


_METADATA = ("name", "namespace", "labels", "annotations", "finalizers")


def _annotations(annotations: Mapping[str, Any]) -> JsonMap:
    return {
        key: value for key, value in annotations.items() if not key.startswith(_SERVERS_ANNOTATIONS)
    }


def _filled(metadata: JsonMap) -> JsonMap:
    return {key: value for key, value in metadata.items() if value}
