"""Applications as tests write them."""

from collections.abc import Mapping
from typing import Any


def an_application(
    name: str,
    *sources: Mapping[str, Any],
    project: str = "default",
    namespace: str = "shop",
    **metadata: Any,
) -> dict[str, Any]:
    """With `source` for one source and `sources` for several, synced automatically."""
    one = {"source": dict(sources[0])} if len(sources) == 1 else {}
    several = {"sources": [dict(each) for each in sources]} if len(sources) > 1 else {}
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": name, **metadata},
        "spec": {
            "project": project,
            "destination": {"server": "https://kubernetes.default.svc", "namespace": namespace},
            "syncPolicy": {"automated": {"prune": True}},
            **one,
            **several,
        },
    }
