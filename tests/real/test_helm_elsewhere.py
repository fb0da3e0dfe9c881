"""The helm agent where helm talks to others: a chart repository, a registry, a cluster."""

import base64
import gzip
import hashlib
import json
import subprocess
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from foretell.agents.helm.agent import HelmAgent
from foretell.domain.errors import AgentRejected, AgentUnavailable
from foretell.domain.plan import JsonObject
from foretell.domain.result import Done, KindResult
from foretell.ports import AgentTools
from foretell.testing.agents import a_context, a_side, agent_tools

CANARY = "canary-77aa-secret"
CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {a: %s}\n"


class Site:
    """Answers GET and HEAD with what was put under a path, as JSON unless `types` says else.

    Anything else is 404. Remembers who asked.
    """

    def __init__(self) -> None:
        self.pages: dict[str, bytes] = {}
        self.types: dict[str, str] = {}
        self.credentials: set[str] = set()
        site = self

        class Answers(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                self.head()

            def do_GET(self) -> None:
                self.wfile.write(self.head())

            def head(self) -> bytes:
                site.credentials.add(self.headers.get("Authorization", ""))
                path = self.path.partition("?")[0]
                page = site.pages.get(path)
                self.send_response(404 if page is None else 200)
                body = page or b'{"kind":"Status","apiVersion":"v1","code":404}'
                self.send_header("Content-Type", site.types.get(path, "application/json"))
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                return body

            def log_message(self, format: str, *args: Any) -> None:
                """Silent."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site()
    thread = threading.Thread(target=made.server.serve_forever, daemon=True)
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    folder = tmp_path / "web"
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text("apiVersion: v2\nname: web\nversion: 1.2.3\n")
    (folder / "values.yaml").write_text("a: packed\n")
    (folder / "templates" / "c.yaml").write_text(CONFIG_MAP % "{{ .Values.a }}")
    path = tmp_path / "web-1.2.3.tgz"
    subprocess.run(["tar", "czf", str(path), "-C", str(tmp_path), "web"], check=True)
    return path


@pytest.fixture(params=["helm4", "helm3"])
async def tools(
    request: pytest.FixtureRequest, real_program: Callable[[str], Path], tmp_path: Path, site: Site
) -> AsyncIterator[AgentTools]:
    # The registry of these tests has no certificate that a machine would trust.
    helm = tmp_path / "helm"
    program = real_program(request.param)
    helm.write_text(
        f'#!/bin/sh\ncase "$*" in *oci://localhost*) set -- "$@" --plain-http;; esac\n'
        f'exec "{program}" "$@"\n'
    )
    helm.chmod(0o755)
    settings = {
        "helm": str(helm),
        "cacheDir": str(tmp_path / "cache"),
        "chartRoots": [str(tmp_path)],
    }
    environ = {
        "KUBECONFIG_TEXT": kubeconfig(site.url),
        "REPOSITORY": site.url.replace("://", f"://reader:{CANARY}@"),
        "EXEC": kubeconfig(site.url).replace(f"token: {CANARY}", "exec: {command: sh}"),
        "FILES": kubeconfig(site.url).replace(f"token: {CANARY}", "tokenFile: /etc/hostname"),
    }
    async with agent_tools(settings, environ=environ) as made:
        yield made


def kubeconfig(url: str) -> str:
    return (
        "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
        f"clusters: [{{name: c, cluster: {{server: '{url}'}}}}]\n"
        "contexts: [{name: c, context: {cluster: c, user: u}}]\n"
        f"users:\n- name: u\n  user:\n    token: {CANARY}\n"
    )


async def planned(tools: AgentTools, config: JsonObject) -> Done:
    context = a_context("helm", current=None, proposed=a_side(config))
    outcome = await HelmAgent(tools).plan(context, None)
    assert isinstance(outcome, Done)
    return outcome


def manifest(done: Done) -> KindResult:
    return done.results[0]


def push_chart(site: Site, packed: Path) -> str:
    """The chart in a registry (OCI distribution and image specifications, Helm's media types)."""
    config = json.dumps({"apiVersion": "v2", "name": "web", "version": "1.2.3"}).encode()
    place = "/v2/charts/web"

    def blob(content: bytes, kind: str) -> dict[str, Any]:
        digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
        site.pages[f"{place}/blobs/{digest}"] = content
        site.types[f"{place}/blobs/{digest}"] = "application/octet-stream"
        return {"mediaType": kind, "digest": digest, "size": len(content)}

    media_type = "application/vnd.oci.image.manifest.v1+json"
    layer = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
    manifest = {
        "schemaVersion": 2,
        "mediaType": media_type,
        "config": blob(config, "application/vnd.cncf.helm.config.v1+json"),
        "layers": [blob(packed.read_bytes(), layer)],
    }
    text = json.dumps(manifest).encode()
    for name in ("1.2.3", f"sha256:{hashlib.sha256(text).hexdigest()}"):
        site.pages[f"{place}/manifests/{name}"] = text
        site.types[f"{place}/manifests/{name}"] = media_type
    site.pages["/v2/"] = b"{}"
    site.pages[f"{place}/tags/list"] = json.dumps(
        {"name": "charts/web", "tags": ["1.2.3"]}
    ).encode()
    return site.url.replace("http://127.0.0.1", "oci://localhost") + "/charts/web"


@pytest.mark.parametrize("revision", ["1.2.3", None])
async def test_a_chart_comes_from_a_registry(
    tools: AgentTools, site: Site, packed: Path, revision: str | None
) -> None:
    config: JsonObject = {"chart": push_chart(site, packed), "values": {"a": "given"}}
    done = await planned(tools, config | ({"revision": revision} if revision else {}))
    assert "a: given" in manifest(done).proposed


async def test_a_version_that_a_registry_does_not_have_is_named(
    tools: AgentTools, site: Site, packed: Path
) -> None:
    chart = push_chart(site, packed)
    with pytest.raises((AgentRejected, AgentUnavailable), match=r"9\.9\.9"):
        await planned(tools, {"chart": chart, "revision": "9.9.9"})


def publish_chart(site: Site, packed: Path) -> None:
    index = {
        "apiVersion": "v1",
        "entries": {
            "web": [{"apiVersion": "v2", "name": "web", "version": "1.2.3", "urls": [packed.name]}]
        },
    }
    site.pages["/index.yaml"] = json.dumps(index).encode()
    site.pages[f"/{packed.name}"] = packed.read_bytes()


async def test_a_chart_of_a_repository_is_pulled_and_rendered(
    tools: AgentTools, site: Site, packed: Path
) -> None:
    publish_chart(site, packed)
    config = {"chart": "web", "repoURL": site.url, "revision": "1.2.3"}
    assert "a: packed" in manifest(await planned(tools, config)).proposed


async def test_credentials_reach_the_repository_and_nobody_else(
    tools: AgentTools, site: Site, packed: Path
) -> None:
    publish_chart(site, packed)
    config: JsonObject = {"chart": "web", "repoURL": {"env": "REPOSITORY"}, "revision": "1.2.3"}
    done = await planned(tools, config)
    basic = base64.b64encode(f"reader:{CANARY}".encode()).decode()
    assert f"Basic {basic}" in site.credentials
    assert CANARY not in repr(done)
    site.pages.clear()
    with pytest.raises(AgentRejected) as caught:
        await HelmAgent(tools).plan(
            a_context("helm", current=None, proposed=a_side(config), plan="p-2"), None
        )
    assert CANARY not in caught.value.message


async def test_a_version_that_is_not_published_is_named(
    tools: AgentTools, site: Site, packed: Path
) -> None:
    publish_chart(site, packed)
    with pytest.raises(AgentRejected, match=r"chart web 9\.9\.9"):
        await planned(tools, {"chart": "web", "repoURL": site.url, "revision": "9.9.9"})


@pytest.mark.parametrize(
    "config",
    [
        {"chart": "web", "repoURL": "http://127.0.0.1:9"},
        {"chart": "oci://127.0.0.1:9/charts/web", "revision": "1.0.0"},
    ],
)
async def test_what_can_not_be_reached_is_asked_again(
    tools: AgentTools, config: JsonObject
) -> None:
    with pytest.raises(AgentUnavailable, match="helm could not pull chart"):
        await planned(tools, config)


def publish_release(site: Site, text: str) -> None:
    release = {
        "name": "web",
        "namespace": "default",
        "version": 1,
        "manifest": text,
        "info": {"status": "deployed"},
        "chart": {"metadata": {"name": "web", "version": "1.2.3"}},
    }
    stored = base64.b64encode(gzip.compress(json.dumps(release).encode()))
    secret = {
        "metadata": {
            "name": "sh.helm.release.v1.web.v1",
            "labels": {"name": "web", "owner": "helm", "status": "deployed", "version": "1"},
        },
        "type": "helm.sh/release.v1",
        "data": {"release": base64.b64encode(stored).decode()},
    }
    listed = {"kind": "SecretList", "apiVersion": "v1", "metadata": {}, "items": [secret]}
    site.pages["/version"] = json.dumps(
        {"major": "1", "minor": "33", "gitVersion": "v1.33.0"}
    ).encode()
    site.pages["/api/v1/namespaces/default/secrets"] = json.dumps(listed).encode()


def live_config(packed: Path, reference: str = "KUBECONFIG_TEXT") -> JsonObject:
    return {"chart": packed.name, "kubeconfig": {"env": reference}}


async def test_the_live_release_is_the_current_side(
    tools: AgentTools, site: Site, packed: Path
) -> None:
    publish_release(site, "---\n" + CONFIG_MAP % "deployed")
    done = await planned(tools, live_config(packed))
    (change,) = manifest(done).resources
    assert str(change.action) == "modify"
    assert "-  a: deployed" in change.diff
    assert [str(result.kind) for result in done.results] == ["manifest"]
    assert CANARY not in repr(done)


async def test_no_live_release_is_a_new_target(tools: AgentTools, site: Site, packed: Path) -> None:
    publish_release(site, "")
    site.pages["/api/v1/namespaces/default/secrets"] = json.dumps(
        {"kind": "SecretList", "apiVersion": "v1", "metadata": {}, "items": []}
    ).encode()
    (change,) = manifest(await planned(tools, live_config(packed))).resources
    assert "new target" in change.tags


@pytest.mark.parametrize(("reference", "key"), [("EXEC", "exec"), ("FILES", "tokenFile")])
async def test_a_kubeconfig_that_runs_programs_or_reads_files_is_refused(
    tools: AgentTools, packed: Path, reference: str, key: str
) -> None:
    with pytest.raises(AgentRejected, match=key):
        await planned(tools, live_config(packed, reference))
