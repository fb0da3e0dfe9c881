"""A whole redacted plan in the program's own style, for people."""

from collections.abc import Iterator
from typing import Final

from foretell.domain.errors import InvalidRequest
from foretell.formats.tfplan.plan import Change, Plan
from foretell.formats.tfplan.text.body import body, plural
from foretell.formats.tfplan.text.literal import scalar, visible
from foretell.formats.tfplan.text.order import by_severity, grouped_moves
from foretell.formats.tfplan.text.sides import attributes
from foretell.formats.tfplan.verdict import Verdict, Word

_LISTED: Final = 20
_SIGNS: Final = {
    ("delete", "create"): "-/+",
    ("create", "delete"): "+/-",
    ("create",): "+",
    ("update",): "~",
    ("delete",): "-",
    ("read",): "<=",
    ("create", "forget"): "+",
    ("forget", "create"): "+",
    ("forget",): ".",
    ("no-op",): " ",
}
_SENTENCES: Final = {
    ("delete", "create"): "must be replaced",
    ("create", "delete"): "must be replaced (the new one is made first)",
    ("create",): "will be created",
    ("update",): "will be updated in place",
    ("delete",): "will be destroyed",
    ("read",): "will be read during apply",
    ("create", "forget"): "will be created; the old object is removed from state and kept",
    ("forget", "create"): "will be created; the old object is removed from state and kept",
    ("forget",): "removed from state, object is kept",
    ("no-op",): "will be imported",
}
_BANNERS: Final = {
    Word.ERRORED: "The plan FAILED; what follows is incomplete.",
    Word.CANCELLED: "The plan was CANCELLED; what follows is incomplete.",
    Word.INCOMPLETE: "PARTIAL plan",
    Word.NEEDS_ATTENTION: "This plan NEEDS ATTENTION: not all of it is understood.",
    Word.NO_CHANGES: "No changes.",
    Word.DRIFT_ONLY: "No changes, but objects have changed outside of this plan.",
}


def page(plan: Plan, verdict: Verdict) -> str:
    """The text of a redacted plan, destructive changes first. Ends with a newline.

    `InvalidRequest` when the plan is not redacted: there is no way to print values by mistake.
    """
    if not plan.redacted:
        raise InvalidRequest("only a redacted plan can be shown")
    blocks = [
        *_banner(verdict),
        *_resources(plan),
        *_moves(plan),
        *_outputs(plan),
        *_others(plan),
        counts_line(verdict),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _banner(verdict: Verdict) -> Iterator[str]:
    because = f" ({', '.join(verdict.incomplete_because)})" if verdict.incomplete_because else ""
    if verdict.word in _BANNERS:
        yield _BANNERS[verdict.word] + because
    yield "\n".join(f"Note: {visible(note)}." for note in verdict.notes)


def _resources(plan: Plan) -> Iterator[str]:
    for change in sorted((c for c in plan.changes if c.acts), key=by_severity):
        if not _is_mere_move(change):
            yield "\n".join(resource(change))


def _is_mere_move(change: Change) -> bool:
    return change.is_no_op and not change.is_imported


def resource(change: Change) -> Iterator[str]:
    """One change: a heading that says what happens and why, then the signed lines."""
    yield from (f"  # {line}" for line in heading(change))
    if change.actions == ("forget",) or change.is_no_op:
        return
    sign = _SIGNS.get(change.actions, "?")
    kind = "data" if change.mode == "data" else "resource"
    yield f'{sign:>3} {kind} "{visible(change.type)}" "{visible(change.name)}" {{'
    fold = change.is_replace or "create" in change.actions
    yield from (f"      {line}" for line in body(attributes(change), fold=fold))
    yield "    }"


def heading(change: Change) -> Iterator[str]:
    """What happens to which address, and what the program says about why."""
    deposed = f" (deposed object {visible(change.deposed)})" if change.deposed else ""
    unknown = f"has actions that are not known: {visible(', '.join(change.actions) or 'none')}"
    sentence = _SENTENCES.get(change.actions, unknown) if change.actions else unknown
    yield f"{visible(change.address)}{deposed} {sentence}"
    if change.reason:
        yield f"(because: {visible(change.reason.replace('_', ' '))})"
    if change.is_moved:
        yield f"(moved from {visible(change.previous_address)})"
    if change.is_imported:
        yield f"(imported from {import_source(change)})"


def import_source(change: Change) -> str:
    """The id or identity that is imported, as it may be shown."""
    source = change.importing if isinstance(change.importing, dict) else {}
    shown = source.get("id") or source.get("identity")
    return scalar(shown) if shown is not None else "an id known after apply"


def _moves(plan: Plan) -> Iterator[str]:
    moves = [change for change in plan.changes if change.is_moved and _is_mere_move(change)]
    if moves:
        yield "\n".join(["Moved, otherwise unchanged:", *_move_lines(moves)])


def _move_lines(moves: list[Change]) -> Iterator[str]:
    for (old, new), group in sorted(grouped_moves(moves).items()):
        if len(group) == 1:
            (only,) = group
            yield f"  {visible(only.previous_address)} -> {visible(only.address)}"
        else:
            yield f"  {visible(old)} -> {visible(new)} ({len(group)} objects)"


def _outputs(plan: Plan) -> Iterator[str]:
    changed = sorted((o for o in plan.outputs if not o.is_no_op), key=by_severity)
    if changed:
        yield "\n".join(["Changes to outputs:", *(line for o in changed for line in output(o))])


def output(change: Change) -> Iterator[str]:
    """One output's signed lines, its name before them."""
    (attribute,) = attributes(change)
    first, *rest = body([attribute], fold=False) if attribute.differs else ["~ (unchanged value)"]
    yield f"  {first[:2]}{visible(change.name)} = {first[2:]}"
    yield from (f"  {line}" for line in rest)


def _others(plan: Plan) -> Iterator[str]:
    invoked = [visible(item.address) for item in plan.invocations]
    deferred = [f"{visible(d.change.address)} ({visible(d.reason)})" for d in plan.deferred]
    deferred += [visible(item.address) for item in plan.deferred_invocations]
    failing = [
        f"{visible(check.address)} ({visible(check.status)}): {visible(message)}"
        for check in plan.checks
        for message in check.messages or ("no message",)
    ]
    drifted = [visible(change.address) for change in plan.drift if change.acts]
    yield _listed("Actions to invoke:", invoked)
    yield _listed("Deferred to a later plan:", deferred)
    yield _listed("Checks that do not hold:", failing)
    yield _listed("Changed outside of this plan:", drifted)


def _listed(title: str, items: list[str]) -> str:
    more = [f"  and {len(items) - _LISTED} more"] if len(items) > _LISTED else []
    return "\n".join([title, *(f"  {item}" for item in items[:_LISTED]), *more]) if items else ""


def counts_line(verdict: Verdict) -> str:
    """The program's own sum: a replacement adds one and destroys one; the rest only if any."""
    counts = verdict.counts
    first = f"{counts.add} to add, {counts.update} to change, {counts.destroy} to destroy"
    besides = {
        "to replace": counts.replace,
        "to import": counts.import_,
        "to move": counts.move,
        "to forget": counts.forget,
        "to read": counts.read,
        "deferred": counts.deferred,
        "not understood": counts.unknown,
    }
    parts = [first, *(f"{number} {words}" for words, number in besides.items() if number)]
    parts += [f"{plural(counts.outputs, 'output')} to change"] if counts.outputs else []
    parts += [f"{plural(counts.actions, 'action')} to invoke"] if counts.actions else []
    return f"Plan: {', '.join(parts)}."
