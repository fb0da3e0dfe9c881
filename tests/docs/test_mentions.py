"""What people may set, call, see or write is found in the documents, or the build fails.

A subject that is not in the package yet is skipped with that reason; once its module is there,
the test reads the names from it.
"""

import importlib
import importlib.util
import pkgutil
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from foretell.domain import errors

ROOT = Path(__file__).parents[2]
Undocumented = Callable[..., list[str]]


def module_or_skip(name: str) -> ModuleType:
    parent = name.rpartition(".")[0]
    if importlib.util.find_spec(parent) is None or importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not there yet")
    return importlib.import_module(name)


def leaves(kind: type[Exception]) -> Iterator[str]:
    """Those of the tree itself; what adapters derive from it stays inside of them."""
    below = [one for one in kind.__subclasses__() if one.__module__ == errors.__name__]
    if not below:
        yield kind.__name__
    for child in below:
        yield from leaves(child)


def test_every_error_says_in_the_documents_whose_move_it_is(undocumented: Undocumented) -> None:
    names = list(leaves(errors.ForetellError))
    assert len(names) > 5
    assert undocumented(names) == []


def test_every_reserved_policy_key_is_documented(undocumented: Undocumented) -> None:
    verdict = module_or_skip("foretell.domain.verdict")
    assert verdict.RESERVED
    assert undocumented(sorted(verdict.RESERVED), below="docs/reference") == []


def environment_names(settings: Any) -> list[str]:
    """The environment variables of a pydantic-settings class."""
    prefix = settings.model_config.get("env_prefix", "")
    return [
        str(field.validation_alias or f"{prefix}{name}").upper()
        for name, field in settings.model_fields.items()
    ]


def test_every_setting_is_documented(undocumented: Undocumented) -> None:
    names = environment_names(module_or_skip("foretell.settings").Settings)
    assert names
    assert all(name.startswith("FORETELL_") for name in names)
    assert undocumented(names) == []


def command_lines(command: Any, path: str) -> Iterator[str]:
    """Every command that does something, as a person types it."""
    children = getattr(command, "commands", {})
    if not children:
        yield path
    for name, child in children.items():
        if not child.hidden:
            yield from command_lines(child, f"{path} {name}")


def modules_below(package: ModuleType) -> list[ModuleType]:
    """The package's modules, itself first."""
    below = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    return [package, *(importlib.import_module(info.name) for info in below)]


def test_every_command_is_documented(undocumented: Undocumented) -> None:
    modules = modules_below(module_or_skip("foretell.cli"))
    typer = importlib.import_module("typer")
    found = {id(v): v for m in modules for v in vars(m).values() if isinstance(v, typer.Typer)}
    groups = {id(g.typer_instance) for app in found.values() for g in app.registered_groups}
    roots = [app for key, app in found.items() if key not in groups]
    assert len(roots) == 1, "every command hangs on one app"
    lines = list(command_lines(typer.main.get_command(roots[0]), "foretell"))
    assert len(lines) > 1
    assert undocumented(lines) == []


def agent_types() -> dict[str, str]:
    """The agents of the package: type -> the module that its entry point names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    points = project.get("entry-points", {}).get("foretell.agents", {})
    return {name: value.partition(":")[0] for name, value in points.items()}


def config_keys(module_name: str) -> set[str]:
    """The keys of an agent's schema: the pydantic models of its folder that end in `Config`."""
    folder = importlib.import_module(module_name.rpartition(".")[0])
    found = (value for module in modules_below(folder) for value in vars(module).values())
    schemas = {
        value
        for value in found
        if isinstance(value, type)
        and value.__module__.startswith(f"{folder.__name__}.")
        and value.__name__.endswith("Config")
        and hasattr(value, "model_fields")
    }
    return {
        field.alias or name for schema in schemas for name, field in schema.model_fields.items()
    }


def test_every_agent_and_every_key_of_its_config_is_documented(undocumented: Undocumented) -> None:
    module_or_skip("foretell.agents.registry")
    types = agent_types()
    assert types, "pyproject.toml names the agents as entry points foretell.agents"
    assert undocumented(list(types), below="docs/agents") == []
    keys = {type: sorted(config_keys(module)) for type, module in types.items()}
    assert [type for type, found in keys.items() if not found] == [], "a schema ends in Config"
    assert {type: undocumented(k, below="docs/agents") for type, k in keys.items()} == {
        type: [] for type in types
    }


def test_a_name_counts_as_documented_only_as_code_and_only_whole(
    tmp_path: Path, undocumented: Undocumented
) -> None:
    assert undocumented(["NotFound", "NotFoun", "otFound"]) == ["NotFoun", "otFound"]
