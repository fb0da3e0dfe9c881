"""The inner layers compute and do nothing else: no file, no clock, no dice, no process.

The import contracts forbid named modules; this says which ones are allowed, so that a new one is a
decision, and it sees what no import shows: a call of `open`, `print` or `eval`.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "foretell"

ALLOWED = {
    "abc",
    "base64",
    "bisect",
    "collections",
    "copy",
    "dataclasses",
    "datetime",  # its types; the linter bans asking it for the time
    "decimal",
    "enum",
    "fractions",
    "functools",
    "hashlib",
    "heapq",
    "hmac",
    "itertools",
    "json",
    "math",
    "operator",
    "re",
    "string",
    "struct",
    "textwrap",
    "types",
    "typing",
    "unicodedata",
    "rapidfuzz",  # no standard module, and as pure as one
}

FORBIDDEN_IN_FORMATS = {
    "asyncio",
    "ctypes",
    "fcntl",
    "glob",
    "importlib",
    "logging",
    "mmap",
    "multiprocessing",
    "os",
    "pathlib",
    "random",
    "secrets",
    "select",
    "shutil",
    "signal",
    "socket",
    "subprocess",
    "sys",
    "tempfile",
    "threading",
    "time",
    "urllib",
    "uuid",
}

IMPURE_CALLS = {"__import__", "breakpoint", "compile", "eval", "exec", "input", "open", "print"}


def imported(tree: ast.AST) -> Iterator[str]:
    """Every module that is imported anywhere in it, by its full name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "."


def beyond_allowed(text: str, *, own: set[str]) -> set[str]:
    """What a pure layer imports beside the allowed modules and its own folders of the package."""
    return {
        name
        for name in imported(ast.parse(text))
        if name.split(".")[0] not in ALLOWED
        and not any(f"{name}.".startswith(f"foretell.{folder}.") for folder in own)
    }


def forbidden_in_formats(text: str) -> set[str]:
    return {
        name
        for name in imported(ast.parse(text))
        if name.split(".")[0] in FORBIDDEN_IN_FORMATS and name != "urllib.parse"  # reads text
    }


def impure_names(text: str) -> set[str]:
    """Impure built-ins by any mention: a name that is passed on is a call somewhere else."""
    tree = ast.parse(text)
    return {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in IMPURE_CALLS
    }


def modules_of(*folders: str) -> list[Path]:
    return [
        path.relative_to(PACKAGE)
        for folder in folders
        for path in sorted((PACKAGE / folder).rglob("*.py"))
    ]


@pytest.mark.parametrize("module", modules_of("domain"), ids=str)
def test_the_domain_imports_only_what_cannot_reach_outside(module: Path) -> None:
    assert beyond_allowed((PACKAGE / module).read_text(), own={"domain"}) == set()


@pytest.mark.parametrize("module", modules_of("approval"), ids=str)
def test_approvals_import_only_what_cannot_reach_outside(module: Path) -> None:
    assert beyond_allowed((PACKAGE / module).read_text(), own={"domain", "approval"}) == set()


@pytest.mark.parametrize("module", modules_of("formats"), ids=str)
def test_formats_import_nothing_that_reaches_outside(module: Path) -> None:
    assert forbidden_in_formats((PACKAGE / module).read_text()) == set()


@pytest.mark.parametrize("module", modules_of("domain", "approval", "formats"), ids=str)
def test_the_inner_layers_name_no_builtin_that_reaches_outside(module: Path) -> None:
    assert impure_names((PACKAGE / module).read_text()) == set()


def test_there_is_a_domain_to_check() -> None:
    assert len(modules_of("domain")) > 5


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import os", {"os"}),
        ("from os.path import join", {"os.path"}),
        ("from foretell.kit import http", {"foretell.kit"}),
        ("from foretell.domains import x", {"foretell.domains"}),
        ("def f():\n    import time", {"time"}),
        ("from . import plan", {"."}),
        ("from collections.abc import Mapping\nfrom foretell.domain.plan import Plan", set()),
    ],
)
def test_an_import_beyond_the_allowed_is_seen_wherever_it_stands(
    text: str, found: set[str]
) -> None:
    assert beyond_allowed(text, own={"domain"}) == found


def test_an_impure_builtin_is_seen_called_or_passed_on() -> None:
    assert impure_names("open('x')\nmap(print, ())\nre.compile('x')") == {"open", "print"}
    assert forbidden_in_formats("import yaml\nimport logging.handlers") == {"logging.handlers"}
