"""A repository of charts that go wrong, each its own way, and an inventory of one target each."""

import asyncio
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from foretell.cli.helm_wheel import helm_for_demo
from foretell.domain.errors import ForetellError
from foretell.settings import default_cache_dir

CANARY = "c4n4ry-s3cr3t-value"
CANARY_VARIABLE = "SHOP_DATABASE_PASSWORD"
_PLAIN = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n"
_PASSWORD = "{{ .Values.database.password }}"
TEMPLATES = {
    "broken": "{{ if }}\n",
    "endless": "{{ range until 1000000 }}{{ range until 1000000 }}{{ $x := 1 }}{{ end }}{{ end }}",
    "large": '# {{ repeat 22000000 "x" }}\n' + _PLAIN,
    "leaky": f"{_PLAIN}data:\n  plain: {_PASSWORD}\n  url: postgresql://web:{_PASSWORD}@db/web\n"
    f"  encoded: {_PASSWORD.replace(' }}', ' | b64enc }}')}\n",
    "failing": f'{{{{ fail (printf "wrong password %s" {_PASSWORD[3:-3]}) }}}}\n',
}
_PASSED = {"values": {"database": {"password": {"env": CANARY_VARIABLE}}}}


def helm_program() -> Path:
    """The machine's own helm or the demo's; without one the test is skipped, or fails with CI."""
    try:
        return asyncio.run(helm_for_demo(default_cache_dir()))
    except ForetellError as error:
        if os.environ.get("CI") == "true":
            pytest.fail(str(error), pytrace=False)
        pytest.skip(str(error))


def write_charts(repository: Path) -> None:
    """A git repository with a chart for each of TEMPLATES."""
    for name, template in TEMPLATES.items():
        folder = repository / "charts" / name / "templates"
        folder.mkdir(parents=True)
        (folder / "all.yaml").write_text(template)
        (folder.parent / "Chart.yaml").write_text(f"apiVersion: v2\nname: {name}\nversion: 1.0.0\n")
    for command in (
        ["init", "--quiet"],
        ["add", "."],
        ["-c", "user.name=T", "-c", "user.email=t@t", "commit", "--quiet", "-m", "charts"],
    ):
        subprocess.run(["git", *command], cwd=repository, check=True)


def agents(repository: Path) -> dict[str, dict[str, Any]]:
    """Agents by name, each with the config that goes wrong as its name says; `fine` does not."""

    def chart(path: str, **config: Any) -> dict[str, Any]:
        where = {"chart": path, "repoURL": str(repository), **config}
        return {"type": "helm", "config": where}

    def template(text: str) -> dict[str, Any]:
        return {"type": "test-runner", "config": {"delay": text}}

    return {
        "fine": {"type": "test-runner", "config": {}},
        "broken": chart("charts/broken"),
        "endless": chart("charts/endless", timeout="2s"),
        "failing": chart("charts/failing", **_PASSED),
        "large": chart("charts/large"),
        "leaky": chart("charts/leaky", **_PASSED),
        "missing": chart("charts/nowhere"),
        "elsewhere": chart("charts/leaky", repoURL="/etc"),
        "revision": chart("charts/leaky", revision="nowhere"),
        "undefined": template("{{ variables.nowhere }}"),
        "loop": template(
            "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
        ),
        "huge": template("{{ 'x' * 1000000000 }}"),
        "escape": template("{{ ''.__class__.__mro__ }}"),
    }


def inventory(repository: Path) -> dict[str, Any]:
    made = agents(repository)
    return {
        "workspace": "shop",
        "jobAgents": [{"name": name, **agent} for name, agent in made.items()],
        "environments": [{"name": "prod", "resourceSelector": "true"}],
        "resources": [{"identifier": name, "kind": "Cluster"} for name in made],
        "deployments": [
            {
                "name": "Web",
                "slug": "web",
                "jobAgentSelector": "jobAgent.name == resource.identifier",
            }
        ],
    }
