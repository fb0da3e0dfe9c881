"""The helm agent on the real helm: charts from git, packed and broken ones, and secrets."""

import asyncio
import subprocess
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from foretell.agents.helm.agent import HelmAgent
from foretell.agents.helm.render import RENDERS
from foretell.domain.context import Source
from foretell.domain.errors import AgentError, AgentRejected
from foretell.domain.plan import InvocationId, JsonObject
from foretell.domain.result import Action, Done, KindResult
from foretell.domain.target import CompareSettings, IgnoreEntry
from foretell.ports import AgentTools
from foretell.testing.agents import a_context, a_side, agent_tools
from foretell.testing.contracts.agent import AgentContract, AgentQuestion

CANARY = "canary-8d1f-secret"
GIT = ("git", "-c", "user.name=t", "-c", "user.email=t@example.test")

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}, namespace: {{ .Release.Namespace }}}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: web
          image: "web:{{ .Values.tag }}"
          env: [{name: GREETING, value: {{ .Values.greeting | quote }}}]
"""
SECRET = """\
apiVersion: v1
kind: Secret
metadata: {name: web}
stringData: {password: {{ .Values.password | quote }}}
"""


@dataclass(frozen=True)
class Charts:
    """A repository with one chart, committed as `base` and `head`."""

    folder: Path

    def write(self, name: str, content: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)

    def commit(self) -> Source:
        subprocess.run([*GIT, "add", "-A"], cwd=self.folder, check=True)
        subprocess.run([*GIT, "commit", "-qm", "x", "--allow-empty"], cwd=self.folder, check=True)
        asked = subprocess.run(
            ["git", "rev-parse", "HEAD"],
            cwd=self.folder,
            check=True,
            capture_output=True,
            text=True,
        )
        return Source(str(self.folder), asked.stdout.strip())


@pytest.fixture
def charts(tmp_path: Path) -> Charts:
    folder = tmp_path / "repository"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True)
    made = Charts(folder)
    made.write("charts/web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n")
    made.write(
        "charts/web/values.yaml",
        "replicas: 1\ntag: v1\ngreeting: hello\npassword: from-the-chart\n",
    )
    made.write("charts/web/templates/deployment.yaml", DEPLOYMENT)
    made.write("charts/web/templates/secret.yaml", SECRET)
    return made


@pytest.fixture(params=["helm4", "helm3"])
async def tools(
    request: pytest.FixtureRequest, real_program: Callable[[str], Path], tmp_path: Path
) -> AsyncIterator[AgentTools]:
    settings = {
        "helm": str(real_program(request.param)),
        "cacheDir": str(tmp_path / "cache"),
        "chartRoots": [str(tmp_path / "roots")],
    }
    async with agent_tools(settings, environ={"TOKEN": CANARY}) as made:
        yield made


CONFIG: JsonObject = {"chart": "charts/web", "values": {"tag": "{{ release.version.tag }}"}}


async def planned(
    tools: AgentTools,
    *,
    source: Source | None,
    config: JsonObject = CONFIG,
    current: Source | None = None,
    **more: Any,
) -> Done:
    context = a_context(
        "helm",
        current=a_side(config, tag="v1", source=current, **more) if current else None,
        proposed=a_side(config, tag="v2", source=source, **more),
    )
    outcome = await HelmAgent(tools).plan(context, None)
    assert isinstance(outcome, Done)
    return outcome


async def refused(
    tools: AgentTools, source: Source | None, config: JsonObject, **more: Any
) -> AgentError:
    with pytest.raises(AgentError) as caught:
        await planned(tools, source=source, config=config, **more)
    return caught.value


def renders_so_far() -> float:
    return next(sample.value for metric in RENDERS.collect() for sample in metric.samples)


def kinds(done: Done) -> dict[str, KindResult]:
    return {str(result.kind): result for result in done.results}


class TestContract(AgentContract):
    @pytest.fixture
    def question(self, tools: AgentTools, charts: Charts) -> AgentQuestion:
        source = charts.commit()
        config = {**CONFIG, "values": {"password": {"env": "TOKEN"}, "greeting": {"env": "TOKEN"}}}
        charts.write("charts/web/templates/fail.yaml", "{{ fail .Values.password }}")
        broken = charts.commit()
        return AgentQuestion(
            HelmAgent(tools),
            a_context("helm", current=None, proposed=a_side(config, source=source)),
            a_context("helm", current=None, proposed=a_side(config, source=broken)),
            (CANARY,),
        )


async def test_a_new_tag_changes_one_object_and_one_value(
    tools: AgentTools, charts: Charts
) -> None:
    source = charts.commit()
    found = kinds(await planned(tools, source=source, current=source))
    (change,) = found["manifest"].resources
    assert (change.kind, change.name, change.action) == ("Deployment", "web", Action.MODIFY)
    assert "-          image: web:v1" in change.diff or "image: web:v1" in change.diff
    assert (found["manifest"].additions, found["manifest"].deletions) == (1, 1)
    assert found["values"].has_changes is True
    assert "+tag: v2" in (found["values"].diff or "")


async def test_what_the_inventory_ignores_is_no_change_and_what_it_masks_is_in_no_answer(
    tools: AgentTools, charts: Charts
) -> None:
    source = charts.commit()
    values: JsonObject = {"chart": "charts/web", "values": {"greeting": "{{ variables.said }}"}}
    context = a_context(
        "helm",
        current=a_side(values, source=source, variables={"said": "quietly-before"}),
        proposed=a_side(values, source=source, variables={"said": "quietly-after"}),
    )
    greeting = '.spec.template.spec.containers[].env[] | select(.name == "GREETING")'
    asked = (
        CompareSettings(mask_names=("greeting",)),
        CompareSettings((IgnoreEntry(jq=(greeting,), kind="Deployment"),), ("greeting",)),
    )
    seen = []
    for compare in asked:
        done = await HelmAgent(tools).plan(replace(context, compare=compare), None)
        assert isinstance(done, Done)
        assert "quietly" not in repr(done)
        manifest = kinds(done)["manifest"]
        seen.append((manifest.has_changes, manifest.suppressed, done.message))
    masked, hidden = seen
    assert masked[:2] == (True, 0)
    assert "1 value masked by name" in masked[2]
    assert hidden[:2] == (False, 1)
    assert "1 object with only suppressed changes" in hidden[2]
    assert "1 of the chart's values masked by name" in hidden[2]


async def test_two_revisions_of_a_chart_are_compared(tools: AgentTools, charts: Charts) -> None:
    base = charts.commit()
    charts.write(
        "charts/web/templates/service.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n"
    )
    (charts.folder / "charts/web/templates/secret.yaml").unlink()
    head = charts.commit()
    done = await planned(tools, source=head, current=base)
    actions = {change.kind: change.action for change in kinds(done)["manifest"].resources}
    assert actions == {
        "Service": Action.ADD,
        "Secret": Action.DELETE,
        "Deployment": Action.MODIFY,
    }


async def test_with_nothing_known_of_now_everything_is_a_new_target(
    tools: AgentTools, charts: Charts
) -> None:
    done = await planned(tools, source=charts.commit())
    changes = kinds(done)["manifest"].resources
    assert {change.action for change in changes} == {Action.ADD}
    assert all("new target" in change.tags for change in changes)
    assert "nothing is known" in done.message


async def test_a_removed_target_deletes_everything(tools: AgentTools, charts: Charts) -> None:
    side = a_side(CONFIG, source=charts.commit())
    outcome = await HelmAgent(tools).plan(a_context("helm", current=side, proposed=None), None)
    assert isinstance(outcome, Done)
    assert {change.action for change in kinds(outcome)["manifest"].resources} == {Action.DELETE}


async def test_a_secret_that_changed_shows_and_its_value_does_not(
    tools: AgentTools, charts: Charts
) -> None:
    source = charts.commit()
    config = {**CONFIG, "values": {"password": "{{ variables.password }}", "tag": "same"}}
    sides = [
        a_side(config, source=source, variables={"password": password})
        for password in ("old-hunter2", {"env": "TOKEN"})
    ]
    outcome = await HelmAgent(tools).plan(
        a_context("helm", current=sides[0], proposed=sides[1]), None
    )
    assert isinstance(outcome, Done)
    found = kinds(outcome)
    (change,) = found["manifest"].resources
    assert (change.kind, change.action) == ("Secret", Action.MODIFY)
    assert found["values"].has_changes is True
    for secret in (CANARY, "old-hunter2"):
        assert secret not in repr(outcome)


async def test_a_secret_of_the_chart_does_not_show_in_the_values(
    tools: AgentTools, charts: Charts
) -> None:
    done = await planned(tools, source=charts.commit())
    assert "from-the-chart" not in repr(done)


async def test_a_secret_outside_of_a_secret_is_redacted_by_value(
    tools: AgentTools, charts: Charts
) -> None:
    config = {**CONFIG, "values": {"greeting": "hello {{ variables.name }}"}}
    done = await planned(
        tools, source=charts.commit(), config=config, variables={"name": {"env": "TOKEN"}}
    )
    assert CANARY not in repr(done)
    assert "hello ***" in kinds(done)["manifest"].proposed


async def test_a_versions_own_config_names_no_secret(tools: AgentTools, charts: Charts) -> None:
    config = {**CONFIG, "values": {"extra": "{{ release.version.config.extra }}"}}
    asked_for = {"extra": {"env": "TOKEN"}}
    done = await planned(tools, source=charts.commit(), config=config, version_config=asked_for)
    assert "TOKEN" in kinds(done)["values"].proposed
    assert CANARY not in repr(done)


async def test_values_files_come_under_the_values(tools: AgentTools, charts: Charts) -> None:
    charts.write("env/a.yaml", "replicas: 5\ngreeting: file\n")
    charts.write("env/b.yaml", "greeting: later file\n")
    config = {
        "chart": "charts/web",
        "valuesFiles": ["env/a.yaml", "env/b.yaml"],
        "values": {"tag": "x"},
    }
    text = kinds(await planned(tools, source=charts.commit(), config=config))["manifest"].proposed
    assert "replicas: 5" in text
    assert "later file" in text
    assert "web:x" in text


async def test_release_namespace_version_and_apis_reach_the_chart(
    tools: AgentTools, charts: Charts
) -> None:
    charts.write(
        "charts/web/templates/facts.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: facts}\ndata:\n"
        "  facts: {{ .Release.Name }}/{{ .Release.Namespace }}"
        "/{{ .Capabilities.KubeVersion.Version }}"
        '/{{ .Capabilities.APIVersions.Has "example.test/v1/Thing" }}\n',
    )
    config = {
        **CONFIG,
        "releaseName": "shop",
        "namespace": "prod",
        "kubeVersion": "1.31.2",
        "apiVersions": ["example.test/v1/Thing"],
    }
    text = kinds(await planned(tools, source=charts.commit(), config=config))["manifest"].proposed
    assert "shop/prod/v1.31.2/true" in text


async def test_a_packed_chart_renders_as_its_folder(
    tools: AgentTools, charts: Charts, tmp_path: Path
) -> None:
    packed = charts.folder / "web-1.0.0.tgz"
    subprocess.run(
        ["tar", "czf", str(packed), "-C", "charts", "web"], cwd=charts.folder, check=True
    )
    source = charts.commit()
    folder = kinds(await planned(tools, source=source))["manifest"].proposed
    config = {**CONFIG, "chart": "web-1.0.0.tgz"}
    assert kinds(await planned(tools, source=source, config=config))["manifest"].proposed == folder


async def test_a_dependency_beside_the_chart_is_used(tools: AgentTools, charts: Charts) -> None:
    charts.write("charts/lib/Chart.yaml", "apiVersion: v2\nname: lib\nversion: 0.1.0\n")
    charts.write(
        "charts/lib/templates/x.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: lib}\n"
    )
    charts.write(
        "charts/web/Chart.yaml",
        "apiVersion: v2\nname: web\nversion: 1.0.0\n"
        "dependencies: [{name: lib, version: 0.1.0, repository: 'file://../lib'}]\n",
    )
    done = await planned(tools, source=charts.commit())
    assert "Service" in {change.kind for change in kinds(done)["manifest"].resources}


async def test_a_dependency_that_is_not_there_is_named(tools: AgentTools, charts: Charts) -> None:
    charts.write(
        "charts/web/Chart.yaml",
        "apiVersion: v2\nname: web\nversion: 1.0.0\n"
        "dependencies: [{name: db, version: 1.0.0, repository: 'https://charts.example.test'}]\n",
    )
    error = await refused(tools, charts.commit(), CONFIG)
    assert "needs db from https://charts.example.test" in error.message
    assert "helm dependency build" in error.message


async def test_random_values_are_no_change(tools: AgentTools, charts: Charts) -> None:
    charts.write(
        "charts/web/templates/random.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: r}\ndata: {id: {{ randAlphaNum 12 }}}\n",
    )
    source = charts.commit()
    config = {"chart": "charts/web"}
    done = await planned(tools, source=source, current=source, config=config)
    assert kinds(done)["manifest"].has_changes is False


async def test_the_same_inputs_are_rendered_once_for_all_targets(
    tools: AgentTools, charts: Charts
) -> None:
    source = charts.commit()
    agent = HelmAgent(tools)
    before = renders_so_far()
    contexts = [
        replace(
            a_context(
                "helm",
                current=a_side(CONFIG, tag="v1", source=source),
                proposed=a_side(CONFIG, tag=f"v{2 + number % 2}", source=source),
            ),
            invocation_id=InvocationId(f"i-{number}"),
        )
        for number in range(10)
    ]
    await asyncio.gather(*(agent.plan(context, None) for context in contexts))
    assert renders_so_far() - before == 3


BAD: list[tuple[JsonObject, str]] = [
    ({"chart": "charts/nowhere"}, "there is no chart charts/nowhere"),
    ({"chart": "../outside"}, "outside"),
    ({"chart": "/etc"}, "outside"),
    ({"chart": "charts/web/Chart.yaml"}, "expected a folder or a packed chart"),
    ({}, "chart: missing"),
    ({**CONFIG, "valuesFiles": ["nope.yaml"]}, "there is no values file nope.yaml"),
    ({**CONFIG, "valuesFiles": ["../../x.yaml"]}, "outside"),
    ({**CONFIG, "releaseName": "Not Valid"}, "releaseName: expected"),
    ({**CONFIG, "kubeVersion": "latest"}, "kubeVersion: expected"),
    ({**CONFIG, "apiVersions": ["--output-dir=/tmp"]}, "apiVersions[0]: expected"),
    ({**CONFIG, "namespaec": "x"}, "did you mean 'namespace'?"),
    ({**CONFIG, "values": {"a": "{{ variables.nope }}"}}, "nope"),
    ({**CONFIG, "values": {"a": {"env": "MISSING"}}}, "{env: MISSING} is missing"),
    ({**CONFIG, "kubeconfig": "/root-kubeconfig"}, "kubeconfig: expected a reference"),
]


@pytest.mark.parametrize(("config", "message"), BAD)
async def test_a_config_that_is_wrong_is_refused_and_named(
    tools: AgentTools, charts: Charts, config: JsonObject, message: str
) -> None:
    error = await refused(tools, charts.commit(), config)
    assert isinstance(error, AgentRejected)
    assert message in error.message


async def test_a_revision_that_is_not_there_is_named(tools: AgentTools, charts: Charts) -> None:
    charts.commit()
    error = await refused(tools, Source(str(charts.folder), "no-such-branch"), CONFIG)
    assert "no-such-branch not found" in error.message


async def test_a_broken_chart_says_why_without_paths_of_this_machine(
    tools: AgentTools, charts: Charts, tmp_path: Path
) -> None:
    charts.write("charts/web/templates/broken.yaml", "a: {{ .Values.tag | nosuchfunction }}\n")
    error = await refused(tools, charts.commit(), CONFIG)
    assert "nosuchfunction" in error.message
    assert "broken.yaml" in error.message
    assert str(tmp_path) not in error.message
    assert "/tmp" not in error.message


async def test_an_endless_template_is_a_timeout(tools: AgentTools, charts: Charts) -> None:
    charts.write(
        "charts/web/templates/endless.yaml",
        '{{ range until 1000000 }}{{ range until 1000000 }}{{ $x := "a" }}{{ end }}{{ end }}\n',
    )
    error = await refused(tools, charts.commit(), {**CONFIG, "timeout": "2s"})
    assert error.reason in ("timeout", "rejected")
    assert "did not end within 2 s" in error.message or "memory" in error.message


async def test_20_megabytes_are_too_much(tools: AgentTools, charts: Charts) -> None:
    charts.write("charts/web/templates/big.yaml", '# {{ repeat 22000000 "x" }}\na: b\n')
    error = await refused(tools, charts.commit(), CONFIG)
    assert "printed more than" in error.message


async def test_a_link_out_of_the_repository_is_refused(
    tools: AgentTools, charts: Charts, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text(CANARY)
    (charts.folder / "charts/web/templates/link.yaml").symlink_to(tmp_path / "secret")
    error = await refused(tools, charts.commit(), CONFIG)
    assert "outside" in error.message
    assert CANARY not in error.message


async def test_on_a_server_only_the_roots_are_read(
    tools: AgentTools, charts: Charts, tmp_path: Path
) -> None:
    charts.commit()
    for config in (
        {"chart": str(charts.folder / "charts/web")},
        {"chart": "charts/web", "repoURL": str(charts.folder)},
        {"chart": "charts/web", "repoURL": f"file://{charts.folder}"},
    ):
        error = await refused(tools, None, config)
        assert "FORETELL_CHART_ROOTS" in error.message
    roots = tmp_path / "roots"
    roots.mkdir()
    (roots / "way-out").symlink_to(charts.folder)
    error = await refused(tools, None, {"chart": "way-out/charts/web"})
    assert "FORETELL_CHART_ROOTS" in error.message
    charts.folder.rename(roots / "repository")
    for config in (
        {"chart": "repository/charts/web"},
        {"chart": "charts/web", "repoURL": str(roots / "repository"), "revision": "main"},
    ):
        assert (await planned(tools, source=None, config=config)).results


async def test_the_servers_environment_does_not_reach_a_chart(
    tools: AgentTools, charts: Charts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HELM_NAMESPACE", CANARY)
    monkeypatch.setenv("KUBECONFIG", CANARY)
    monkeypatch.setenv("HELM_DEBUG", "true")
    done = await planned(tools, source=charts.commit())
    assert CANARY not in repr(done)


async def test_without_helm_one_line_says_so(charts: Charts, tmp_path: Path) -> None:
    async with agent_tools({"helm": str(tmp_path / "no-helm")}) as tools:
        error = await refused(tools, charts.commit(), CONFIG)
    assert "helm" in error.message
    assert "\n" not in error.message
