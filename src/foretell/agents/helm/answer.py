"""Two renders -> the answer: kinds `manifest` and `values`, fit to be stored and shown."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from foretell.agents.helm.render import Inputs
from foretell.agents.helm.values import SecretValues, values_result
from foretell.domain.digest import Key
from foretell.domain.errors import AgentRejected, InvalidRequest
from foretell.domain.result import Kind, KindResult
from foretell.formats.kubernetes import CompareOptions, Comparison, compare, kind_result, remarks
from foretell.kit.redactor import Redactor

KIND = Kind("manifest")


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


@dataclass(frozen=True, slots=True)
class Terms:
    """How two renders are compared. `key` is for content hashes.

    `new`: nothing is known of what is there, so everything is an add, and is tagged as such.
    `options` are what the inventory says of comparing.
    """

    namespace: str
    key: Key
    new: bool = False
    options: CompareOptions = field(default_factory=CompareOptions)


def answer(current: SideRender, proposed: SideRender, redactor: Redactor, terms: Terms) -> Answer:
    """Both kinds.

    Raises AgentRejected where a chart renders what Kubernetes could not read.
    """
    comparison = _compared(current, proposed, redactor, terms)
    manifest = redactor.result(kind_result(KIND, comparison, terms.key, new=terms.new))
    hides = SecretValues(current.text, proposed.text, names=terms.options.mask_names)
    results = [manifest]
    if current is ABSENT or current.values is not None:
        values = values_result(_values(current), _values(proposed), hides, terms.key)
        results.append(redactor.result(values))
    told = [*_warnings(comparison, new=terms.new), *_by_name(hides)]
    warnings = tuple(redactor.text(each) for each in told)
    return Answer(tuple(results), warnings)


def _values(side: SideRender) -> dict[str, Any] | None:
    return side.values.computed_values if side.values else None


def _compared(
    current: SideRender, proposed: SideRender, redactor: Redactor, terms: Terms
) -> Comparison:
    options = replace(
        terms.options,
        default_namespace=terms.namespace,
        current_again=current.again,
        proposed_again=proposed.again,
        current_source=current.name or "the current side",
        proposed_source=proposed.name or "the proposed side",
    )
    try:
        return compare(current.text, proposed.text, options)
    except InvalidRequest as error:
        raise AgentRejected(redactor.text(f"the rendered chart can't be read: {error}")) from error


def _by_name(hides: SecretValues) -> Sequence[str]:
    number = len(hides.named)
    return [f"{number} of the chart's values masked by name"] if number else []


def _warnings(comparison: Comparison, *, new: bool) -> Sequence[str]:
    unknown = (
        "nothing is known of what is deployed here, so everything is an add: record the current "
        "version, compare with a base revision, or give a kubeconfig"
    )
    return [*remarks(comparison, "the chart"), *([unknown] if new else [])]
