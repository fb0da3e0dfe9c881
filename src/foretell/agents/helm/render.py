"""One render: a chart and everything that decides what comes out of it -> manifests."""

import asyncio
import json
import os
import tempfile
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from prometheus_client import Counter

from foretell.agents.helm.chart import Chart
from foretell.agents.helm.config import HelmConfig
from foretell.agents.helm.program import RENDER_FOR, Call, HelmProgram, said
from foretell.domain.context import merge_config
from foretell.domain.digest import digest
from foretell.domain.errors import AgentRejected, InvalidRequest
from foretell.formats.yaml import load_documents
from foretell.kit.git import inside

RENDERS = Counter("foretell_helm_renders", "Times that `helm template` was run")

_VALUES_FILE_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a render depends on, and nothing else: equal inputs have equal keys."""

    chart: Chart
    release_name: str
    namespace: str
    kube_version: str | None
    api_versions: tuple[str, ...]
    values: dict[str, Any] = field(repr=False)
    timeout: timedelta = RENDER_FOR

    @property
    def computed_values(self) -> dict[str, Any]:
        """The chart's defaults under what was given; null removes a default, as in helm."""
        return merge_config(self.chart.content.values, self.values)

    def key(self, program: HelmProgram) -> str:
        """Equal for inputs that render the same. Of a digest, since values may be secrets."""
        return digest(
            "helm-render",
            program.version,
            self.chart.content.fingerprint,
            self.release_name,
            self.namespace,
            self.kube_version,
            self.api_versions,
            self.values,
        )


@dataclass(frozen=True, slots=True)
class Rendered:
    """What helm printed. `again`: a second render, where the chart may answer differently."""

    text: str = field(repr=False)
    again: str | None = field(default=None, repr=False)


def read_inputs(config: HelmConfig, chart: Chart, deployment: str) -> Inputs:
    """Raises AgentRejected for a values file that is not there, or is no map."""
    values: dict[str, Any] = {}
    for name in config.values_files:
        values = _over(values, _values_file(chart, name))
    return Inputs(
        chart=chart,
        release_name=config.release_name or deployment,
        namespace=config.namespace,
        kube_version=config.kube_version,
        api_versions=tuple(sorted(set(config.api_versions))),
        values=_over(values, config.values),
        timeout=config.timeout,
    )


def _over(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """As helm merges values files: maps deep, and null stays, to remove the chart's default."""
    merged = dict(below)
    for key, value in above.items():
        under = merged.get(key)
        both = isinstance(under, dict) and isinstance(value, dict)
        merged[key] = _over(under, value) if both and isinstance(under, dict) else value
    return merged


def _values_file(chart: Chart, name: str) -> dict[str, Any]:
    if chart.root is None:
        raise AgentRejected(
            f"values file {name} can't be read: {chart.name} does not come from a repository"
        )
    path = inside(chart.root, name)
    if not path.is_file():
        raise AgentRejected(f"there is no values file {name} beside chart {chart.name}")
    known = path.stat()
    if known.st_size > _VALUES_FILE_BYTES:
        raise AgentRejected(f"values file {name} is over {_VALUES_FILE_BYTES:,} bytes")
    return _values_in(path, name, (known.st_mtime_ns, known.st_size))


@lru_cache(maxsize=64)
def _values_in(path: Path, name: str, state: tuple[int, int]) -> dict[str, Any]:
    """Read once for all targets, which mostly share their files. Nobody changes the answer."""
    try:
        documents = load_documents(path.read_bytes(), source=f"values file {name}")
    except InvalidRequest as error:
        raise AgentRejected(str(error)) from error
    value = documents[0].value if documents else {}
    if not isinstance(value, dict) or len(documents) > 1:
        raise AgentRejected(f"values file {name} is wrong: expected one map")
    return value


class Renderer:
    """Runs helm, one a core at a time: more would only make each of them slower."""

    def __init__(self) -> None:
        self._room = asyncio.Semaphore(os.cpu_count() or 1)

    async def render(self, program: HelmProgram, inputs: Inputs) -> Rendered:
        """Raises AgentRejected with what helm said: without paths of this machine, trimmed."""
        text = await self._template(program, inputs)
        again = await self._template(program, inputs) if _is_unsteady(inputs) else None
        return Rendered(text, again)

    async def _template(self, program: HelmProgram, inputs: Inputs) -> str:
        async with self._room:
            with tempfile.TemporaryDirectory(prefix="foretell-helm-") as folder:
                RENDERS.inc()
                return await _template(Call(program, Path(folder), inputs.timeout), inputs)


def _is_unsteady(inputs: Inputs) -> bool:
    """Values may hold templates for `tpl`, and so the functions too."""
    return inputs.chart.content.unsteady or "{{" in json.dumps(inputs.values)


async def _template(call: Call, inputs: Inputs) -> str:
    values = call.folder / "values.json"
    values.write_text(json.dumps(inputs.values))
    done = await call.run(
        "template",
        inputs.release_name,
        str(inputs.chart.path),
        f"--namespace={inputs.namespace}",
        "--include-crds",
        f"--values={values}",
        *([f"--kube-version={inputs.kube_version}"] if inputs.kube_version else []),
        *(f"--api-versions={each}" for each in inputs.api_versions),
    )
    if done.returncode != 0:
        places = {inputs.chart.path: inputs.chart.path.name, call.folder: ""}
        raise AgentRejected(
            f"helm could not render chart {inputs.chart.name} as release "
            f"{inputs.release_name}: {said(done, places) or f'status {done.returncode}'}"
        )
    return done.stdout.decode("utf-8", "replace")
