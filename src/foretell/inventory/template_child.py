"""Renders a batch of templates; runs in a sandbox child, so it imports Jinja and little else.

Not for import elsewhere, but for `problem`, which reads a template and runs nothing of it: see
`foretell.inventory.template`, which documents the rules.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any, Final

from jinja2 import StrictUndefined, TemplateSyntaxError, Undefined, UndefinedError, nodes
from jinja2.environment import TemplateExpression
from jinja2.exceptions import SecurityError, TemplateRuntimeError
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from jinja2.meta import find_undeclared_variables
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import missing

# A ConfigMap holds at most 1 MiB (Kubernetes, "ConfigMaps"), and no field holds more than that.
MAX_VALUE_BYTES: Final = 1024**2
_MAX_ITEMS: Final = 100_000
_NAMES_SHOWN: Final = 20
_REMEMBERED_LENGTH: Final = 4096
# After these words an expression begins, so a dot after one is a Go path's first.
_OPENERS: Final = frozenset(
    ("if", "elif", "else", "and", "or", "not", "in", "is", "set", "for", "with", "call", "filter")
)
_OPERANDS: Final = frozenset(("name", "string", "integer", "float", "rparen", "rbracket", "rbrace"))

_LANGUAGE: Final = (
    "templates are Jinja; of Go's there are only paths such as {{ .release.version.tag }}"
)
_TYPE_NAMES: Final = {"dict": "map", "list": "list", "str": "string", "NoneType": "null"}


class Refused(Exception):
    """A template is wrong; the message is for its author and starts with the template's path."""


class _Missing(StrictUndefined):
    """Says what is there instead. Names of keys only: values may be secret.

    `names` are those of the variables, `source` the template: a name that isn't in it was computed
    from a value, and is not shown.
    """

    names: tuple[str, ...] = ()
    source = ""

    @property
    def _undefined_message(self) -> str:
        if self._undefined_hint:
            return self._undefined_hint
        name = str(self._undefined_name)
        shown = repr(name) if name in self.source else "of a computed name"
        if self._undefined_obj is missing:
            return f"{shown} is not defined; there is {_listed(self.names)}"
        if isinstance(self._undefined_obj, dict):
            return f"there is no key {shown}; there is {_listed(self._undefined_obj)}"
        kind = type(self._undefined_obj).__name__
        return f"a {_TYPE_NAMES.get(kind, kind)} has no {shown}"


def _listed(names: Any) -> str:
    known = sorted(map(str, names))
    more = f" and {len(known) - _NAMES_SHOWN} more" if len(known) > _NAMES_SHOWN else ""
    return ", ".join(known[:_NAMES_SHOWN]) + more if known else "nothing"


class _GoPaths(Extension):
    """Drops the dot that begins an operand, so that `{{ .release.name }}` is `release.name`."""

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        before, operand = "", False
        for token in stream:
            begins = not operand and before != "dot" and stream.current.type == "name"
            if token.type == "dot" and begins:
                continue
            keyword = before != "dot" and token.type == "name" and token.value in _OPENERS
            operand = token.type in _OPERANDS and not keyword
            before = token.type
            yield token


class _Environment(ImmutableSandboxedEnvironment):
    """Maps have keys and nothing else: `config.items` is the key `items`."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        if isinstance(obj, dict) and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        if isinstance(obj, dict):
            found = argument.__hash__ is not None and argument in obj
            return obj[argument] if found else self.undefined(obj=obj, name=argument)
        return super().getitem(obj, argument)


def _finalize(value: Any) -> Any:
    """How a value reads inside a longer text: as JSON writes it, and null as nothing."""
    if isinstance(value, (str, Undefined)):
        return value
    if value is None:
        return ""
    return json.dumps(_plain(value), ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    """The JSON value; raises TypeError for what is none, such as a function that wasn't called."""
    if isinstance(value, Undefined):
        str(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, Iterator)):
        items = list(islice(value, _MAX_ITEMS + 1))
        if len(items) > _MAX_ITEMS:
            raise TypeError(f"the list has more than {_MAX_ITEMS:,} items")
        return [_plain(item) for item in items]
    raise TypeError(f"the result is a {type(value).__name__}, not a value")


def _environment() -> _Environment:
    environment = _Environment(
        undefined=_Missing, finalize=_finalize, extensions=[_GoPaths], keep_trailing_newline=True
    )
    # The same inputs give the same plan: nothing that rolls dice.
    del environment.globals["lipsum"]
    del environment.filters["random"]
    return environment


_ENVIRONMENT: Final = _environment()
_GLOBALS: Final = frozenset(_ENVIRONMENT.globals)


def _compiled(text: str, as_text: bool) -> Callable[[Mapping[str, Any]], Any]:
    # A warm child must not fill its memory with what it will not see again.
    compiled = _remembered if len(text) <= _REMEMBERED_LENGTH else _compile
    return compiled(text, as_text)


def _compile(text: str, as_text: bool) -> Callable[[Mapping[str, Any]], Any]:
    tree = _ENVIRONMENT.parse(text)
    if not as_text and len(tree.body) == 1 and isinstance(output := tree.body[0], nodes.Output):
        only = output.nodes[0]
        if len(output.nodes) == 1 and not isinstance(only, nodes.TemplateData):
            # As Environment.compile_expression does, which takes a source without the braces.
            body: list[nodes.Node] = [nodes.Assign(nodes.Name("result", "store"), only, lineno=1)]
            template = _ENVIRONMENT.from_string(nodes.Template(body, lineno=1))
            expression = TemplateExpression(template, undefined_to_none=False)
            return lambda variables: _plain(expression(variables))
    return _ENVIRONMENT.from_string(text).render


_remembered: Final = lru_cache(maxsize=512)(_compile)


def render(request: Mapping[str, Any]) -> list[Any]:
    """`{"texts": [[path, text]], "asText": bool, "variables": {…}}` -> a value for each text."""
    variables = request["variables"]
    _Missing.names = tuple(variables)
    return [_one(path, text, request["asText"], variables) for path, text in request["texts"]]


def problem(text: str, names: frozenset[str]) -> str | None:
    """Why a template can't be rendered over variables with these names, as far as its text says."""
    try:
        unknown = sorted(find_undeclared_variables(_ENVIRONMENT.parse(text)) - names - _GLOBALS)
    except Exception as error:
        return _reason(error)
    return f"{unknown[0]!r} is not defined; there is {_listed(names)}" if unknown else None


def _one(path: str, source: str, as_text: bool, variables: Mapping[str, Any]) -> Any:
    _Missing.source = source
    place = f"{path}: " if path else ""
    try:
        value = _compiled(source, as_text)(variables)
        text = value if isinstance(value, str) else json.dumps(value, allow_nan=False)
        size_bytes = len(text.encode())
    except Exception as error:
        raise Refused(f"{place}{_reason(error)}") from error
    if size_bytes > MAX_VALUE_BYTES:
        raise Refused(f"{place}the result is larger than {MAX_VALUE_BYTES:,} bytes")
    return value


def _reason(error: Exception) -> str:
    """The author's side of an exception; of unknown ones the name only, they may hold values."""
    match error:
        case TemplateSyntaxError():
            return f"line {error.lineno}: {error.message} ({_LANGUAGE})"
        case SecurityError():
            return f"not allowed in a template: {error}"
        case UndefinedError() | TemplateRuntimeError() | TypeError() | OverflowError():
            return str(error)
        case MemoryError():
            return "needs more memory than a template may use"
        case _:
            return f"fails with {type(error).__name__}"
