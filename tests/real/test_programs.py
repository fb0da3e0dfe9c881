"""The programs are what the table says, and do for us what the adapters count on."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
import yaml
from programs.build import HERE, PROGRAMS, FromGo, version_of

RealProgram = Callable[[str], Path]
PINNED = ["helm3", "helm4", "kubectl", "kustomize", "kube-apiserver", "argocd"]


@pytest.mark.parametrize("name", PINNED)
def test_a_pinned_program_is_of_the_version_that_its_folder_names(
    real_program: RealProgram, name: str
) -> None:
    real_program(name)
    assert f"v{PROGRAMS[name].version}" in version_of(name)


@pytest.mark.parametrize("name", [n for n, p in PROGRAMS.items() if isinstance(p.recipe, FromGo)])
def test_the_table_and_the_go_module_name_the_same_version(name: str) -> None:
    recipe = PROGRAMS[name].recipe
    assert isinstance(recipe, FromGo)
    required = re.findall(
        r"^\t(\S+) v(\S+)", (HERE / recipe.folder / "go.mod").read_text(), re.MULTILINE
    )
    ours = [
        version for module, version in required if f"{recipe.package}/".startswith(f"{module}/")
    ]
    assert ours == [PROGRAMS[name].version]


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text("apiVersion: v2\nname: shop\nversion: 0.1.0\n")
    (folder / "values.yaml").write_text("replicas: 1\n")
    (folder / "templates" / "web.yaml").write_text(
        "apiVersion: apps/v1\n"
        "kind: Deployment\n"
        "metadata:\n"
        "  name: {{ .Release.Name }}-web\n"
        "  namespace: {{ .Release.Namespace }}\n"
        "  annotations:\n"
        "    kube: {{ .Capabilities.KubeVersion.Version | quote }}\n"
        '    monitored: {{ .Capabilities.APIVersions.Has "acme.test/v1/Watch" | quote }}\n'
        "spec:\n"
        "  replicas: {{ .Values.replicas }}\n"
    )
    return folder


@pytest.mark.parametrize("name", ["helm3", "helm4"])
def test_helm_renders_for_a_release_a_cluster_and_values_that_we_name(
    real_program: RealProgram, chart: Path, name: str
) -> None:
    told = [
        "--namespace",
        "prod",
        "--kube-version",
        "1.33.0",
        "--api-versions",
        "acme.test/v1/Watch",
    ]
    rendered = subprocess.run(
        [real_program(name), "template", "blue", chart, *told, "--values", "-"],
        input="replicas: 3\n",
        capture_output=True,
        text=True,
        check=True,
        env={"HOME": str(chart)},
    )
    assert list(yaml.safe_load_all(rendered.stdout)) == [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {
                "name": "blue-web",
                "namespace": "prod",
                "annotations": {"kube": "v1.33.0", "monitored": "true"},
            },
            "spec": {"replicas": 3},
        }
    ]


@pytest.mark.parametrize("name", ["helm3", "helm4"])
def test_a_chart_that_helm_cannot_render_is_said_on_stderr_and_by_the_exit_code(
    real_program: RealProgram, chart: Path, name: str
) -> None:
    (chart / "templates" / "web.yaml").write_text("{{ .Values.absent.key }}\n")
    rendered = subprocess.run(
        [real_program(name), "template", "blue", chart],
        capture_output=True,
        text=True,
        env={"HOME": str(chart)},
    )
    assert rendered.returncode == 1
    assert rendered.stdout == ""
    assert "templates/web.yaml:1" in rendered.stderr


def test_kubectl_says_its_version_as_json(real_program: RealProgram) -> None:
    asked = subprocess.run(
        [real_program("kubectl"), "version", "--client", "--output", "json"],
        capture_output=True,
        check=True,
    )
    assert json.loads(asked.stdout)["clientVersion"]["gitVersion"] == "v1.37.1"


def test_git_shows_a_file_as_it_was_at_a_revision(
    real_program: RealProgram, tmp_path: Path
) -> None:
    git = real_program("git")

    def run(*arguments: str) -> str:
        who = ["-c", "user.name=Test", "-c", "user.email=test@example.invalid"]
        return subprocess.run(
            [git, *who, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout

    run("init", "--quiet")
    (tmp_path / "tag").write_text("1\n")
    run("add", "tag")
    run("commit", "--quiet", "--message", "first")
    (tmp_path / "tag").write_text("2\n")
    assert run("show", "HEAD:tag") == "1\n"


def test_a_server_postgres_is_recent_enough_and_asks_for_a_password(
    real_program: RealProgram, server_postgres: str
) -> None:
    real_program("postgres")
    with psycopg.connect(server_postgres) as connection:
        assert connection.info.server_version >= 15_00_00
        assert connection.execute("SELECT current_user").fetchone() == ("foretell",)
        assert connection.execute("SHOW server_encoding").fetchone() == ("UTF8",)
    without = re.sub(r":[^:@/]+@", "@", server_postgres)
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(without)
