"""An installation that takes webhooks, with the step called by hand: no clock is waited for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import httpx
from github_events import SECRET, FakeForge, Pull, send
from installation import Site, make_site

from foretell.api.webhook import Webhook
from foretell.domain.plan import DeploymentId, Plan, PlanRequest, WorkspaceId
from foretell.domain.target import Deployment
from foretell.engine.pull_request import Tools, pull_request
from foretell.engine.submit import Submission, submit
from foretell.formats.pull_request.event import pull_subject
from foretell.ports import InventoryItem, PlanLimits, PullRequestRules
from foretell.store.postgres import PostgresStore

NO_WAIT = timedelta(0)


@dataclass
class Desk:
    """GitHub on one side, plans on the other."""

    site: Site
    pull: Pull
    forge: FakeForge | None
    rules: PullRequestRules = field(default_factory=PullRequestRules)
    limits: PlanLimits = field(default_factory=PlanLimits)
    quiet_for: timedelta = NO_WAIT

    async def tell(
        self, event: Mapping[str, Any] | bytes, name: str = "pull_request", **headers: str
    ) -> httpx.Response:
        """A delivery at the door, and nothing more."""
        async with self.site.client("") as client:
            return await send(client, event, name, **headers)

    async def see_to(self, subject: str = "") -> None:
        """What a worker does for the pull request, once."""
        pull = self.pull
        own = pull_subject(pull.host, pull.owner, pull.repo, pull.number)
        await pull_request(self.tools(), subject or own)

    async def happen(self, event: Mapping[str, Any], name: str = "pull_request") -> None:
        """Told and seen to."""
        answer = await self.tell(event, name)
        assert answer.status_code == 202, answer.text
        checks = f"github.com/{self.pull.owner}/{self.pull.repo}@{self.pull.sha}"
        await self.see_to(checks if name.startswith("check") else "")

    def tools(self) -> Tools:
        site = self.site
        return Tools(
            store=site.store,
            forge=self.forge,
            selectors=site.app.state.services.selectors,
            clock=site.clock,
            submits=self._submitted,
            rules=self.rules,
            quiet_for=self.quiet_for,
        )

    async def _submitted(
        self, workspace: WorkspaceId, deployment: DeploymentId, request: PlanRequest, key: str
    ) -> Plan:
        site = self.site
        wanted = Submission(workspace, deployment, request, key)
        selectors = site.app.state.services.selectors
        return await submit(site.store, selectors, site.clock, site.ids, self.limits, wanted)

    async def plans(self, workspace: str = "shop") -> Sequence[Plan]:
        """All plans of the workspace, newest first in each deployment."""
        id = self.site.workspaces[workspace].id
        async with self.site.store.begin() as tx:
            deployments = (await tx.inventory(id)).deployments
            return [
                plan for one in deployments for plan in await tx.list_plans(id, one.id, "", 100)
            ]

    async def told(self, workspace: str = "shop") -> list[tuple[str, str, str]]:
        """(deployment, first digits of the tag, status or reason) of each plan."""
        id = self.site.workspaces[workspace].id
        async with self.site.store.begin() as tx:
            names = {one.id: one.slug for one in (await tx.inventory(id)).deployments}
        return [
            (names[plan.deployment_id], plan.request.tag[:6], str(plan.reason or plan.status))
            for plan in await self.plans(workspace)
        ]

    async def put(self, *items: InventoryItem, workspace: str = "shop") -> None:
        async with self.site.store.begin() as tx:
            await tx.put_items(self.site.workspaces[workspace].id, items)


def deployment(number: int, slug: str, config: Mapping[str, Any], **more: Any) -> Deployment:
    id = DeploymentId(f"c0000000-0000-4000-8000-{number:012d}")
    return Deployment(id, slug, slug, job_agent_config=config, **more)


async def make_desk(store: PostgresStore, dsn: str) -> Desk:
    """Two workspaces of which one has a deployment that refers to acme/shop."""
    site = await make_site(store, dsn, webhook=Webhook(SECRET))
    pull = Pull()
    desk = Desk(site, pull, FakeForge(pull))
    await desk.put(deployment(1, "front", {"repoURL": "git@github.com:acme/shop.git"}))
    return desk
