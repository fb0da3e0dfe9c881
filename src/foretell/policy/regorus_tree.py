"""The syntax tree of the embedded engine -> an `Outline`.

The tree is what regorus 0.13's `Engine.get_ast_as_json` gives: nested objects with one key, the
kind of the node; a span is `{line, col, start, end}`, the last two in bytes of the module's text.
"""

from collections.abc import Iterator
from typing import Any

from foretell.policy.outline import Outline, Path, Problem, Reference

_EXACT_TO = 2**64


def read_tree(module: Any) -> Outline:
    """The outline of one entry of the tree's list."""
    return _Reader(module).outline()


def inexact_numbers(module: Any) -> Iterator[Problem]:
    """Integers that the engine would round: it keeps what fits in 64 bits."""
    source = module["source"]["contents"].encode()
    for kind, node in _nodes(module["ast"]):
        if kind == "Number":
            text = _text(source, node["span"])
            if text.isdecimal() and int(text) >= _EXACT_TO:
                yield Problem(
                    node["span"]["line"],
                    f"this rule engine would round {text}: compare it as a string, or let the "
                    "server use the opa program",
                )


class _Reader:
    def __init__(self, module: Any) -> None:
        self._source = module["source"]["contents"].encode()
        self._tree = module["ast"]
        self._rules: dict[str, int] = {}
        self._references: list[Reference] = []
        self._local: set[tuple[str, str]] = set()

    def outline(self) -> Outline:
        aliases = [alias for each in self._tree["imports"] if (alias := self._import(each))]
        for rule in self._tree["rules"]:
            ((_, content),) = rule.items()
            self._rule(content)
        package = ("data", *_constant(self._tree["package"]["refr"])[0])
        local = frozenset(self._local)
        return Outline(package, self._rules, self._references, frozenset(aliases), local)

    def _import(self, node: Any) -> str | None:
        path, _ = _constant(node["refr"])
        self._references.append(Reference(node["span"]["line"], path))
        if path[0] != "data":
            return None
        return _text(self._source, node["as"]) if node.get("as") else path[-1]

    def _rule(self, content: Any) -> None:
        head = content
        if "head" in content:
            ((_, head),) = content["head"].items()
        name = _constant(head["refr"])[0][0]
        self._rules.setdefault(name, content["span"]["line"])
        for argument in head.get("args", ()):
            self._bind(name, argument)
        for key, value in {**content, **head}.items():
            if key not in ("refr", "head", "span", "args"):
                self._read(name, value)
        self._read(name, head["refr"].get("RefBrack", {}).get("index"))

    def _read(self, rule: str, content: Any) -> None:
        """Every reference below `content`, each chain of dots once."""
        if isinstance(content, list):
            for each in content:
                self._read(rule, each)
        elif isinstance(content, dict):
            for kind, node in content.items():
                self._node(rule, kind, node)

    def _node(self, rule: str, kind: str, node: Any) -> None:
        match kind:
            case "Var" | "RefDot" | "RefBrack":
                self._refer(rule, {kind: node}, called=False)
            case "Call":
                self._refer(rule, node["fcn"], called=True)
                self._read(rule, node["params"])
            case "AssignExpr" if node["op"] == "ColEq":
                self._bind(rule, node["lhs"])
                self._read(rule, node["rhs"])
            case "SomeVars" | "SomeIn" | "Every":
                self._declare(rule, kind, node)
            case _:
                self._read(rule, node)

    def _declare(self, rule: str, kind: str, node: Any) -> None:
        if kind == "SomeIn":
            self._bind(rule, node["key"])
            self._bind(rule, node["value"])
            self._read(rule, node["collection"])
            return
        spans = node["vars"] if kind == "SomeVars" else (node["key"], node["value"])
        self._local |= {(rule, _text(self._source, span)) for span in spans if span}
        if kind == "Every":
            self._read(rule, [node["domain"], node["query"]])

    def _bind(self, rule: str, pattern: Any) -> None:
        """Names in a pattern that stands where names are brought, and what it refers to else."""
        for kind, node in _nodes(pattern):
            if kind == "Var":
                self._local.add((rule, node["value"]))
        self._read(rule, pattern)

    def _refer(self, rule: str, node: Any, *, called: bool) -> None:
        path, indexes = _constant(node)
        if path:
            line = _span(node)["line"]
            self._references.append(Reference(line, path, rule, called))
        self._read(rule, indexes)


def _constant(node: Any) -> tuple[Path, list[Any]]:
    """The names of a reference up to the first that is computed, and all that is computed."""
    match node:
        case {"Var": {"value": name}}:
            return (name,), []
        case {"RefDot": {"refr": inner, "field": [_, name]}}:
            path, computed = _constant(inner)
            return (path, computed) if computed else ((*path, name), computed)
        case {"RefBrack": {"refr": inner, "index": index}}:
            path, computed = _constant(inner)
            if not computed and isinstance(index, dict) and "String" in index:
                return (*path, index["String"]["value"]), computed
            return path, [*computed, index]
        case _:
            return (), [node]


def _span(node: Any) -> Any:
    """Where a reference begins."""
    ((_, content),) = node.items()
    return _span(content["refr"]) if "refr" in content else content["span"]


def _nodes(tree: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(tree, list):
        for each in tree:
            yield from _nodes(each)
    elif isinstance(tree, dict):
        for kind, node in tree.items():
            if isinstance(node, dict):
                yield kind, node
            yield from _nodes(node)


def _text(source: bytes, span: Any) -> str:
    return source[span["start"] : span["end"]].decode()
