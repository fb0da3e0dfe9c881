"""Judging 200 manifests by ten rules, beside the bare engine on the same document.

The peer has the same limits in a process of its own: one engine that holds all ten rules compiled,
reads each document once and is asked for ten `deny` and ten `warn` sets. Ours is the whole path:
the document as JSON, the child, every rule kept from the others, the verdicts. Times are the best
of all invocations: what a machine does meanwhile says nothing. Needs `foretell[rego]`.
"""

import asyncio
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench import Line
from foretell.domain.verdict import Rule
from foretell.policy.regorus import LIMITS, Regorus

INVOCATIONS = 100
MANIFESTS = 200
FIRST_WITHIN = 0.5
EXAMPLES = Path(__file__).parents[1] / "examples" / "policies"
NAMES = (
    "allowed_registries",
    "change_window",
    "limits_set",
    "no_database_replacement",
    "no_deletes_in_production",
    "no_latest_tag",
    "no_public_load_balancer",
    "no_secrets_in_config_maps",
    "replica_bounds",
    "required_labels",
)


def run() -> Iterator[Line]:
    """The ratio to the bare engine, and the first answer after a start beside its goal."""
    document = _document()
    rules = [Rule("bench", name, (EXAMPLES / f"{name}.rego").read_text()) for name in NAMES]
    first, ours = asyncio.run(_judge(rules, document))
    bare = _bare(rules, json.dumps(document))
    note = (
        f"ours {1000 * ours:.1f} ms an invocation, bare engine {1000 * bare:.1f} ms, the best of "
        f"{INVOCATIONS}: {len(rules)} rules on {MANIFESTS} manifests, "
        f"{len(json.dumps(document)) / 1000:.0f} kB"
    )
    yield Line("policy.judge", ours / bare, 1.5, note)
    yield Line("policy.first", first / FIRST_WITHIN, 1.0, f"{first:.2f} s to the first verdicts")


async def _judge(rules: list[Rule], document: dict[str, Any]) -> tuple[float, float]:
    async with Regorus(size=1) as engine:
        began = time.perf_counter()
        await engine.evaluate(rules, document)
        first = time.perf_counter() - began
        return first, min([await _once(engine, rules, document) for _ in range(INVOCATIONS)])


async def _once(engine: Regorus, rules: list[Rule], document: dict[str, Any]) -> float:
    began = time.perf_counter()
    await engine.evaluate(rules, document)
    return time.perf_counter() - began


def _bare(rules: list[Rule], document: str) -> float:
    """Seconds for the best invocation, without the start of the process and of the engine."""
    request = {"rules": [rule.rego for rule in rules], "document": document}
    done = subprocess.run(
        [sys.executable, "-c", _BARE],
        input=json.dumps({**request, "times": INVOCATIONS}),
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (LIMITS.memory_bytes,) * 2),
    )
    return float(done.stdout)


_BARE = """
import json, sys, time, regorus
request = json.load(sys.stdin)
engine = regorus.Engine()
packages = [engine.add_policy(str(n), text) for n, text in enumerate(request["rules"])]
engine.eval_query("true")
took = []
for _ in range(request["times"]):
    began = time.perf_counter()
    engine.set_input_json(request["document"])
    for package in packages:
        for name in ("deny", "warn"):
            json.loads(engine.eval_query_as_json(package + "." + name))
    took.append(time.perf_counter() - began)
print(min(took))
"""


def _document() -> dict[str, Any]:
    manifests = [_manifest(number) for number in range(MANIFESTS)]
    return {
        "manifest": {
            "current": manifests,
            "proposed": manifests,
            "has_changes": True,
            "changes": [
                {"kind": "Deployment", "name": f"app-{n}", "namespace": "shop", "action": "modify"}
                for n in range(20)
            ],
        },
        "agent_type": "helm",
        "deployment": {"slug": "shop"},
        "environment": {"name": "production"},
        "resource": {"identifier": "eu-1", "metadata": {}},
        "proposed_version": {"tag": "v2"},
        "current_version": None,
    }


def _manifest(number: int) -> dict[str, Any]:
    container = {
        "name": "main",
        "image": f"registry.example/shop/app:{number}",
        "args": ["--port=8080", f"--shard={number}"],
        "env": [{"name": f"OPTION_{n}", "value": "x" * 20} for n in range(8)],
        "resources": {"limits": {"memory": "1Gi"}, "requests": {"cpu": "100m"}},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": f"app-{number}",
            "namespace": "shop",
            "labels": {"app.kubernetes.io/name": "shop", "team": "web"},
        },
        "spec": {"replicas": 3, "template": {"spec": {"containers": [container]}}},
    }
