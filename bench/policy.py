"""Judging 200 manifests by ten rules, beside the bare engine on the same document.

The peer has the same limits in a process of its own: one engine that holds all ten rules compiled,
reads each document once and is asked for ten `deny` and ten `warn` sets. Ours is the whole path:
the document as JSON, the child, every rule kept from the others, the verdicts. The two take turns,
and the sums are compared: what else the machine does meanwhile hits both. Needs `foretell[rego]`;
the opa program is measured too where `FORETELL_OPA` names it or it is on PATH.
"""

import asyncio
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench import Line
from foretell.domain.verdict import Rule
from foretell.policy.opa import Opa
from foretell.policy.regorus import LIMITS, Regorus
from foretell.ports import Validator

INVOCATIONS = 1_000
TURN = 25
LONGEST_SECONDS = 110
"""A busy machine would take longer: it does fewer invocations, and the line says how many."""
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
    """The ratio to the bare engine, and the first answers after a start beside their goal."""
    document = _document()
    rules = [Rule("bench", name, (EXAMPLES / f"{name}.rego").read_text()) for name in NAMES]
    first, ours, bare, done = asyncio.run(_judge(rules, document))
    note = (
        f"ours {1000 * ours / done:.1f} ms an invocation, bare engine {1000 * bare / done:.1f} ms, "
        f"over {done:,} of {INVOCATIONS:,} invocations: {len(rules)} rules on {MANIFESTS} "
        f"manifests, {len(json.dumps(document)) / 1000:.0f} kB"
    )
    yield Line("policy.judge", ours / bare, 1.5, note)
    yield Line("policy.first", first / FIRST_WITHIN, 1.0, f"{first:.2f} s to the first verdicts")
    if program := os.environ.get("FORETELL_OPA") or shutil.which("opa"):
        first, warm = asyncio.run(_opa(Path(program), rules, document))
        note = f"{first:.2f} s to the first verdicts of the opa program, {1000 * warm:.0f} ms warm"
        yield Line("policy.opa_first", first / FIRST_WITHIN, 1.0, note)


async def _judge(rules: list[Rule], document: dict[str, Any]) -> tuple[float, float, float, int]:
    """Seconds to the first verdicts, of all our turns, of all of the bare engine's; how many."""
    ours = bare = 0.0
    done, ends_at = 0, time.perf_counter() + LONGEST_SECONDS
    async with Regorus(size=1) as engine:
        first = await _once(engine, rules, document)
        with _bare(rules, json.dumps(document)) as peer:
            while done < INVOCATIONS and time.perf_counter() < ends_at:
                ours += sum([await _once(engine, rules, document) for _ in range(TURN)])
                bare += _turn(peer)
                done += TURN
    return first, ours, bare, done


async def _opa(program: Path, rules: list[Rule], document: dict[str, Any]) -> tuple[float, float]:
    async with Opa(program) as engine:
        first = await _once(engine, rules, document)
        return first, min([await _once(engine, rules, document) for _ in range(TURN)])


async def _once(engine: Validator, rules: list[Rule], document: dict[str, Any]) -> float:
    began = time.perf_counter()
    await engine.evaluate(rules, document)
    return time.perf_counter() - began


@contextmanager
def _bare(rules: list[Rule], document: str) -> Iterator[subprocess.Popen[str]]:
    """The bare engine, started and with everything compiled; each line makes it take a turn."""
    with subprocess.Popen(
        [sys.executable, "-c", _BARE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (LIMITS.memory_bytes,) * 2),
    ) as peer:
        assert peer.stdin is not None
        request = {"rules": [rule.rego for rule in rules], "document": document, "times": TURN}
        peer.stdin.write(json.dumps(request) + "\n")
        yield peer
        peer.stdin.close()


def _turn(peer: subprocess.Popen[str]) -> float:
    assert peer.stdin is not None
    assert peer.stdout is not None
    peer.stdin.write("\n")
    peer.stdin.flush()
    return float(peer.stdout.readline())


_BARE = """
import json, sys, time, regorus
request = json.loads(sys.stdin.readline())
engine = regorus.Engine()
packages = [engine.add_policy(str(n), text) for n, text in enumerate(request["rules"])]
engine.eval_query("true")
for _ in sys.stdin:
    began = time.perf_counter()
    for _ in range(request["times"]):
        engine.set_input_json(request["document"])
        for package in packages:
            for name in ("deny", "warn"):
                json.loads(engine.eval_query_as_json(package + "." + name))
    print(time.perf_counter() - began, flush=True)
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
