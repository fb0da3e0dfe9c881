"""Stored text to what a rule may address (RFC 0013 "Validation": `<parsed>`)."""

import json
from collections.abc import Sequence
from typing import Any, Final

from foretell.domain.context import DispatchContext
from foretell.domain.errors import InvalidRequest
from foretell.domain.plan import JsonObject
from foretell.domain.result import KindResult, ResourceChange
from foretell.domain.verdict import KindDocument, rule_input
from foretell.formats.yaml import load_documents

MANIFESTS: Final = frozenset({"manifest", "cr", "values"})
"""Kinds whose text is a stream of objects: rules may count on lists of them."""


def policy_input(context: DispatchContext, results: Sequence[KindResult]) -> JsonObject:
    """RFC 0013's document of one invocation.

    Raises InvalidRequest, without a value in it, for manifests that can't be read as such: a rule
    that looks for objects in a text finds none, and would pass.
    """
    return rule_input(context, {result.kind: _kind(result) for result in results})


def _kind(result: KindResult) -> KindDocument:
    try:
        current, proposed = _sides(result)
        changes = tuple(_change(result, change) for change in result.resources)
    except InvalidRequest as error:
        raise InvalidRequest(
            f"the kind {result.kind!r} can't be read as Kubernetes objects, so no rule can judge "
            f"it: {error.message}"
        ) from error
    return KindDocument(current, proposed, result.has_changes, changes)


def _sides(result: KindResult) -> tuple[Any, Any]:
    if result.policy is not None:
        return result.policy.current, result.policy.proposed
    return (
        _parsed(result, result.current, "current"),
        _parsed(result, result.proposed, "proposed"),
    )


def _change(result: KindResult, change: ResourceChange) -> JsonObject:
    return {
        "kind": change.kind,
        "name": change.name,
        "namespace": change.namespace,
        "action": change.action.value,
        "before": _parsed(result, change.before, change.title),
        "after": _parsed(result, change.after, change.title),
    }


def _parsed(result: KindResult, text: str, source: str) -> Any:
    if result.policy is None and result.kind in MANIFESTS:
        return parse_manifests(text, source)
    return parse_text(text)


def parse_manifests(text: str, source: str) -> list[Any]:
    """The objects of a stream; raises InvalidRequest for what is none, or beyond our bounds."""
    documents = load_documents(text, source=source)
    for document in documents:
        if not isinstance(document.value, dict):
            raise InvalidRequest(f"{source}: document {document.number} is no object")
    return [document.value for document in documents]


def parse_text(text: str) -> Any:
    """The object of a JSON text, the list of objects of a manifest stream, else the text itself."""
    if text.lstrip().startswith(("{", "[")):
        try:
            return json.loads(text)
        except ValueError:
            return text
    try:
        return parse_manifests(text, "result")
    except InvalidRequest:
        return text
