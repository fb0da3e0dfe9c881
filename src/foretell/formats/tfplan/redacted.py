"""A plan without its secrets: the only form that anything else is made from.

Two passes over the JSON. The first collects what is secret anywhere in it, because a secret
marked in one place stands unmarked in others (state, planned values, copies, messages). The
second hides.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from foretell.formats.redact.collect import Collector
from foretell.formats.redact.marks import Mark, Marks, normalised, united
from foretell.formats.redact.redactor import Redactor, Rules
from foretell.formats.tfplan.parse import parse_document
from foretell.formats.tfplan.plan import Plan
from foretell.formats.tfplan.sensitivity import Sensitivity, resources_of

DEFAULT_RULES: Final = Rules()
_NEVER: Final = frozenset({"provider_schemas"})
"""Left out: hundreds of kilobytes of schema, no value."""
_ONLY_RULES: Final = frozenset({"planned_values", "prior_state", "configuration"})
"""Read by rules alone; most of the size of a plan in which little changes."""


def redact(plan: Plan, rules: Rules = DEFAULT_RULES, *, for_rules: bool = True) -> Plan:
    """The plan with every secret hidden, in every field, and `redacted` set.

    The result's `document` is what policies get; without `for_rules` it lacks the sections that
    nothing else reads. A second `redact` changes nothing.
    """
    if plan.redacted:
        return plan
    redacted, _ = redact_with(plan, rules, for_rules=for_rules)
    return redacted


def redact_with(
    plan: Plan, rules: Rules = DEFAULT_RULES, *, for_rules: bool = True
) -> tuple[Plan, Redactor]:
    """As `redact`, with the redactor for the messages and logs that belong to this plan."""
    sensitivity = Sensitivity(plan.document, rules)
    redactor = _redactor(plan, rules, sensitivity)
    left_out = _NEVER if for_rules else _NEVER | _ONLY_RULES
    document = {name: part for name, part in plan.document.items() if name not in left_out}
    shown = _Pass(redactor, sensitivity).document(document)
    return parse_document(shown, redacted=True), redactor


def redactor_of(plan: Plan, rules: Rules = DEFAULT_RULES) -> Redactor:
    """What knows the plan's secrets, without the redacted plan itself."""
    return _redactor(plan, rules, Sensitivity(plan.document, rules))


def _redactor(plan: Plan, rules: Rules, sensitivity: Sensitivity) -> Redactor:
    return Redactor(rules, collected(plan, rules, sensitivity))


def collected(plan: Plan, rules: Rules, sensitivity: Sensitivity) -> set[str]:
    """Every secret string that the plan's own marks, flags and names give away."""
    collector = Collector(rules.names)
    document = plan.document
    for entry in sensitivity.entries:
        change = entry["change"]
        own = sensitivity.of_type(entry)
        collector.add(change.get("before"), _kept(change.get("before_sensitive"), own))
        collector.add(change.get("after"), _kept(change.get("after_sensitive"), own))
    for name, change in _items(document.get("output_changes")):
        for side in ("before", "after"):
            collector.add(change.get(side), sensitivity.output(name), named=rules.names.hides(name))
    for state in (
        document.get("planned_values"),
        (document.get("prior_state") or {}).get("values"),
    ):
        _collect_state(state, sensitivity, collector)
    _collect_variables(document, sensitivity, rules, collector)
    for values, mark in sensitivity.invocation_values():
        collector.add(values, _kept(mark))
    return collector.found


def _kept(mark: Mark, others: Marks = ()) -> Marks:
    found = normalised(mark)
    return (found, *others) if found else others


def _collect_state(state: Any, sensitivity: Sensitivity, collector: Collector) -> None:
    if not isinstance(state, dict):
        return
    for resource in resources_of(state.get("root_module")):
        marks = _kept(resource.get("sensitive_values"), sensitivity.of_type(resource))
        if marks or resource.get("mode") == "data":
            collector.add(resource.get("values"), marks)
    for name, output in _items(state.get("outputs")):
        collector.add(output.get("value"), sensitivity.output(name))


def _collect_variables(
    document: dict[str, Any], sensitivity: Sensitivity, rules: Rules, collector: Collector
) -> None:
    for name, variable in _items(document.get("variables")):
        named = rules.names.hides(name)
        collector.add(variable.get("value"), sensitivity.variable(name), named=named)
    for name, value, marked in sensitivity.configured:
        collector.add(value, (True,) if marked else (), named=rules.names.hides(name))


def _items(holder: Any) -> Iterable[tuple[str, dict[str, Any]]]:
    if isinstance(holder, dict):
        yield from ((key, value) for key, value in holder.items() if isinstance(value, dict))


class _Pass:
    """The second pass, section by section; a section nobody knows goes through all nets too."""

    def __init__(self, redactor: Redactor, sensitivity: Sensitivity) -> None:
        self._redactor = redactor
        self._sensitivity = sensitivity

    def document(self, document: dict[str, Any]) -> dict[str, Any]:
        sections: dict[str, Callable[[Any], Any]] = {
            "resource_changes": self._changes,
            "resource_drift": self._changes,
            "deferred_changes": self._deferred,
            "output_changes": self._outputs,
            "variables": self._variables,
            "planned_values": self._values,
            "prior_state": self._state,
            "configuration": self._configuration,
            "action_invocations": self._invocations,
            "deferred_action_invocations": self._invocations,
        }
        return {
            self._redactor.text(key): sections.get(key, self._redactor.value)(value)
            for key, value in document.items()
        }

    def _changes(self, entries: Any) -> Any:
        return [self._entry(entry) for entry in entries or ()]

    def _entry(self, entry: dict[str, Any]) -> dict[str, Any]:
        old, new = self._sensitivity.of_entry(entry)
        return {
            key: self._text(key, value) if key != "change" else self._change(value, old, new)
            for key, value in entry.items()
        }

    def _text(self, key: str, value: Any) -> Any:
        if isinstance(value, str):
            return self._redactor.text(value) if key == "index" else self._redactor.address(value)
        return value if isinstance(value, int) and key == "index" else self._redactor.value(value)

    def _change(self, change: dict[str, Any], old: Marks, new: Marks, named: bool = False) -> Any:
        before, after = self._redactor.pair(
            change.get("before"), change.get("after"), old, new, named=named
        )
        hidden = {"before": before, "after": after}
        return {
            key: hidden[key] if key in hidden else self._redactor.value(value)
            for key, value in change.items()
        }

    def _deferred(self, entries: Any) -> Any:
        return [
            {
                key: self._entry(value) if key == "resource_change" else self._redactor.value(value)
                for key, value in entry.items()
            }
            for entry in entries or ()
        ]

    def _outputs(self, outputs: Any) -> Any:
        return {
            self._redactor.text(name): self._change(
                change,
                marks := self._sensitivity.output(name),
                marks,
                self._redactor.names.hides(name),
            )
            for name, change in (outputs or {}).items()
        }

    def _variables(self, variables: Any) -> Any:
        return {
            self._redactor.text(name): self._named_value(
                name, variable, self._sensitivity.variable(name)
            )
            for name, variable in _items(variables)
        }

    def _named_value(self, name: str, holder: dict[str, Any], marks: Marks) -> dict[str, Any]:
        named = self._redactor.names.hides(name)
        return {
            key: self._redactor.value(value, marks, named=named)
            if key in ("value", "default", "constant_value")
            else self._redactor.value(value)
            for key, value in holder.items()
        }

    def _state(self, state: Any) -> Any:
        if not isinstance(state, dict):
            return self._redactor.value(state)
        return {
            key: self._values(value) if key == "values" else self._redactor.value(value)
            for key, value in state.items()
        }

    def _values(self, values: Any) -> Any:
        if not isinstance(values, dict):
            return self._redactor.value(values)
        return {
            key: self._state_outputs(value) if key == "outputs" else self._module(value)
            for key, value in values.items()
        }

    def _state_outputs(self, outputs: Any) -> Any:
        return {
            self._redactor.text(name): self._named_value(
                name, output, self._sensitivity.output(name)
            )
            for name, output in _items(outputs)
        }

    def _module(self, module: Any) -> Any:
        if not isinstance(module, dict):
            return self._redactor.value(module)
        known: dict[str, Callable[[Any], Any]] = {
            "resources": lambda items: [self._resource(item) for item in items],
            "child_modules": lambda items: [self._module(item) for item in items],
        }
        return {
            key: known.get(key, lambda text: self._text("address", text))(value)
            for key, value in module.items()
        }

    def _resource(self, resource: dict[str, Any]) -> dict[str, Any]:
        old, new = self._sensitivity.of_entry(resource)
        marks = united(old, new)
        return {
            key: self._redactor.value(value, marks) if key == "values" else self._text(key, value)
            for key, value in resource.items()
        }

    def _invocations(self, entries: Any) -> Any:
        """`config_values` by `config_sensitive`, at whatever depth a version puts them."""
        if isinstance(entries, list):
            return [self._invocations(entry) for entry in entries]
        if not isinstance(entries, dict):
            return self._redactor.value(entries)
        marks = (entries["config_sensitive"],) if entries.get("config_sensitive") else ()
        return {
            key: self._redactor.value(value, marks)
            if key == "config_values"
            else self._invocations(value)
            for key, value in entries.items()
        }

    def _configuration(self, node: Any, *, named: bool = False) -> Any:
        """Names of modules, variables and arguments name code; what they hold may be secret."""
        if isinstance(node, list):
            return [self._configuration(item, named=named) for item in node]
        if not isinstance(node, dict):
            return self._redactor.value(node, named=named)
        return {key: self._configured(key, value, named) for key, value in node.items()}

    def _configured(self, key: str, value: Any, named: bool) -> Any:
        hides = self._redactor.names.hides
        match key, value:
            case "references" | "address" | "type" | "name" | "mode" | "provider_config_key", _:
                return self._redactor.value(value)
            case "variables", dict():
                return {
                    name: self._named_value(name, item, self._sensitivity.configured_variable(item))
                    for name, item in _items(value)
                }
            case "expressions" | "outputs" | "for_each_expression", dict():
                return {
                    name: self._configuration(item, named=named or hides(name))
                    for name, item in value.items()
                }
            case "module_calls" | "provider_config", dict():
                return {name: self._module_call(item) for name, item in _items(value)}
            case _:
                return self._configuration(value, named=named or hides(key))

    def _module_call(self, call: dict[str, Any]) -> dict[str, Any]:
        """A constant given to a sensitive variable of a module is hidden as the variable is."""
        marked = self._sensitivity.sensitive_arguments(call)
        expressions = call.get("expressions")
        if not marked or not isinstance(expressions, dict):
            return dict(self._configuration(call))
        shown = {
            name: self._redactor.value(item, ({"constant_value": True},))
            if name in marked
            else item
            for name, item in expressions.items()
        }
        return dict(self._configuration({**call, "expressions": shown}))
