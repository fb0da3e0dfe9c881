"""A Kubernetes API server with RBAC on loopback: etcd and kube-apiserver, and no kubelet."""

import json
import os
import secrets
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from argo_children import Children, free_ports

Find = Callable[[str], Path]
Object = Mapping[str, Any]

KINDS = {
    "Namespace": "namespaces",
    "Secret": "secrets",
    "ConfigMap": "configmaps",
    "CustomResourceDefinition": "customresourcedefinitions",
    "Application": "applications",
    "ApplicationSet": "applicationsets",
    "AppProject": "appprojects",
}
CLUSTER_WIDE = {"Namespace", "CustomResourceDefinition"}


@dataclass(frozen=True, slots=True)
class Kubernetes:
    """The API server as its administrator sees it; `kubeconfig` says the same to programs."""

    address: str
    kubeconfig: Path
    http: httpx.Client

    def apply(self, *objects: Object) -> None:
        """Makes each object what is given, on the server's side."""
        for each in objects:
            self.answer(
                "PATCH",
                self._path(each),
                params={"fieldManager": "tests", "force": "true"},
                headers={"Content-Type": "application/apply-patch+yaml"},
                content=json.dumps(each),
            )

    def create(self, each: Object) -> None:
        self.answer("POST", self._path(each).rpartition("/")[0], json=each)

    def get(self, kind: str, name: str) -> dict[str, Any] | None:
        """An object of Argo CD's namespace; None where there is none."""
        found = self.http.get(self._path(_argo(kind, name)))
        return None if found.status_code == 404 else dict(found.raise_for_status().json())

    def names(self, kind: str) -> set[str]:
        path = self._path(_argo(kind, "x")).rpartition("/")[0]
        return {each["metadata"]["name"] for each in self.answer("GET", path)["items"]}

    def remove(self, kind: str, name: str) -> None:
        """Deletes it whatever holds it; gone already is no error."""
        path = self._path(_argo(kind, name))
        merge = {"Content-Type": "application/merge-patch+json"}
        self.http.patch(path, headers=merge, content='{"metadata": {"finalizers": null}}')
        self.http.delete(path)

    def patch(self, kind: str, name: str, change: Object) -> None:
        """A merge patch."""
        self.answer(
            "PATCH",
            self._path(_argo(kind, name)),
            headers={"Content-Type": "application/merge-patch+json"},
            content=json.dumps(change),
        )

    def answer(self, method: str, path: str, **how: Any) -> dict[str, Any]:
        answered = self.http.request(method, path, **how)
        assert answered.is_success, f"{method} {path}: {answered.status_code} {answered.text}"
        return dict(answered.json())

    def _path(self, each: Object) -> str:
        version, kind, about = each["apiVersion"], each["kind"], each["metadata"]
        group = f"/apis/{version}" if "/" in version else f"/api/{version}"
        where = "" if kind in CLUSTER_WIDE else f"/namespaces/{about.get('namespace', 'argocd')}"
        return f"{group}{where}/{KINDS[kind]}/{about['name']}"


def _argo(kind: str, name: str) -> dict[str, Any]:
    core = kind in ("Secret", "ConfigMap", "Namespace")
    version = "v1" if core else "argoproj.io/v1alpha1"
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}}


def start_kubernetes(find: Find, children: Children, folder: Path) -> Kubernetes:
    """Starts both programs and returns once the API server says that it is ready."""
    client, peer, port = free_ports(3)
    _start_etcd(find("etcd"), children, folder, client, peer)
    token = secrets.token_urlsafe(16)
    _start_api_server(find("kube-apiserver"), children, folder, (client, port), token)
    address = f"https://127.0.0.1:{port}"
    kubeconfig = folder / "kubeconfig"
    kubeconfig.write_text(json.dumps(_kubeconfig(address, token)))
    # The certificate is made at the start, for this run and this address alone.
    http = httpx.Client(
        base_url=address, headers={"Authorization": f"Bearer {token}"}, verify=False, timeout=30
    )

    def ready() -> bool:
        try:
            return http.get("/readyz").text == "ok"
        except httpx.TransportError:
            return False

    children.until("kube-apiserver", ready)
    return Kubernetes(address, kubeconfig, http)


def _start_etcd(etcd: Path, children: Children, folder: Path, client: int, peer: int) -> None:
    mine, others = f"http://127.0.0.1:{client}", f"http://127.0.0.1:{peer}"
    children.start(
        "etcd",
        [
            str(etcd),
            f"--data-dir={folder / 'etcd'}",
            f"--listen-client-urls={mine}",
            f"--advertise-client-urls={mine}",
            f"--listen-peer-urls={others}",
            f"--initial-advertise-peer-urls={others}",
            f"--initial-cluster=default={others}",
            "--unsafe-no-fsync",
        ],
        {"PATH": os.defpath},
    )


def _start_api_server(
    program: Path, children: Children, folder: Path, ports: tuple[int, int], token: str
) -> None:
    etcd, port = ports
    key = folder / "service-accounts.key"
    subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
    tokens = folder / "tokens.csv"
    tokens.write_text(f'{token},admin,admin,"system:masters"\n')
    tokens.chmod(0o600)
    children.start(
        "kube-apiserver",
        [
            str(program),
            f"--etcd-servers=http://127.0.0.1:{etcd}",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--bind-address=127.0.0.1",
            f"--secure-port={port}",
            # Without it a loopback address is refused.
            "--endpoint-reconciler-type=none",
            f"--cert-dir={folder / 'certificates'}",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
            f"--token-auth-file={tokens}",
            "--authorization-mode=RBAC",
            # Service accounts are made by a controller that is not here.
            "--disable-admission-plugins=ServiceAccount",
        ],
        {"PATH": os.defpath},
    )


def _kubeconfig(address: str, token: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {"name": "here", "cluster": {"server": address, "insecure-skip-tls-verify": True}}
        ],
        "users": [{"name": "admin", "user": {"token": token}}],
        "contexts": [
            {
                "name": "argocd",
                "context": {"cluster": "here", "user": "admin", "namespace": "argocd"},
            }
        ],
        "current-context": "argocd",
    }
