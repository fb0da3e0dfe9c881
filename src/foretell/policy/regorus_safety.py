"""Variables that nothing gives a value to, where the embedded engine does not look.

It finds them in a body (`input.x == y`), but not in what a rule or a comprehension brings
(`deny contains msg if input.x`): there it errs once the body holds, and is silent until then.
Takes the same tree as `regorus_tree`.
"""

from collections.abc import Collection, Iterator
from typing import Any

from foretell.policy.outline import Problem

_COMPREHENSIONS = ("ArrayCompr", "SetCompr", "ObjectCompr")
_ALWAYS = frozenset({"input", "data", "_"})


def unsafe_variables(module: Any, known: Collection[str] = ()) -> Iterator[Problem]:
    """One problem a place, by the order of the text; `known` are rules of other modules."""
    search = _Search(module, known)
    for rule in module["ast"]["rules"]:
        ((_, content),) = rule.items()
        yield from search.rule(content)


class _Search:
    def __init__(self, module: Any, known: Collection[str]) -> None:
        self._source = module["source"]["contents"].encode()
        tree = module["ast"]
        heads = [_head(content) for rule in tree["rules"] for content in rule.values()]
        self._known = _ALWAYS.union(known) | {_root(head["refr"]) for head in heads}
        self._known |= {self._import(node) for node in tree["imports"]}

    def _import(self, node: Any) -> str:
        if node.get("as"):
            return self._text(node["as"])
        ((_, reference),) = node["refr"].items()
        return str(reference["field"][1]) if "field" in reference else ""

    def rule(self, content: Any) -> Iterator[Problem]:
        head = _head(content)
        known = self._known | self._names(head.get("args", []))
        bodies = content.get("bodies") or [None]
        first = [head.get("key"), head.get("assign"), _index(head["refr"])]
        for position, body in enumerate(bodies):
            terms = [body and body["assign"], *(first if position == 0 else [])]
            query = body["query"] if body else None
            yield from self._scope(terms, query, known)
        if "value" in content:
            yield from self._scope([content["value"]], None, known)

    def _scope(self, terms: list[Any], query: Any, known: frozenset[str]) -> Iterator[Problem]:
        """What `terms` may name is known outside or stands in `query`."""
        inside = known | self._names(query)
        for name, line in _variables(terms):
            if name not in inside:
                yield Problem(line, f"variable `{name}` is unsafe: nothing gives it a value")
        yield from self._below([terms, query], inside)

    def _below(self, tree: Any, known: frozenset[str]) -> Iterator[Problem]:
        if isinstance(tree, list):
            for each in tree:
                yield from self._below(each, known)
        elif isinstance(tree, dict):
            for kind, node in tree.items():
                if kind in _COMPREHENSIONS:
                    terms = [node.get("term"), node.get("key"), node.get("value")]
                    yield from self._scope(terms, node["query"], known)
                elif kind == "Every":
                    spans = [node["key"], node["value"]]
                    own = known | {self._text(span) for span in spans if span}
                    yield from self._below(node["domain"], known)
                    yield from self._scope([], node["query"], own)
                else:
                    yield from self._below(node, known)

    def _names(self, tree: Any) -> frozenset[str]:
        """Variables of `tree` itself and those that it declares."""
        declared = {self._text(span) for span in _declared(tree)}
        return frozenset({name for name, _ in _variables(tree)} | declared)

    def _text(self, span: Any) -> str:
        return str(self._source[span["start"] : span["end"]].decode())


def _head(content: Any) -> Any:
    if "head" not in content:
        return content
    ((_, head),) = content["head"].items()
    return head


def _root(reference: Any) -> str:
    ((_, node),) = reference.items()
    return _root(node["refr"]) if "refr" in node else str(node["value"])


def _index(reference: Any) -> Any:
    return reference.get("RefBrack", {}).get("index")


def _variables(tree: Any) -> Iterator[tuple[str, int]]:
    """Name and line of each, without what has a scope of its own and without called names."""
    if isinstance(tree, list):
        for each in tree:
            yield from _variables(each)
    elif isinstance(tree, dict):
        for kind, node in tree.items():
            if kind == "Var":
                yield node["value"], node["span"]["line"]
            elif kind == "Every":
                yield from _variables(node["domain"])
            elif kind not in _COMPREHENSIONS and kind != "fcn":
                yield from _variables(node)


def _declared(tree: Any) -> Iterator[Any]:
    """The spans of `some x, y`."""
    if isinstance(tree, list):
        for each in tree:
            yield from _declared(each)
    elif isinstance(tree, dict):
        for kind, node in tree.items():
            if kind == "SomeVars":
                yield from node["vars"]
            elif kind not in (*_COMPREHENSIONS, "Every"):
                yield from _declared(node)
