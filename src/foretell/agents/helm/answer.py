"""Two renders -> the answer: kinds `manifest` and `values`, fit to be stored and shown."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from foretell.agents.helm.redact import Redactor
from foretell.agents.helm.render import Inputs
from foretell.agents.helm.values import SecretValues, values_result
from foretell.domain.digest import digest
from foretell.domain.errors import AgentRejected, InvalidRequest
from foretell.domain.result import Action, Kind, KindResult, ResourceChange
from foretell.formats.kubernetes import CompareOptions, Comparison, compare

KIND = Kind("manifest")
NEW_TARGET = "new target"


@dataclass(frozen=True, slots=True)
class SideRender:
    """One side, ready to be compared. `values` None: those of a live release are not read.

    Sides with the same `key` were made from the same inputs.
    """

    text: str = field(repr=False)
    again: str | None = field(default=None, repr=False)
    values: Inputs | None = field(default=None, repr=False)
    name: str = ""
    key: str = ""


ABSENT = SideRender("")


@dataclass(frozen=True, slots=True)
class Answer:
    """What both kinds say, and what a person should know beside them."""

    results: tuple[KindResult, ...]
    warnings: tuple[str, ...]


def answer(
    current: SideRender, proposed: SideRender, redactor: Redactor, *, namespace: str, new: bool
) -> Answer:
    """`new`: nothing is known of what is there, so everything is an add, and is tagged as such.

    Raises AgentRejected where a chart renders what Kubernetes could not read.
    """
    comparison = _compared(current, proposed, redactor, namespace)
    manifest = redactor.result(_manifest(comparison, new=new))
    hides = SecretValues(current.text, proposed.text)
    results = [manifest]
    if current is ABSENT or current.values is not None:
        values = values_result(_values(current), _values(proposed), hides)
        results.append(redactor.result(values))
    warnings = tuple(redactor.text(each) for each in _warnings(comparison, new=new))
    return Answer(tuple(results), warnings)


def _values(side: SideRender) -> dict[str, Any] | None:
    return side.values.computed_values if side.values else None


def _compared(
    current: SideRender, proposed: SideRender, redactor: Redactor, namespace: str
) -> Comparison:
    options = CompareOptions(
        default_namespace=namespace,
        current_again=current.again,
        proposed_again=proposed.again,
        current_source=current.name or "the current side",
        proposed_source=proposed.name or "the proposed side",
    )
    try:
        return compare(current.text, proposed.text, options)
    except InvalidRequest as error:
        raise AgentRejected(redactor.text(f"the rendered chart can't be read: {error}")) from error


def _manifest(comparison: Comparison, *, new: bool) -> KindResult:
    changes = tuple(_tagged(change, new=new) for change in comparison.changes)
    return KindResult(
        kind=KIND,
        current=comparison.current,
        proposed=comparison.proposed,
        has_changes=comparison.has_changes,
        content_hash=digest("h1", comparison.proposed),
        diff="".join(change.diff for change in changes),
        additions=sum(change.additions for change in changes),
        deletions=sum(change.deletions for change in changes),
        resources=changes,
        suppressed=comparison.suppressed,
    )


def _tagged(change: ResourceChange, *, new: bool) -> ResourceChange:
    is_new = new and change.action is Action.ADD
    return replace(
        change,
        result_kind=KIND,
        tags=(*change.tags, NEW_TARGET) if is_new else change.tags,
    )


def _warnings(comparison: Comparison, *, new: bool) -> Sequence[str]:
    found = list(comparison.warnings)
    if new:
        found.append(
            "nothing is known of what is deployed here, so everything is an add: record the "
            "current version, compare with a base revision, or give a kubeconfig"
        )
    if comparison.empty:
        found.append("the chart renders no object on either side")
    if comparison.deletes_everything:
        found.append("the chart renders no object any more: everything is deleted")
    return found
