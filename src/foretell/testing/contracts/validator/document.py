"""The invocation that the contract's rules judge, as RFC 0013's flat document."""

from typing import Any, Final


def _deployment(name: str, image: str, replicas: int, **limits: str) -> dict[str, Any]:
    container = {"name": "main", "image": image, "resources": {"limits": limits}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "shop", "labels": {"team": "web"}},
        "spec": {"replicas": replicas, "template": {"spec": {"containers": [container]}}},
    }


_OLD: Final = _deployment("web", "registry.example/web:1.4.2", 3, memory="512Mi", cpu="500m")
_NEW: Final = _deployment("web", "registry.example/web:latest", 12, memory="2Gi")
_GONE: Final = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "old"}}
_SETTINGS: Final = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "settings", "namespace": "shop"},
    "data": {"app.json": '{"debug": true, "ports": [80, 443]}', "app.yaml": "level: info\n"},
}


def _change(item: dict[str, Any], action: str, before: Any, after: Any) -> dict[str, Any]:
    metadata = item["metadata"]
    return {
        "kind": item["kind"],
        "name": metadata["name"],
        "namespace": metadata.get("namespace", ""),
        "action": action,
        "before": before,
        "after": after,
    }


DOCUMENT: Final[dict[str, Any]] = {
    "manifest": {
        "current": [_OLD, _GONE, _SETTINGS],
        "proposed": [_NEW, _SETTINGS],
        "has_changes": True,
        "changes": [
            _change(_NEW, "modify", [_OLD], [_NEW]),
            _change(_GONE, "delete", [_GONE], ""),
        ],
    },
    "values": {
        "current": {"id": 9007199254740993, "ratio": 0.25, "größe": "klein"},
        "proposed": {"id": 9007199254740994, "ratio": 0.5, "größe": "groß"},
        "has_changes": None,
        "changes": [],
    },
    "agent_type": "helm",
    "deployment": {"id": "d", "slug": "shop", "name": "Shop", "metadata": {"tier": "1"}},
    "environment": {"id": "e", "name": "production", "metadata": {}},
    "resource": {
        "id": "r",
        "identifier": "eu-west",
        "name": "Ireland",
        "kind": "kubernetes",
        "version": "1.37",
        "config": {"cidr": "10.1.0.0/16"},
        "metadata": {"owner": "web@example.test"},
    },
    "proposed_version": {"tag": "v1.5.0-rc.1", "name": "", "config": {}, "metadata": {}},
    "current_version": None,
}
