"""`show -json` text into a `Plan`. Errors name the field; none quotes a value."""

import re
from collections.abc import Iterator
from typing import Any, Final

from foretell.domain.errors import InvalidRequest
from foretell.formats.exact_json import loads
from foretell.formats.tfplan.plan import Change, Check, Deferred, Invocation, Plan

_VERSION: Final = re.compile(r"(\d+)\.(\d+)(?:\D.*)?\Z")
_FAILING: Final = frozenset({"fail", "error"})
BINARY_PLAN: Final = b"PK\x03\x04"
"""How a binary plan file starts: it is a ZIP archive."""


def parse(text: str | bytes) -> Plan:
    """Read a plan of format 0.1 to 1.x, or Terraform Cloud's redacted form of one.

    `InvalidRequest` for anything else, with what it seems to be and what to give instead. An
    unknown minor version is read, an unknown major one refused.
    """
    if isinstance(text, bytes) and text.startswith(BINARY_PLAN):
        raise InvalidRequest(
            "this is a binary plan file; give the output of `terraform show -json FILE`"
        )
    document = loads(text, what="the plan")
    if not isinstance(document, dict):
        raise InvalidRequest(f"the plan must be a JSON object, not {_kind(document)}")
    return parse_document(document)


def parse_document(document: dict[str, Any], *, redacted: bool = False) -> Plan:
    """As `parse`, for JSON read with `exact_json.loads`."""
    partial_form = "plan_format_version" in document
    version = _supported_version(document, partial_form)
    return Plan(
        format_version=version,
        program_version=_text(document, "terraform_version", ""),
        changes=_changes(document, "resource_changes"),
        outputs=_outputs(document),
        drift=_changes(document, "resource_drift"),
        deferred=_deferred(document),
        deferred_invocations=_invocations(document, "deferred_action_invocations"),
        invocations=_invocations(document, "action_invocations"),
        checks=tuple(_failing_checks(document)),
        applyable=_flag(document, "applyable"),
        complete=_flag(document, "complete"),
        errored=_flag(document, "errored"),
        document=document,
        partial_form=partial_form,
        redacted=redacted,
    )


def _supported_version(document: dict[str, Any], partial_form: bool) -> str:
    key = "plan_format_version" if partial_form else "format_version"
    version = document.get(key)
    if not isinstance(version, str):
        raise InvalidRequest(
            f"the plan has no {key}; give the output of `terraform show -json PLANFILE`"
        )
    match = _VERSION.match(version)
    if match is None or int(match[1]) > 1 or (int(match[1]), int(match[2])) < (0, 1):
        raise InvalidRequest(f"{key} {version[:20]!r} is not supported: 0.1 to 1.x are")
    if not partial_form and "values" in document and "planned_values" not in document:
        raise InvalidRequest("this is a state, not a plan; give `terraform show -json` a plan file")
    return version


def _changes(document: dict[str, Any], key: str) -> tuple[Change, ...]:
    return tuple(_change(entry, where) for entry, where in _objects(document, key, key))


def _change(entry: dict[str, Any], where: str) -> Change:
    change = _object(entry, "change", where)
    return Change(
        address=_required_text(entry, "address", where),
        mode=_text(entry, "mode", "managed", where),
        type=_text(entry, "type", "", where),
        name=_text(entry, "name", "", where),
        deposed=_text(entry, "deposed", "", where),
        previous_address=_text(entry, "previous_address", "", where),
        reason=_text(entry, "action_reason", "", where),
        replace_paths=_paths(change.get("replace_paths")),
        importing=change.get("importing"),
        **_sides(change, f"{where}.change"),
    )


def _sides(change: dict[str, Any], where: str) -> dict[str, Any]:
    return {
        "actions": _actions(change, where),
        "before": change.get("before"),
        "after": change.get("after"),
        "after_unknown": change.get("after_unknown"),
        "before_sensitive": change.get("before_sensitive"),
        "after_sensitive": change.get("after_sensitive"),
    }


def _actions(change: dict[str, Any], where: str) -> tuple[str, ...]:
    actions = change.get("actions")
    if not isinstance(actions, list) or not all(isinstance(action, str) for action in actions):
        raise InvalidRequest(f"{where}.actions must be a list of words, not {_kind(actions)}")
    return tuple(actions)


def _paths(paths: Any) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(path) for path in paths if isinstance(path, list)) if paths else ()


def _outputs(document: dict[str, Any]) -> tuple[Change, ...]:
    outputs = document.get("output_changes") or {}
    if not isinstance(outputs, dict):
        raise InvalidRequest(f"output_changes must be an object, not {_kind(outputs)}")
    return tuple(
        Change(
            address=f"output.{name}",
            mode="output",
            name=name,
            **_sides(_object(outputs, name, "output_changes"), "output_changes[…]"),
        )
        for name in outputs
    )


def _deferred(document: dict[str, Any]) -> tuple[Deferred, ...]:
    return tuple(
        Deferred(
            _text(entry, "reason", "unknown", where),
            _change(_object(entry, "resource_change", where), f"{where}.resource_change"),
        )
        for entry, where in _objects(document, "deferred_changes", "deferred_changes")
    )


def _invocations(document: dict[str, Any], key: str) -> tuple[Invocation, ...]:
    return tuple(_invocation(entry, where) for entry, where in _objects(document, key, key))


def _invocation(entry: dict[str, Any], where: str) -> Invocation:
    """A deferred one wraps the same shape in `action_invocation`."""
    inner = entry.get("action_invocation")
    shown = inner if isinstance(inner, dict) else entry
    return Invocation(
        _text(shown, "address", "", where), _text(shown, "type", "", where), effect=entry
    )


def _failing_checks(document: dict[str, Any]) -> Iterator[Check]:
    for entry, where in _objects(document, "checks", "checks"):
        if entry.get("status") in _FAILING:
            address = entry.get("address")
            shown = address.get("to_display") if isinstance(address, dict) else None
            yield Check(str(shown or "?"), str(entry["status"]), tuple(_messages(entry, where)))


def _messages(check: dict[str, Any], where: str) -> Iterator[str]:
    for instance, place in _objects(check, "instances", f"{where}.instances"):
        for problem, _ in _objects(instance, "problems", f"{place}.problems"):
            if isinstance(message := problem.get("message"), str):
                yield message


def _objects(holder: dict[str, Any], key: str, where: str) -> Iterator[tuple[dict[str, Any], str]]:
    entries = holder.get(key)
    if entries is None:
        return
    if not isinstance(entries, list):
        raise InvalidRequest(f"{where} must be a list, not {_kind(entries)}")
    for index, entry in enumerate(entries):
        place = f"{where}[{index}]"
        if not isinstance(entry, dict):
            raise InvalidRequest(f"{place} must be an object, not {_kind(entry)}")
        yield entry, place


def _object(holder: dict[str, Any], key: str, where: str) -> dict[str, Any]:
    value = holder.get(key)
    if not isinstance(value, dict):
        shown = key if where != "output_changes" else "[…]"  # an output's name may be a value
        raise InvalidRequest(f"{where}.{shown} must be an object, not {_kind(value)}")
    return value


def _required_text(holder: dict[str, Any], key: str, where: str) -> str:
    value = _text(holder, key, "", where)
    if not value:
        raise InvalidRequest(f"{where}.{key} is missing")
    return value


def _text(holder: dict[str, Any], key: str, default: str, where: str = "") -> str:
    value = holder.get(key)
    if value is None:
        return default
    if not isinstance(value, str):
        place = f"{where}.{key}" if where else key
        raise InvalidRequest(f"{place} must be a string, not {_kind(value)}")
    return value


def _flag(document: dict[str, Any], key: str) -> bool | None:
    value = document.get(key)
    if value is not None and not isinstance(value, bool):
        raise InvalidRequest(f"{key} must be true or false, not {_kind(value)}")
    return value


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null or nothing"
        case bool():
            return "a boolean"
        case str():
            return "a string"
        case dict():
            return "an object"
        case list():
            return "a list"
        case _:
            return "a number"
