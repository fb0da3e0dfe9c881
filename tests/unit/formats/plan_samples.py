"""Small plans in the shape of `show -json`, and the outputs that must hold no secret."""

import json
from pathlib import Path
from typing import Any

from foretell.domain.digest import Key
from foretell.formats.exact_json import dumps
from foretell.formats.tfplan.compare import compare
from foretell.formats.tfplan.parse import parse
from foretell.formats.tfplan.plan import Plan
from foretell.formats.tfplan.redacted import redact_with
from foretell.formats.tfplan.result import PlanResult, to_result
from foretell.formats.tfplan.summary import summary
from foretell.formats.tfplan.verdict import judge

SECRET = "Canary-77-of-the-mine"
KEY = b"k" * 32
REAL_PLANS = sorted((Path(__file__).parent / "real_plans").glob("*.json"))


def change(address: str, actions: str, before: Any = None, after: Any = None, **more: Any) -> Any:
    """One entry; `actions` is "delete+create"; members of the entry itself by name."""
    kind, _, name = address.partition("[")[0].rpartition(".")
    outer = {
        key: more.pop(key)
        for key in ("previous_address", "deposed", "action_reason", "mode", "index")
        if key in more
    }
    return {
        "address": address,
        "mode": "managed",
        "type": kind.rpartition(".")[2],
        "name": name,
        **outer,
        "change": {
            "actions": actions.split("+") if actions else [],
            "before": before,
            "after": after,
            "after_unknown": {},
            "before_sensitive": {},
            "after_sensitive": {},
            **more,
        },
    }


def output(actions: str, before: Any = None, after: Any = None, **more: Any) -> Any:
    return {"actions": [actions], "before": before, "after": after, **more}


def document(*changes: Any, outputs: Any = None, **more: Any) -> dict[str, Any]:
    return {
        "format_version": "1.2",
        "terraform_version": "1.11.4",
        "planned_values": {"root_module": {}},
        "resource_changes": list(changes),
        "output_changes": outputs or {},
        "configuration": {"root_module": {}},
        **more,
    }


def plan(*changes: Any, outputs: Any = None, **more: Any) -> Plan:
    return parse(json.dumps(document(*changes, outputs=outputs, **more)))


def real(name: str) -> Plan:
    return parse((Path(__file__).parent / "real_plans" / f"{name}.json").read_bytes())


def everything_shown(given: Plan) -> str:
    """All that ever leaves about a plan, joined: text, JSON, policy input, hash, repr, compare."""
    redacted, redactor = redact_with(given)
    verdict = judge(redacted)
    result = to_result(given, key=Key(KEY, "id"))
    other = parse(dumps({**given.document, "resource_changes": [], "output_changes": {}}))
    return "\n".join(
        [
            repr((given, redacted, redactor, result, verdict, given.changes, given.drift)),
            dumps(redacted.document),
            dumps(summary(redacted, verdict)),
            *shown_texts(result),
            *map(str, compare(given, other)),
        ]
    )


def shown_texts(result: PlanResult) -> list[str]:
    shown = result.result
    parts = [shown.current, shown.proposed, shown.diff or "", shown.content_hash]
    for item in shown.resources:
        parts += [item.kind, item.name, item.before, item.after, item.diff, *item.tags]
    return parts
