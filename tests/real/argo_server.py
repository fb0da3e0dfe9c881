"""A real Argo CD on a real API server, on loopback, with token accounts: `start_argo_cd`.

Its own programs run as in a cluster, with role-based access and no disabled authentication; git
repositories are folders of this machine (`file://`).
"""

import base64
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx
import yaml
from argo_children import PATIENCE_SECONDS, Children, free_ports, listens
from argo_kubernetes import Find, Kubernetes, start_kubernetes

T = TypeVar("T")
IN_CLUSTER = "https://kubernetes.default.svc"
PARTS = ("redis", "repo", "repo-metrics", "server", "server-metrics")
MORE_PARTS = ("controller-metrics", "sets-metrics", "sets-probe", "sets-webhook")


@dataclass(frozen=True, slots=True)
class ArgoCd:
    """`tokens` holds one API token for each account that was asked for."""

    address: str
    kubernetes: Kubernetes
    tokens: Mapping[str, str]
    children: Children

    def api(self, account: str) -> httpx.Client:
        """A client of the API that speaks as `account`; whoever takes it closes it."""
        said = {"Authorization": f"Bearer {self.tokens[account]}"}
        return httpx.Client(base_url=f"{self.address}/api/v1", headers=said, timeout=60)

    def manifests(self, account: str, application: str) -> list[dict[str, Any]]:
        with self.api(account) as api:
            answered = api.get(f"/applications/{application}/manifests")
        assert answered.is_success, answered.text
        return [json.loads(each) for each in answered.json()["manifests"]]

    def until(self, found: Callable[[], T]) -> T:
        """What `found` gives, once that is something."""
        ends_at = time.monotonic() + PATIENCE_SECONDS
        while not (answer := found()):
            assert time.monotonic() < ends_at, "it did not come about"
            time.sleep(0.05)
        return answer

    def until_application(self, name: str) -> dict[str, Any]:
        """The Application, once there is one and the controller has compared it."""
        return self.until(lambda: self._compared(name))

    def _compared(self, name: str) -> dict[str, Any]:
        found = self.kubernetes.get("Application", name) or {}
        return found if "sync" in found.get("status", {}) else {}


@contextmanager
def start_argo_cd(find: Find, folder: Path, accounts: Mapping[str, str]) -> Iterator[ArgoCd]:
    """Yields once everything answers; at the end every program that was started is gone.

    `accounts` gives each account its lines of policy (`p, …`) in Argo CD's own form.
    """
    children = Children(folder)
    with ExitStack() as stack:
        stack.callback(children.stop)
        started = _start(find, children, folder, accounts)
        stack.callback(started.kubernetes.http.close)
        yield started


def _start(find: Find, children: Children, folder: Path, accounts: Mapping[str, str]) -> ArgoCd:
    ports = dict(zip(PARTS + MORE_PARTS, free_ports(len(PARTS + MORE_PARTS)), strict=True))
    env = _environment(find, folder)
    _start_redis(find, children, ports)
    _start_repository_server(find, children, ports, env)
    kubernetes = start_kubernetes(find, children, folder)
    crds = find("argocd").parent / "crds"
    kubernetes.apply(
        *(_read(path) for path in sorted(crds.glob("*-crd.yaml"))),
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "argocd"}},
        *_configuration(accounts),
    )
    _until_defined(children, kubernetes)
    env = {**env, "KUBECONFIG": str(kubernetes.kubeconfig)}
    _start_server(find, children, ports, env)
    _start_controllers(find, children, ports, env)
    address = f"http://127.0.0.1:{ports['server']}"
    children.until("argocd-server", lambda: _healthy(address))
    tokens = _tokens(children, kubernetes, address, accounts)
    children.until("argocd-repo-server", lambda: listens(ports["repo"]))
    return ArgoCd(address, kubernetes, tokens, children)


def _read(path: Path) -> Any:
    # By the library in C: one of these files has a megabyte, which takes the other one seconds.
    return yaml.load(path.read_text(), Loader=yaml.CSafeLoader)


def _environment(find: Find, folder: Path) -> dict[str, str]:
    made = [folder / name for name in ("home", "tmp", "tls", "ssh")]
    for each in made:
        each.mkdir()
    (folder / "ssh" / "ssh_known_hosts").touch()
    # Argo CD 3.1 takes helm and kustomize from the PATH, and helm must be of major version 3.
    programs = [str(find(name).parent) for name in ("helm3", "kustomize", "git")]
    home, tmp, tls, ssh = map(str, made)
    return {
        "PATH": os.pathsep.join([*programs, os.defpath]),
        "HOME": home,
        "TMPDIR": tmp,
        "ARGOCD_GPG_ENABLED": "false",
        "ARGOCD_TLS_DATA_PATH": tls,
        "ARGOCD_SSH_DATA_PATH": ssh,
        "ARGOCD_FAKE_IN_CLUSTER": "true",
    }


def _start_redis(find: Find, children: Children, ports: Mapping[str, int]) -> None:
    program = str(find("redis-server"))
    options = ["--bind", "127.0.0.1", "--port", str(ports["redis"])]
    kept = ["--save", "", "--appendonly", "no"]
    children.start("redis-server", [program, *options, *kept], {"PATH": os.defpath})


def _start_repository_server(
    find: Find, children: Children, ports: Mapping[str, int], env: Mapping[str, str]
) -> None:
    children.start(
        "argocd-repo-server",
        [
            str(find("argocd")),
            f"--redis=127.0.0.1:{ports['redis']}",
            "--address=127.0.0.1",
            f"--port={ports['repo']}",
            "--metrics-address=127.0.0.1",
            f"--metrics-port={ports['repo-metrics']}",
            "--disable-tls",
        ],
        {**env, "ARGOCD_BINARY_NAME": "argocd-repo-server"},
    )


def _start_server(
    find: Find, children: Children, ports: Mapping[str, int], env: Mapping[str, str]
) -> None:
    children.start(
        "argocd-server",
        [
            str(find("argocd")),
            *_reaches(ports),
            "--insecure",  # plain HTTP, on loopback; who calls still needs a token
            "--address=127.0.0.1",
            f"--port={ports['server']}",
            "--metrics-address=127.0.0.1",
            f"--metrics-port={ports['server-metrics']}",
        ],
        {**env, "ARGOCD_BINARY_NAME": "argocd-server"},
    )


def _start_controllers(
    find: Find, children: Children, ports: Mapping[str, int], env: Mapping[str, str]
) -> None:
    program = str(find("argocd"))
    children.start(
        "argocd-application-controller",
        [program, *_reaches(ports), f"--metrics-port={ports['controller-metrics']}"],
        {**env, "ARGOCD_BINARY_NAME": "argocd-application-controller"},
    )
    children.start(
        "argocd-applicationset-controller",
        [
            program,
            "--namespace=argocd",
            f"--argocd-repo-server=127.0.0.1:{ports['repo']}",
            "--repo-server-plaintext",
            f"--metrics-addr=127.0.0.1:{ports['sets-metrics']}",
            f"--probe-addr=127.0.0.1:{ports['sets-probe']}",
            f"--webhook-addr=127.0.0.1:{ports['sets-webhook']}",
        ],
        {**env, "ARGOCD_BINARY_NAME": "argocd-applicationset-controller"},
    )


def _reaches(ports: Mapping[str, int]) -> list[str]:
    repository = [f"--repo-server=127.0.0.1:{ports['repo']}", "--repo-server-plaintext"]
    return [*repository, f"--redis=127.0.0.1:{ports['redis']}", "--namespace=argocd"]


def _configuration(accounts: Mapping[str, str]) -> list[dict[str, Any]]:
    config = {f"accounts.{name}": "apiKey" for name in accounts}
    access = {"policy.default": "", "policy.csv": "\n".join(accounts.values())}
    return [
        _configured("ConfigMap", "argocd-cm", {"data": config}),
        _configured("ConfigMap", "argocd-rbac-cm", {"data": access}),
        _configured("Secret", "argocd-secret", {"type": "Opaque"}),
        *(
            _configured("ConfigMap", name, {})
            for name in ("argocd-gpg-keys-cm", "argocd-ssh-known-hosts-cm", "argocd-tls-certs-cm")
        ),
    ]


def _configured(kind: str, name: str, rest: Mapping[str, Any]) -> dict[str, Any]:
    # What lacks this label is invisible to it.
    labels = {"app.kubernetes.io/part-of": "argocd"}
    about = {"name": name, "namespace": "argocd", "labels": labels}
    return {"apiVersion": "v1", "kind": kind, "metadata": about, **rest}


def _until_defined(children: Children, kubernetes: Kubernetes) -> None:
    """A definition that was just applied is served a moment later."""

    def served() -> bool:
        answered = kubernetes.http.get("/apis/argoproj.io/v1alpha1")
        return answered.is_success and {each["name"] for each in answered.json()["resources"]} >= {
            "applications",
            "applicationsets",
            "appprojects",
        }

    children.until("kube-apiserver", served)


def _healthy(address: str) -> bool:
    try:
        return httpx.get(f"{address}/healthz").is_success
    except httpx.TransportError:
        return False


def _tokens(
    children: Children, kubernetes: Kubernetes, address: str, accounts: Mapping[str, str]
) -> dict[str, str]:
    """One token for each account, made as an administrator makes them: over the API."""
    # The server writes the first password where administrators find it.
    children.until(
        "argocd-server",
        lambda: kubernetes.get("Secret", "argocd-initial-admin-secret") is not None,
    )
    secret = kubernetes.get("Secret", "argocd-initial-admin-secret") or {}
    password = base64.b64decode(secret["data"]["password"]).decode()
    with httpx.Client(base_url=f"{address}/api/v1", timeout=30) as api:
        named = {"username": "admin", "password": password}
        session = api.post("/session", json=named).raise_for_status().json()["token"]
        api.headers["Authorization"] = f"Bearer {session}"
        return {
            name: api.post(f"/account/{name}/token", json={}).raise_for_status().json()["token"]
            for name in accounts
        }
