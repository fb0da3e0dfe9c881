"""Made-up objects, short to write."""

import json
import os
from typing import Any

from hypothesis import settings

from foretell.formats.kubernetes import CompareOptions, Comparison, compare

law = settings(max_examples=int(os.environ.get("FORETELL_FUZZ_EXAMPLES", "50")), deadline=None)
"""Of a test that holds for every input; more examples make it a fuzz run."""


def config_map(name: str, namespace: str = "n", /, **data: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
        "data": data,
    }


def secret(name: str = "s", /, **fields: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": "n"},
        **fields,
    }


def deployment(name: str = "d", /, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "n"},
        "spec": {"replicas": 1, **spec},
    }


def stream(*objects: Any) -> str:
    """One document each; JSON, in which every object is YAML of one line too."""
    return "".join(f"---\n{one if isinstance(one, str) else json.dumps(one)}\n" for one in objects)


def compared(before: list[Any], after: list[Any], **options: Any) -> Comparison:
    return compare(stream(*before), stream(*after), CompareOptions(**options))


def seen(comparison: Comparison) -> list[tuple[str, str]]:
    """What is shown: action and namespace/name."""
    return [(one.action.value, f"{one.namespace}/{one.name}") for one in comparison.changes]
