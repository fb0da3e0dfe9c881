"""Plans nothing real: a delay, rounds of waiting, a failure or a size, as its config says."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from foretell.domain.context import DispatchContext, Side
from foretell.domain.diff import TextDiff, unified_diff
from foretell.domain.digest import digest
from foretell.domain.errors import AgentRejected
from foretell.domain.plan import JsonObject
from foretell.domain.result import Action, Done, Kind, KindResult, Outcome, Pending, ResourceChange
from foretell.inventory.open_config import open_complaints
from foretell.inventory.wording import Complaint, complaints
from foretell.ports import Agent, AgentTools

KIND = Kind("plan")
_LARGEST = 20_000_000
_TEMPLATE_MARKS = ("{{", "{%")


def _parsed(value: Any) -> Any:
    """A template leaves text where a number or a flag is meant."""
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


class Config(BaseModel):
    """`delay` in seconds; `size` of each side's text in bytes."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel)

    delay: Annotated[float, BeforeValidator(_parsed), Field(ge=0, le=3600)] = 0
    pending_rounds: Annotated[int, BeforeValidator(_parsed), Field(ge=0, le=1000)] = 0
    fail: Annotated[bool, BeforeValidator(_parsed)] = False
    size: Annotated[int, BeforeValidator(_parsed), Field(ge=0, le=_LARGEST)] = 0


class TestRunner(Agent):
    """For trials and benchmarks: instant unless its config says otherwise."""

    __test__ = False  # pytest takes a name that begins with Test for a test
    type = "test-runner"
    timeout = timedelta(minutes=5)

    def __init__(self, tools: AgentTools) -> None:
        self._tools = tools

    def config_complaints(self, config: JsonObject, *, partial: bool) -> Sequence[Complaint]:
        """What is wrong with `config`; no key is required, so `partial` makes no difference."""
        return open_complaints(config, Config, partial=partial)

    async def plan(self, context: DispatchContext, state: JsonObject | None) -> Outcome:
        """Waits `delay`, says Pending `pendingRounds` times, then answers or fails."""
        config = _checked(await self._rendered(context.side))
        done = int((state or {}).get("round", 0))
        if done < config.pending_rounds:
            after = timedelta(seconds=config.delay)
            message = f"round {done + 1} of {config.pending_rounds}"
            return Pending({"round": done + 1}, after, message)
        if config.delay and not config.pending_rounds:
            await asyncio.sleep(config.delay)
        if config.fail:
            raise AgentRejected("the test runner failed, as its config says (fail: true)")
        return Done((_result(context, config.size),))

    async def _rendered(self, side: Side) -> Any:
        """The config with its templates rendered; without one nobody is asked."""
        if not any(_is_template(value) for value in side.agent_config.values()):
            return dict(side.agent_config)
        return await self._tools.templates.render(
            dict(side.agent_config), side.template_variables()
        )


def _result(context: DispatchContext, size: int) -> KindResult:
    current = _text(context.current, size)
    proposed = _text(context.proposed, size)
    change = unified_diff(current, proposed)
    return KindResult(
        kind=KIND,
        current=current,
        proposed=proposed,
        has_changes=current != proposed,
        content_hash=digest("h1", proposed),
        diff=change.text,
        additions=change.additions,
        deletions=change.deletions,
        resources=_changes(context, current, proposed, change),
    )


def _is_template(value: Any) -> bool:
    return isinstance(value, str) and any(mark in value for mark in _TEMPLATE_MARKS)


def _checked(config: Mapping[str, Any]) -> Config:
    try:
        return Config.model_validate(config)
    except ValidationError as error:
        told = "; ".join(f"{each.field}: {each.message}" for each in complaints(error, Config))
        raise AgentRejected(f"the config of the test runner is wrong: {told}") from None


def _text(side: Side | None, size: int) -> str:
    """What would be deployed, of about `size` bytes: the version's tag and lines to fill."""
    if side is None:
        return ""
    head = f"target: {side.environment.get('name')}/{side.resource.get('identifier')}\n"
    lines = [head, f"version: {side.version.tag}\n"]
    filler = (size - sum(map(len, lines))) // _FILL_BYTES
    return "".join(lines + [f"line {number:08d}: unchanged\n" for number in range(filler)])


_FILL_BYTES = len("line 00000000: unchanged\n")


def _changes(
    context: DispatchContext, current: str, proposed: str, change: TextDiff
) -> tuple[ResourceChange, ...]:
    """The target as the one object that changes;."""
    if current == proposed:
        return ()
    action = Action.MODIFY if current and proposed else Action.DELETE if current else Action.ADD
    return (
        ResourceChange(
            kind="Target",
            name=str(context.side.resource.get("identifier", "")),
            action=action,
            before=current,
            after=proposed,
            diff=change.text,
            additions=change.additions,
            deletions=change.deletions,
            result_kind=KIND,
        ),
    )
