"""A client of the fake GitHub within this process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import httpx

from foretell.kit.http import Http, Options
from foretell.ports import Clock
from foretell.reporters.github.auth import Access, AppAccess, Repository, TokenAccess
from foretell.reporters.github.client import Github
from foretell.testing.budget import FreeBudget
from foretell.testing.github import FakeGithub, app_key

APP = Repository("acme", "shop")
SHA = "a" * 40
API = "https://api.github.com"


def wire(fake: FakeGithub) -> httpx.MockTransport:
    """A connection that may break."""

    async def answered(request: httpx.Request) -> httpx.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        query = request.url.query.decode()
        found = await fake.answer(
            request.method, request.url.path, query, headers, await request.aread()
        )
        if found.status == 0:
            raise httpx.ReadError("the connection broke", request=request)
        return httpx.Response(found.status, headers=found.headers, content=found.content)

    return httpx.MockTransport(answered)


async def at_once(_: float) -> None:
    """Retries without waiting."""


def reach(fake: FakeGithub, address: str = API) -> Http:
    return Http(address, Options(transport=wire(fake)), sleep=at_once)


def world(clock: Clock | None = None) -> FakeGithub:
    """One repository with one pull request, and an App that is installed there."""
    fake = FakeGithub(clock)
    fake.add_repository("acme/shop")
    fake.add_pull("acme/shop", 7, SHA)
    fake.add_app(77, "foretell", app_key(), owners=["acme"])
    return fake


def by_app(fake: FakeGithub, http: Http) -> AppAccess:
    return AppAccess(http, "77", app_key, fake.clock)


@asynccontextmanager
async def client(
    fake: FakeGithub, token: str = "", budget: FreeBudget | None = None
) -> AsyncIterator[Github]:
    async with reach(fake) as http:
        access: Access = TokenAccess(http, token) if token else by_app(fake, http)
        yield Github(
            http, access, budget or FreeBudget(), fake.clock, turn_for=timedelta(seconds=5)
        )
