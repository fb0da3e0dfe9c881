"""Templates in an inventory: sandboxed Jinja, rendered in children that can be killed.

The rules, which docs/reference/templates.md shows by example:

- A string that is exactly one `{{ expression }}` becomes the value itself: number, boolean, list,
  map, null. Any other is text; in it maps and lists are written as JSON, booleans as `true` and
  `false`, and null as nothing.
- Keys are never templates. A string without `{{`, `{%` or `{#` is left alone.
- A name that is not defined is an error. Data comes before methods: `config.items` is the key.
- A path may begin with a dot, as in Go: `{{ .release.version.tag }}`.
- Nothing is random, nothing is included, nothing is read.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any, Final, Self

from foretell.domain.errors import AgentRejected, AgentUnavailable
from foretell.kit.process import Limits, ProgramStopped
from foretell.kit.sandbox import ChildDied, Sandbox, TargetFailed

Path = tuple[str | int, ...]
"""Keys and indexes from the top of a value."""

_TARGET: Final = "foretell.inventory.template_child:render"
_OPENINGS: Final = ("{{", "{%", "{#")
VARIABLES: Final = frozenset(
    ("deployment", "environment", "resource", "version", "release", "variables")
)
"""What there is in every template (docs/reference/templates.md)."""
LIMITS: Final = Limits(
    wall=timedelta(seconds=5),
    memory_bytes=256 * 1024**2,
    output_bytes=32 * 1024**2,
    network=False,
)


class Templates:
    """Renders for many targets with up to `size` warm children; `aclose` it in the same loop."""

    def __init__(self, *, limits: Limits = LIMITS, size: int = 2) -> None:
        self._limits = limits
        self._sandbox = Sandbox(_TARGET, limits, size=size)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._sandbox.aclose()

    async def render(self, value: Any, variables: Mapping[str, Any], *, where: str = "") -> Any:
        """A copy of `value` (maps, lists, scalars) with every string in it rendered.

        `where` is the path of `value` for messages. All strings go to the child in one call, at
        most 1 MiB comes back for each. Raises AgentRejected that names the template's path and the
        undefined name, the line, or the limit.
        """
        texts = {_written(where, path): text for path, text in _placed(value, ())}
        if not texts:
            return value
        rendered = await self._ask(texts, variables, as_text=False)
        return _replaced(value, where, rendered.__getitem__)

    async def render_text(
        self, text: str, variables: Mapping[str, Any], *, where: str = "template"
    ) -> str:
        """`text` as text, also when it is one expression."""
        rendered = await self._ask({where: text}, variables, as_text=True)
        return str(rendered[where])

    async def _ask(
        self, texts: Mapping[str, str], variables: Mapping[str, Any], *, as_text: bool
    ) -> dict[str, Any]:
        request = {"texts": list(texts.items()), "asText": as_text, "variables": variables}
        try:
            values = await self._sandbox.call(request)
        except TargetFailed as error:
            raise AgentRejected(f"template {error.message}") from error
        except ChildDied as error:
            raise AgentUnavailable(f"templates could not be rendered: {error.message}") from error
        except ProgramStopped as error:
            raise AgentRejected(self._stopped(list(texts), error)) from error
        return dict(zip(texts, values, strict=True))

    def _stopped(self, paths: list[str], error: ProgramStopped) -> str:
        which = paths[0] if len(paths) == 1 else f"one of {len(paths)}, the first is {paths[0]}"
        wall = self._limits.wall.total_seconds()
        return (
            f"template {which}: stopped by a limit ({type(error).__name__}): at most {wall:g} s, "
            f"{self._limits.memory_bytes:,} bytes of memory and {self._limits.output_bytes:,} "
            "bytes of results; look for an endless loop or a string that grows"
        )


def template_problems(value: Any) -> Iterator[tuple[Path, str]]:
    """Where in `value` a template can't be rendered, as far as its text says, and why.

    What only the variables' values can tell (a key that is absent) is left for a plan.
    """
    # Imported late: it brings Jinja along, which only those who read inventories need.
    from foretell.inventory.template_child import problem

    for path, text in _placed(value, ()):
        if found := problem(text, VARIABLES):
            yield path, found


def _placed(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    match value:
        case str() if any(opening in value for opening in _OPENINGS):
            yield path, value
        case Mapping():
            for key, item in value.items():
                yield from _placed(item, (*path, key))
        case list() | tuple():
            for index, item in enumerate(value):
                yield from _placed(item, (*path, index))
        case _:
            pass


def _written(where: str, path: Path) -> str:
    for step in path:
        where = f"{where}[{step}]" if isinstance(step, int) else _below(where, step)
    return where


def _replaced(value: Any, path: str, rendered: Callable[[str], Any]) -> Any:
    match value:
        case str() if any(opening in value for opening in _OPENINGS):
            return rendered(path)
        case Mapping():
            return {
                key: _replaced(item, _below(path, key), rendered) for key, item in value.items()
            }
        case list() | tuple():
            return [
                _replaced(item, f"{path}[{index}]", rendered) for index, item in enumerate(value)
            ]
        case _:
            return value


def _below(path: str, key: object) -> str:
    """`a.b`, and `a["b.c"]` where a dot would not tell."""
    text = str(key)
    if not text or not text.replace("-", "_").isidentifier():
        return f'{path}["{text}"]'
    return f"{path}.{text}" if path else text
