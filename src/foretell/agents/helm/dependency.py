"""Dependencies that lie beside the chart (`file://…`), put where helm looks for them.

What `helm dependency build` would do offline, without writing into the repository.
"""

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from foretell.agents.helm.content import Content, Dependency, read_content
from foretell.domain.errors import AgentRejected
from foretell.kit.git import tree_inside

_FILE = "file://"
_DEEPEST = 8


def complete(chart: Path, root: Path, shelf: Path) -> tuple[Path, Content]:
    """The chart with all of its dependencies in `charts/`: itself, or a copy on `shelf`.

    Raises AgentRejected for a dependency that would have to be downloaded.
    """
    content = read_content(chart)
    if not content.missing:
        return chart, content
    shelf.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".draft-", dir=shelf) as draft:
        copy = Path(draft) / "chart"
        _copy(chart, root, copy, ())
        content = read_content(copy)
        kept = shelf / content.fingerprint
        if not kept.is_dir():
            _rename(copy, kept)
    os.utime(kept)
    return kept, content


def _copy(chart: Path, root: Path, copy: Path, above: Sequence[Path]) -> None:
    if chart in above or len(above) >= _DEEPEST:
        raise AgentRejected(f"the dependencies of chart {chart.name} go round in a circle")
    shutil.copytree(chart, copy, symlinks=False)
    for folder, _, files in os.walk(copy):
        os.chmod(folder, 0o755)
        for file in files:
            os.chmod(Path(folder, file), 0o644)
    for dependency in read_content(chart).missing:
        place = _place(chart, root, dependency)
        _copy(place, root, copy / "charts" / dependency.name, (*above, chart))


def _place(chart: Path, root: Path, dependency: Dependency) -> Path:
    if not dependency.repository.startswith(_FILE):
        raise AgentRejected(
            f"chart {chart.name} needs {dependency.name} from "
            f"{dependency.repository or 'nowhere'}, which is not in its charts/ folder: run "
            "'helm dependency build' and commit charts/, or use a packed chart"
        )
    relative = os.path.relpath(chart / dependency.repository.removeprefix(_FILE), root)
    found = tree_inside(root, relative)
    if not found.is_dir():
        raise AgentRejected(
            f"chart {chart.name} needs {dependency.name}, and there is no folder {relative}"
        )
    return found


def _rename(copy: Path, kept: Path) -> None:
    try:
        copy.rename(kept)
    except OSError:
        if not kept.is_dir():  # else another was faster
            raise
