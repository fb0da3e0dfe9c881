"""GitHub's REST API: paced, paged, its refusals in the words of `domain/errors.py`.

One client for all who talk to one GitHub; `https://HOST/api/v3` is an Enterprise server.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from foretell.domain.errors import (
    Conflict,
    Forbidden,
    ForetellError,
    InvalidRequest,
    NotFound,
    RateLimited,
    Unavailable,
)
from foretell.kit.http import Answer, Http
from foretell.ports import Clock
from foretell.ports.budget import Budget
from foretell.reporters.github.auth import Access, Author, Repository, bearer
from foretell.reporters.github.limits import (
    READ_BURST,
    READS_PER_SECOND,
    WRITE_BURST,
    WRITES_PER_SECOND,
    wait_asked,
)

PAGE = 100
"""The largest page that GitHub gives."""
_NEXT = re.compile(r'<([^<>]+)>;\s*rel="next"')
_MOVED = frozenset({301, 307, 308})


@dataclass(frozen=True, slots=True)
class _Call:
    method: str
    path: str
    body: Mapping[str, Any] | None
    params: Mapping[str, str] | None
    repeatable: bool


class Github:
    """Calls about repositories, each with the credentials for its own.

    Every method raises NotFound, Forbidden (401, 403), Conflict (409), InvalidRequest (400, 422),
    Unavailable (5xx, no answer), and RateLimited with the time that GitHub asks for, which all
    workers then keep. `turn_for` bounds the waiting for a turn: a job that has to wait longer
    does not keep a worker from its other work.
    """

    def __init__(
        self,
        http: Http,
        access: Access,
        budget: Budget,
        clock: Clock,
        turn_for: timedelta = timedelta(seconds=20),
    ) -> None:
        self._http = http
        self._access = access
        self._budget = budget
        self._clock = clock
        self._turn_for = turn_for

    @property
    def can_check(self) -> bool:
        """Whether these credentials can make check runs."""
        return self._access.can_check

    async def author(self) -> Author:
        """Who writes what we write."""
        return await self._access.author()

    async def get(
        self, repository: Repository, path: str, params: Mapping[str, str] | None = None
    ) -> Any:
        """What is at `path` below the repository (`pulls/7`)."""
        return (await self._call("GET", repository, path, params=params)).json()

    async def post(self, repository: Repository, path: str, body: Mapping[str, Any]) -> Any:
        """What was made; not repeated after a broken call, which may have made it."""
        return (await self._call("POST", repository, path, body=body)).json()

    async def patch(self, repository: Repository, path: str, body: Mapping[str, Any]) -> Any:
        """What was changed; repeated after a broken call, as twice is once."""
        return (await self._call("PATCH", repository, path, body=body)).json()

    async def add(self, repository: Repository, path: str, body: Mapping[str, Any]) -> Any:
        """What was changed by a PATCH that adds to what is there: twice is not once."""
        return (await self._call("PATCH", repository, path, body=body, repeatable=False)).json()

    async def delete(self, repository: Repository, path: str) -> None:
        """What is gone already is gone."""
        try:
            await self._call("DELETE", repository, path)
        except NotFound:
            return

    async def pages(
        self,
        repository: Repository,
        path: str,
        params: Mapping[str, str] | None = None,
        *,
        under: str = "",
    ) -> AsyncIterator[Any]:
        """Every item of every page; `under` is the name of the list where it is in an object."""
        page: Mapping[str, str] = {"per_page": str(PAGE), "page": "1", **(params or {})}
        while True:
            answer = await self._call("GET", repository, path, params=page)
            found = answer.json()
            for item in found[under] if under else found:
                yield item
            if not _NEXT.search(answer.headers.get("link", "")):
                return
            page = {**page, "page": str(int(page["page"]) + 1)}

    async def _call(
        self,
        method: str,
        repository: Repository,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        params: Mapping[str, str] | None = None,
        repeatable: bool = True,
    ) -> Answer:
        place = f"{repository.path}/{path}"
        call = _Call(method, place, body, params, repeatable and method != "POST")
        answer = await self._sent(repository, call)
        if answer.status == 401 and self._access.refused(repository):
            answer = await self._sent(repository, call)
        if answer.status in _MOVED and (moved := self._moved(answer)):
            answer = await self._sent(repository, replace(call, path=moved, params=None))
        if 200 <= answer.status < 300:
            return answer
        raise await self._refusal(method, repository, place, answer)

    async def _sent(self, repository: Repository, call: _Call) -> Answer:
        token = await self._access.token(repository)
        await self._turn(repository, writes=call.method != "GET")
        return await self._http.request(
            call.method,
            call.path,
            body=call.body,
            params=call.params,
            headers=bearer(token),
            idempotent=call.repeatable,
        )

    async def _turn(self, repository: Repository, *, writes: bool) -> None:
        rate, burst = (WRITES_PER_SECOND, WRITE_BURST) if writes else (READS_PER_SECOND, READ_BURST)
        name = self._budget_name(repository, writes=writes)
        try:
            async with asyncio.timeout(self._turn_for.total_seconds()):
                await self._budget.take(name, per_second=rate, burst=burst)
        except TimeoutError as error:
            raise RateLimited(f"{name}: no turn yet; try again later", self._turn_for) from error

    def _budget_name(self, repository: Repository, *, writes: bool) -> str:
        account = self._access.account(repository)
        return f"github {self._http.host} {account} {'write' if writes else 'read'}"

    def _moved(self, answer: Answer) -> str:
        """Where a renamed repository is now, "" for another server: it gets no credentials."""
        return self._http.path_of(answer.headers.get("location", ""))

    async def _refusal(
        self, method: str, repository: Repository, place: str, answer: Answer
    ) -> ForetellError:
        said = f"GitHub refused {method} {place} (status {answer.status}): {_said(answer)}"
        wait = wait_asked(answer, self._clock.now())
        if wait is None:
            return _error(answer, said)
        # A limit on an account is one on all that it does.
        for writes in (True, False):
            await self._budget.hold(self._budget_name(repository, writes=writes), wait)
        return RateLimited(said, wait)


def _said(answer: Answer) -> str:
    needed = answer.headers.get("x-accepted-github-permissions", "")
    hint = f"; it takes the permission {needed}" if needed and answer.status == 403 else ""
    return f"{answer.text(300)}{hint}"


def _error(answer: Answer, said: str) -> ForetellError:
    match answer.status:
        case 401 | 403:
            return Forbidden(said)
        case 404 | 410:
            return NotFound(said)
        case 409:
            return Conflict(said)
        case status if status >= 500:
            return Unavailable(said)
        case _:
            return InvalidRequest(said)
