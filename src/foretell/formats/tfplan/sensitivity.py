"""Everything a plan's JSON says about what is sensitive, from all the places that say it."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from foretell.formats.redact.marks import Mark, Marks, from_path, from_schema, normalised, united
from foretell.formats.redact.redactor import Rules

_SCHEMAS: Final = {"managed": "resource_schemas", "data": "data_source_schemas"}


class Sensitivity:
    """Marks by resource, output and variable: the union over both sides, the state before and
    after, the configuration's flags, schemas and path rules.

    One side is not enough: an output or attribute that stops being sensitive has its old secret
    in `before` and its mark in the other place.
    """

    def __init__(self, document: Mapping[str, Any], rules: Rules) -> None:
        self._document = document
        self._paths = [from_path(path) for path in rules.paths]
        self._schemas = rules.schemas or {}
        self._by_type: dict[tuple[str, str, str], Marks] = {}
        self.entries = list(_entries(document))
        self._by_address = self._address_marks()
        self._outputs = frozenset(self._sensitive_outputs())
        module = _at(document, "configuration", "root_module")
        self._variables = frozenset(
            name
            for name, item in _members(module.get("variables"))
            if item.get("sensitive") is True
        )
        self.configured = list(_configured(module))

    def _address_marks(self) -> dict[tuple[str, str], tuple[list[Mark], list[Mark]]]:
        found: dict[tuple[str, str], tuple[list[Mark], list[Mark]]] = {}
        for entry in self.entries:
            change = entry["change"]
            old, new = found.setdefault(_identity(entry), ([], []))
            old += [mark] if (mark := normalised(change.get("before_sensitive"))) else []
            new += [mark] if (mark := normalised(change.get("after_sensitive"))) else []
        return found

    def of_entry(self, entry: Mapping[str, Any]) -> tuple[Marks, Marks]:
        """(marks of the old value, marks of the new one) of a change or a resource of a state."""
        own = self.of_type(entry)
        values = (mark,) if (mark := normalised(entry.get("sensitive_values"))) else ()
        old, new = self._by_address.get(_identity(entry), ([], []))
        return (*united(tuple(old), values), *own), (*new, *own)

    def of_type(self, entry: Mapping[str, Any]) -> Marks:
        """The marks that schemas and path rules give to every resource of this type."""
        key = tuple(str(entry.get(name) or "") for name in ("provider_name", "mode", "type"))
        provider, mode, kind = key
        if (provider, mode, kind) not in self._by_type:
            block = _at(
                self._schemas, "provider_schemas", provider, _SCHEMAS.get(mode, ""), kind, "block"
            )
            paths = [mark for name, mark in self._paths if name in (kind, "*")]
            marks = (from_schema(block), *paths)
            self._by_type[provider, mode, kind] = tuple(mark for mark in marks if mark)
        return self._by_type[provider, mode, kind]

    def output(self, name: str) -> Marks:
        return (True,) if name in self._outputs else ()

    def variable(self, name: str) -> Marks:
        return (True,) if name in self._variables else ()

    @staticmethod
    def configured_variable(variable: Mapping[str, Any]) -> Marks:
        return (True,) if variable.get("sensitive") is True else ()

    @staticmethod
    def sensitive_arguments(call: Mapping[str, Any]) -> frozenset[str]:
        variables = _at(call, "module", "variables")
        return frozenset(
            name for name, item in _members(variables) if item.get("sensitive") is True
        )

    def invocation_values(self) -> Iterator[tuple[Any, Mark]]:
        """(config values, mark) of every action that would be invoked."""
        for key in ("action_invocations", "deferred_action_invocations"):
            for entry in self._document.get(key) or ():
                yield from _invocation_values(entry)

    def _sensitive_outputs(self) -> Iterator[str]:
        for name, change in _members(self._document.get("output_changes")):
            if change.get("before_sensitive") or change.get("after_sensitive"):
                yield name
        for holder in (
            _at(self._document, "planned_values", "outputs"),
            _at(self._document, "prior_state", "values", "outputs"),
            _at(self._document, "configuration", "root_module", "outputs"),
        ):
            yield from (name for name, item in _members(holder) if item.get("sensitive") is True)


def _entries(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    yield from document.get("resource_changes") or ()
    yield from document.get("resource_drift") or ()
    yield from (entry["resource_change"] for entry in document.get("deferred_changes") or ())


def _identity(entry: Mapping[str, Any]) -> tuple[str, str]:
    return str(entry.get("address")), str(entry.get("deposed") or entry.get("deposed_key") or "")


def _configured(module: Mapping[str, Any]) -> Iterator[tuple[str, Any, bool]]:
    """(name, constant, whether flagged) of variable defaults and module arguments, all levels."""
    for name, item in _members(module.get("variables")):
        yield name, item.get("default"), item.get("sensitive") is True
    for _, call in _members(module.get("module_calls")):
        marked = Sensitivity.sensitive_arguments(call)
        for name, item in _members(call.get("expressions")):
            yield name, item.get("constant_value"), name in marked
        yield from _configured(_at(call, "module"))


def _invocation_values(entry: Any) -> Iterator[tuple[Any, Mark]]:
    if isinstance(entry, dict):
        if "config_values" in entry:
            yield entry["config_values"], entry.get("config_sensitive")
        for value in entry.values():
            yield from _invocation_values(value)


def resources_of(module: Any) -> Iterator[dict[str, Any]]:
    """The resources of a module of a state and of all modules below it."""
    if isinstance(module, dict):
        yield from (item for item in module.get("resources") or () if isinstance(item, dict))
        for child in module.get("child_modules") or ():
            yield from resources_of(child)


def _at(holder: Mapping[str, Any], *steps: str) -> Mapping[str, Any]:
    """What stands at a path of members, {} where there is none."""
    for step in steps:
        found = holder.get(step)
        holder = found if isinstance(found, dict) else {}
    return holder


def _members(holder: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(holder, dict):
        yield from ((key, value) for key, value in holder.items() if isinstance(value, dict))
