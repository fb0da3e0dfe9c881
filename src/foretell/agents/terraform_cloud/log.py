"""A plan's log: the reason of a failure, and what changes where no JSON may be read.

JSON lines ("machine-readable UI") or plain text, between STX and ETX. It may hold what a provider
prints for debugging, so of plain text nothing but the end of a failure is ever shown.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from foretell.agents.terraform_cloud.outside import Outside
from foretell.domain.errors import AgentError
from foretell.kit.scrub import tail

_PIECE: Final = 65536
_MOST_BYTES: Final = 4 * 1024**2
_STX: Final = b"\x02"
_ETX: Final = b"\x03"
_LONGEST: Final = 2000
_MOST_DIAGNOSTICS: Final = 5
_STILL: Final = frozenset({"noop", "read"})


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """A `planned_change`: here `remove` means that the object is forgotten."""

    address: str
    type: str
    action: str


@dataclass(frozen=True, slots=True)
class PlanLog:
    """`structured` False: plain text, of which only `end` is known. `summary` None: no line said
    how many would change; in it `remove` means destroy."""

    structured: bool = False
    whole: bool = False
    changes: tuple[PlannedChange, ...] = ()
    summary: Mapping[str, int] | None = None
    outputs: int = 0
    errors: tuple[str, ...] = ()
    end: str = ""

    @property
    def reason(self) -> str:
        """Why it failed, in the program's words; "" where it does not say."""
        return "; ".join(self.errors[:_MOST_DIAGNOSTICS]) or self.end


async def read_log(outside: Outside, url: str, *, secure: bool) -> PlanLog:
    """The log as far as it goes; one that can't be read is an empty one: it is the last resort."""
    if not url:
        return PlanLog()
    content = b""
    try:
        while len(content) < _MOST_BYTES and not content.endswith(_ETX):
            params = {"limit": str(_PIECE), "offset": str(len(content))}
            answer = await outside.get(url, "the plan's log", secure=secure, params=params)
            if answer.status != 200 or not answer.body:
                break
            content += answer.body
    except AgentError:
        pass
    return parse_log(content)


def parse_log(content: bytes) -> PlanLog:
    """The log's events, or its end as text."""
    text = content.replace(_STX, b"").replace(_ETX, b"")
    events = list(_events(text))
    whole = content.endswith(_ETX)
    if not events:
        return PlanLog(whole=whole, end=tail(_plain(text), _LONGEST))
    return PlanLog(
        structured=True,
        whole=whole,
        changes=tuple(_changes(events)),
        summary=next(_summaries(events), None),
        outputs=sum(map(_changed_outputs, events)),
        errors=tuple(_diagnostics(events)),
    )


def _events(text: bytes) -> Iterator[Mapping[str, Any]]:
    """Plain lines may stand between the JSON ones."""
    for line in text.split(b"\n"):
        if line.lstrip()[:1] == b"{":
            try:
                event = orjson.loads(line)
            except orjson.JSONDecodeError:
                continue
            if isinstance(event, Mapping) and isinstance(event.get("type"), str):
                yield event


def _changes(events: list[Mapping[str, Any]]) -> Iterator[PlannedChange]:
    for event in events:
        change = event.get("change")
        if event["type"] != "planned_change" or not isinstance(change, Mapping):
            continue
        action, resource = change.get("action"), change.get("resource")
        if isinstance(action, str) and action not in _STILL and isinstance(resource, Mapping):
            addr, type_ = resource.get("addr"), resource.get("resource_type")
            yield PlannedChange(str(addr), str(type_ or ""), action)


def _summaries(events: list[Mapping[str, Any]]) -> Iterator[Mapping[str, int]]:
    for event in events:
        changes = event.get("changes")
        if event["type"] == "change_summary" and isinstance(changes, Mapping):
            yield {
                str(word): number
                for word, number in changes.items()
                if isinstance(number, int) and not isinstance(number, bool)
            }


def _changed_outputs(event: Mapping[str, Any]) -> int:
    outputs = event.get("outputs")
    if event["type"] != "outputs" or not isinstance(outputs, Mapping):
        return 0
    actions = (each.get("action") for each in outputs.values() if isinstance(each, Mapping))
    return sum(action not in (None, "noop") for action in actions)


def _diagnostics(events: list[Mapping[str, Any]]) -> Iterator[str]:
    """Summary and detail; the snippet may quote values and is left out."""
    for event in events:
        found = event.get("diagnostic")
        if isinstance(found, Mapping) and found.get("severity") == "error":
            parts = (found.get("address"), found.get("summary"), found.get("detail"))
            yield tail(": ".join(str(part) for part in parts if part), _LONGEST)


def _plain(text: bytes) -> str:
    """Without terminal colours."""
    shown: list[str] = []
    for piece in text.decode("utf-8", "replace").split("\x1b["):
        shown.append(piece if not shown else piece.partition("m")[2])
    return "".join(shown)
