"""The API from the outside: what `foretell plan` and `foretell show` ask a server.

A problem document comes back as the error that it was on the server, so that a command ends the
same way with a server and without.
"""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import quote

from foretell.domain.errors import (
    Conflict,
    Forbidden,
    ForetellError,
    InvalidRequest,
    NotFound,
    Problem,
    RateLimited,
    Unavailable,
)
from foretell.domain.plan import InvocationId, PlanId, ResultId
from foretell.domain.result import ResourceChange
from foretell.domain.summary import PlanReport
from foretell.formats.document import DiffMode, read_changes, read_report
from foretell.kit.http import Answer, Http, Options

SILENCE = timedelta(seconds=45)
"""Three of the stream's heartbeats: after that the connection is dead, and a new one is made."""
RECONNECTS = 30
"""Without an event in between, each after at most 30 s: a server may be restarted meanwhile."""


@dataclass(frozen=True, slots=True)
class Event:
    """One server-sent event; `data` is its JSON."""

    name: str
    id: str
    data: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Deployed:
    """A deployment's address on a server, by slugs or ids."""

    workspace: str
    deployment: str

    @property
    def path(self) -> str:
        """Below the server's address."""
        workspace, deployment = quote(self.workspace, safe=""), quote(self.deployment, safe="")
        return f"v1/workspaces/{workspace}/deployments/{deployment}"


class Client:
    """The calls of one server, on one shared connection pool."""

    def __init__(self, http: Http) -> None:
        self._http = http

    async def submit(
        self, where: Deployed, body: Mapping[str, Any], *, key: str, wait_seconds: int = 0
    ) -> PlanReport:
        """The plan, as far as it has come after `wait_seconds`.

        `key` names this request: tried again, it is the same plan, so that a connection that
        breaks off makes no second one.
        """
        answer = await self._http.request(
            "POST",
            f"{where.path}/plan",
            body=dict(body),
            headers={"Idempotency-Key": key, "Prefer": f"wait={wait_seconds}"},
            idempotent=True,
        )
        return read_report(_document(answer))

    async def get(
        self, where: Deployed, plan_id: PlanId, mode: DiffMode = DiffMode.FULL
    ) -> PlanReport:
        """The plan as far as it has come."""
        path = f"{where.path}/plan/{quote(plan_id, safe='')}"
        answer = await self._http.request("GET", path, params={"diff": mode.value})
        return read_report(_document(answer))

    async def changes(
        self, where: Deployed, plan_id: PlanId, result_id: ResultId
    ) -> tuple[ResourceChange, ...]:
        """The changes of one kind, with the texts before and after that a plan leaves out."""
        path = f"{where.path}/plan/{quote(plan_id, safe='')}/results/{quote(result_id, safe='')}"
        return read_changes(_document(await self._http.request("GET", path)))

    async def cancel(self, where: Deployed, plan_id: PlanId) -> PlanReport:
        """The plan, stopped, or as it had ended before."""
        path = f"{where.path}/plan/{quote(plan_id, safe='')}"
        return read_report(_document(await self._http.request("DELETE", path)))

    async def override(
        self, where: Deployed, plan_id: PlanId, body: Mapping[str, str]
    ) -> Mapping[str, Any]:
        """What came of it, as the API says; `body` has `rule`, `reason`, `policy`, `target`."""
        path = f"{where.path}/plan/{quote(plan_id, safe='')}/overrides"
        return _document(await self._http.request("POST", path, body=dict(body)))

    async def policy_input(
        self, where: Deployed, plan_id: PlanId, invocation: InvocationId
    ) -> Mapping[str, Any]:
        """What rules see of that invocation, redacted."""
        plan = f"{where.path}/plan/{quote(plan_id, safe='')}"
        path = f"{plan}/invocations/{quote(invocation, safe='')}/policy-input"
        return _document(await self._http.request("GET", path))

    async def list_plans(self, where: Deployed) -> AsyncIterator[Mapping[str, Any]]:
        """Every plan of the deployment, newest first, as the API lists them."""
        cursor: str | None = ""
        while cursor is not None:
            params = {"limit": "100", **({"cursor": cursor} if cursor else {})}
            answer = await self._http.request("GET", f"{where.path}/plans", params=params)
            page = _document(answer)
            for plan in page["plans"]:
                yield plan
            cursor = page["next"]

    async def put_inventory(
        self, workspace: str, text: str, *, dry_run: bool = False
    ) -> Mapping[str, Any]:
        """What applying the inventory in `text` (YAML) changed, or would change."""
        answer = await self._http.request(
            "PUT",
            f"v1/workspaces/{quote(workspace, safe='')}/inventory",
            body=text.encode(),
            headers={"Content-Type": "application/yaml"},
            params={"dryRun": "true" if dry_run else "false"},
        )
        return _document(answer)

    async def events(self, where: Deployed, plan_id: PlanId) -> AsyncIterator[Event]:
        """Every target once as it settles, without its diffs, then the summary.

        Goes on where it was after a connection that broke. Raises Unavailable where none comes
        about any more, NotFound when the plan is gone.
        """
        path = f"{where.path}/plan/{quote(plan_id, safe='')}/events?diff={DiffMode.NONE}"
        last, tries = "", 0
        while tries <= RECONNECTS:
            try:
                async for event in self._stream(path, last):
                    yield event
                    last, tries = event.id or last, 0
                    if event.name == "summary":
                        return
            except Unavailable:
                if tries == RECONNECTS:
                    raise
            await self._http.pause(tries)
            tries += 1
        raise Unavailable(f"the events of plan {plan_id} break off again and again")

    async def _stream(self, path: str, last: str) -> AsyncIterator[Event]:
        headers = {"Accept": "text/event-stream", **({"Last-Event-ID": last} if last else {})}
        async with self._http.lines(path, headers=headers, read_for=SILENCE) as (status, lines):
            if status != 200:
                body = "\n".join([line async for line in lines])
                raise error_of(Answer(status, {}, body.encode()))
            async for event in parse_events(lines):
                yield event


@asynccontextmanager
async def open_client(address: str, token: str) -> AsyncIterator[Client]:
    """A client of the server at `address`; raises InvalidRequest without a token."""
    if not token:
        raise InvalidRequest(
            "a server needs a token: set FORETELL_TOKEN "
            "(`foretell token create`, beside the server, makes one)"
        )
    options = Options(headers={"Authorization": f"Bearer {token}"}, secrets=frozenset({token}))
    async with Http(address, options) as http:
        yield Client(http)


async def parse_events(lines: AsyncIterator[str]) -> AsyncIterator[Event]:
    """Server-sent events (HTML standard, section 9.2.6); half an event at the end is none."""
    fields: dict[str, str] = {}
    async for line in lines:
        if not line:
            if "data" in fields:
                data = json.loads(fields["data"])
                yield Event(fields.get("event", "message"), fields.get("id", ""), data)
            fields = {}
            continue
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        # A line that begins with a colon is a comment: its name is empty.
        if name == "data" and "data" in fields:
            fields["data"] += f"\n{value}"
        elif name:
            fields[name] = value


def _document(answer: Answer) -> Mapping[str, Any]:
    if answer.status in (200, 201, 202):
        document: Mapping[str, Any] = answer.json()
        return document
    raise error_of(answer)


_ERRORS: Mapping[int, type[ForetellError]] = {
    401: Forbidden,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
}


def error_of(answer: Answer) -> ForetellError:
    """The error that the server's problem document tells of."""
    problem = _problem(answer)
    detail = str(problem.get("detail") or f"the server answered {answer.status}")
    if answer.status == 429:
        asked = answer.headers.get("retry-after", "")
        return RateLimited(detail, timedelta(seconds=int(asked) if asked.isdecimal() else 10))
    if answer.status >= 500:
        id = f" (id {problem['id']})" if problem.get("id") else ""
        return Unavailable(f"the server can't answer: {detail}{id}")
    kind = _ERRORS.get(answer.status)
    return kind(detail) if kind else InvalidRequest(detail, _places(problem))


def _problem(answer: Answer) -> Mapping[str, Any]:
    try:
        found = answer.json()
    except InvalidRequest:
        found = None
    if isinstance(found, dict):
        return found
    return {"detail": f"the server answered {answer.status}: {answer.text(200)}"}


def _places(problem: Mapping[str, Any]) -> list[Problem]:
    return [
        Problem(str(one.get("where", "")), str(one.get("field", "")), str(one.get("message", "")))
        for one in problem.get("errors", ())
        if isinstance(one, dict)
    ]
