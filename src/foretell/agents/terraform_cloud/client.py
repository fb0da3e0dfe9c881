"""The API of HCP Terraform and Terraform Enterprise, as far as a speculative run needs it.

Nothing here writes to a workspace: what is made are configuration versions and runs of our own.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from urllib.parse import quote, urlsplit

import orjson

from foretell.agents.terraform_cloud.outside import Outside
from foretell.agents.terraform_cloud.pace import TOO_MANY, Pace
from foretell.agents.terraform_cloud.run import OPEN, PlanView, RunView, read_plan, read_run
from foretell.agents.terraform_cloud.said import HIDDEN_OR_ABSENT, MAY_NOT_PLAN, failure, said
from foretell.domain.errors import AgentRejected, AgentUnavailable, InvalidRequest, Unavailable
from foretell.kit.http import Answer, Http, Options, Patience

API: Final = "api/v2"
_JSON_API: Final = "application/vnd.api+json"
_MOST_TURNS: Final = 5
_MOST_PAGES: Final = 5
_PAGE: Final = "100"


@dataclass(frozen=True, slots=True)
class Workspace:
    """What a plan needs to know of a workspace; `may_plan` None: the server does not say."""

    id: str
    name: str
    execution_mode: str
    working_directory: str
    may_plan: bool | None


@dataclass(frozen=True, slots=True)
class Configuration:
    """A configuration version; `upload_url` stands only in the answer to its making."""

    id: str
    status: str
    upload_url: str = ""
    error: str = ""


def open_http(address: str, token: str, transport: Any = None) -> Http:
    """A client for the API; the token is masked in its errors."""
    options = Options(
        headers={"Authorization": f"Bearer {token}", "Content-Type": _JSON_API},
        secrets=frozenset({token}),
        patience=Patience(attempts=3, read_for=timedelta(seconds=60)),
        transport=transport,
    )
    return Http(address, options)


class Client:
    """One server with one token. Every call takes its turn; errors are AgentErrors."""

    def __init__(self, http: Http, pace: Pace, outside: Outside, address: str) -> None:
        self._http = http
        self._pace = pace
        self.outside = outside
        self.secure = urlsplit(address).scheme == "https"

    async def call(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        params: Mapping[str, str] | None = None,
        listing: bool = False,
    ) -> Answer:
        """Any answer but 429, which is waited out. AgentUnavailable where none came."""
        sent = orjson.dumps(body) if body is not None else None
        wait_for = timedelta(0)
        for _ in range(_MOST_TURNS):
            try:
                await self._pace.turn(listing=listing)
                answer = await self._http.request(
                    method,
                    f"{API}/{path}",
                    body=sent,
                    headers={"Content-Type": _JSON_API},
                    params=params,
                )
            except Unavailable as error:
                raise AgentUnavailable(error.message) from error
            wait_for = await self._pace.learn(answer)
            if answer.status != TOO_MANY:
                return answer
        raise AgentUnavailable("the API's rate limit is used up by others", retry_after=wait_for)

    async def workspace(self, organization: str, name: str) -> Workspace:
        """AgentRejected where it is not there, or not for this token."""
        attempted = f"workspace {organization}/{name}"
        path = f"organizations/{quote(organization, safe='')}/workspaces/{quote(name, safe='')}"
        data = _data(_expect(await self.call("GET", path), attempted, 200))
        attributes = _map(data, "attributes")
        return Workspace(
            id=_id(data, attempted),
            name=name,
            execution_mode=str(attributes.get("execution-mode") or ""),
            working_directory=str(attributes.get("working-directory") or ""),
            may_plan=_map(attributes, "permissions").get("can-queue-run"),
        )

    async def create_configuration(self, workspace_id: str) -> Configuration:
        """A speculative one that queues no run by itself: left out, that is what it would do."""
        attributes = {"auto-queue-runs": False, "speculative": True}
        body = {"data": {"type": "configuration-versions", "attributes": attributes}}
        path = f"workspaces/{workspace_id}/configuration-versions"
        answer = await self.call("POST", path, body=body)
        attempted = "making a configuration version"
        found = _configuration(_expect(answer, attempted, 201, hint=MAY_NOT_PLAN), attempted)
        if not found.upload_url:
            raise AgentRejected(f"{attempted}: the answer has no upload-url")
        return found

    async def upload(self, url: str, content: bytes) -> None:
        """The archive, to wherever the server wants it."""
        attempted = "uploading the configuration"
        answer = await self.outside.put(url, content, attempted, secure=self.secure)
        if answer.status not in (200, 201, 204):
            raise failure(answer, attempted, "the place to upload to is gone")

    async def configuration(self, configuration_id: str) -> Configuration:
        """As it is now."""
        attempted = f"configuration version {configuration_id}"
        answer = await self.call("GET", f"configuration-versions/{configuration_id}")
        return _configuration(_expect(answer, attempted, 200), attempted)

    async def archive_configuration(self, configuration_id: str) -> None:
        """The server may forget the upload; if it will not, nothing is lost."""
        with suppress(AgentUnavailable, AgentRejected):
            await self.call("POST", f"configuration-versions/{configuration_id}/actions/archive")

    async def create_run(self, body: Mapping[str, Any]) -> RunView:
        """Not to be repeated blindly: after a lost answer the run may be there."""
        attempted = "making a run"
        answer = await self.call("POST", "runs", body=body)
        return _run(_expect(answer, attempted, 201, hint=MAY_NOT_PLAN), attempted)

    async def run(self, run_id: str) -> RunView | None:
        """As it is now, with its plan; None: it is gone, or hidden from this token."""
        answer = await self.call("GET", f"runs/{run_id}", params={"include": "plan"})
        if answer.status == 404:
            return None
        attempted = f"run {run_id}"
        return _run(_expect(answer, attempted, 200), attempted)

    async def plan(self, plan_id: str) -> PlanView:
        """A run's plan, where the run did not bring it along."""
        answer = await self.call("GET", f"plans/{plan_id}")
        return read_plan(plan_id, _data(_expect(answer, f"plan {plan_id}", 200)))

    async def act(self, run_id: str, action: str, comment: str) -> bool:
        """Whether `cancel` or `discard` was taken; 409 is a normal answer: it is not possible
        now, as where the run ended meanwhile. A run that is gone needs nothing."""
        answer = await self.call(
            "POST", f"runs/{run_id}/actions/{action}", body={"comment": comment}
        )
        if answer.status in (409, 404):
            return False
        _expect(answer, f"{action} of run {run_id}", 202, 200)
        return True

    async def runs(self, path: str, text: str, *, only_open: bool) -> AsyncIterator[RunView]:
        """Plan-only runs of a workspace or an organization (`path`), newest first.

        They are left out of lists that do not ask for them. `text` is what their messages hold,
        where the server can search; not every one can.
        """
        params = {"filter[operation]": "plan_only", "search[basic]": text, "page[size]": _PAGE}
        if only_open:
            params["filter[status]"] = ",".join(OPEN)
        for number in range(1, _MOST_PAGES + 1):
            answer = await self.call(
                "GET", f"{path}/runs", params={**params, "page[number]": str(number)}, listing=True
            )
            document = _document(_expect(answer, "the list of runs", 200), "the list of runs")
            for each in document.get("data") or ():
                yield read_run(each)
            if not _map(_map(document, "meta"), "pagination").get("next-page"):
                return


def _expect(answer: Answer, attempted: str, *statuses: int, hint: str = HIDDEN_OR_ABSENT) -> Answer:
    if answer.status not in statuses:
        raise failure(answer, attempted, hint)
    return answer


def _document(answer: Answer, attempted: str) -> Mapping[str, Any]:
    try:
        document = answer.json()
    except InvalidRequest as error:
        raise AgentUnavailable(f"{attempted}: {said(answer)}") from error
    if not isinstance(document, Mapping):
        raise AgentRejected(f"{attempted}: expected a JSON:API document")
    return document


def _data(answer: Answer) -> Any:
    return _document(answer, "the answer").get("data")


def _run(answer: Answer, attempted: str) -> RunView:
    document = _document(answer, attempted)
    run = read_run(document.get("data"), document.get("included"))
    if not run.id:
        raise AgentRejected(f"{attempted}: the answer names no run")
    return run


def _configuration(answer: Answer, attempted: str) -> Configuration:
    data = _data(answer)
    attributes = _map(data, "attributes")
    reasons = (attributes.get("error"), attributes.get("error-message"))
    return Configuration(
        id=_id(data, attempted),
        status=str(attributes.get("status") or ""),
        upload_url=str(attributes.get("upload-url") or ""),
        error=": ".join(str(reason) for reason in reasons if reason),
    )


def _id(data: Any, attempted: str) -> str:
    found = data.get("id") if isinstance(data, Mapping) else None
    if not isinstance(found, str) or not found:
        raise AgentRejected(f"{attempted}: the answer has no id")
    return found


def _map(holder: Any, name: str) -> Mapping[str, Any]:
    value = holder.get(name) if isinstance(holder, Mapping) else None
    return value if isinstance(value, Mapping) else {}
