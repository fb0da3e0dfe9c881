"""Which state is the later one, which head may be planned, and which deployments it belongs to."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from foretell.domain.errors import InvalidRequest
from foretell.domain.plan import AgentId, DeploymentId, EnvironmentId, ResourceId
from foretell.domain.target import AgentSpec, Deployment, Environment, Inventory, Resource
from foretell.engine.pull_request.order import followed, guessed, is_newer
from foretell.engine.pull_request.referring import referring
from foretell.engine.pull_request.rules import allow, glob
from foretell.formats.pull_request.event import Moved
from foretell.formats.pull_request.head import PullRequest
from foretell.formats.pull_request.repository import repository
from foretell.ports import Forks, PullRequestRules, PullRequestState

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
PULL = PullRequest("github.com", "acme", "shop", 7, "a" * 40, "topic", "main", AT)
SHOP = repository("github.com", "acme", "shop")


def moved(sha: str, before: str = "", later: int = 0, **more: Any) -> Moved:
    told = replace(PULL, sha=sha * 40, updated_at=AT + later * SECOND, **more)
    return Moved(told, before and before * 40)


def known(sha: str, before: str = "", **more: Any) -> PullRequestState:
    return followed(None, moved(sha, before, **more))


@pytest.mark.parametrize(
    ("state", "event", "newer"),
    [
        (known("a"), moved("b", later=1), True),
        (known("a"), moved("b", later=-1), False),
        (known("a"), moved("a"), True),
        (known("a"), moved("b", before="a"), True),
        (known("b", before="a"), moved("a"), False),
        (known("c", before="b"), moved("b", before="a"), False),
        (known("c", before="b"), moved("a"), None),
        (known("a", before="b"), moved("b", before="a"), None),
        (known("a"), moved("a", is_open=False), None),
        (known("a"), moved("a", labels=("x",)), None),
    ],
)
def test_the_later_state_is_told_by_time_then_by_heads(
    state: PullRequestState, event: Moved, newer: bool | None
) -> None:
    assert is_newer(state, event) is newer


def test_a_state_keeps_the_head_before_it_until_the_head_moves() -> None:
    state = known("b", before="a")
    assert followed(state, moved("b", later=1)).before == "a" * 40
    assert followed(state, moved("c", before="b", later=1)).before == "b" * 40


def test_where_nobody_can_tell_what_is_closed_stays_closed() -> None:
    closed = known("a", is_open=False)
    assert guessed(closed, moved("a")) == closed
    assert not guessed(known("a"), moved("a", is_open=False)).pull_request.is_open


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("charts/**", "charts/web/values.yaml", True),
        ("charts/**", "charts", False),
        ("charts/", "charts/web/values.yaml", True),
        ("/charts/", "charts/a", True),
        ("charts/", "my/charts/a", False),
        ("charts/*", "charts/web/values.yaml", False),
        ("charts/*/values.yaml", "charts/web/values.yaml", True),
        ("**/values.yaml", "values.yaml", True),
        ("**/values.yaml", "a/b/values.yaml", True),
        ("**/values.yaml", "a/myvalues.yaml", False),
        ("*.tf", "infra/main.tf", True),
        ("*.tf", "main.tf", True),
        ("*.tf", "main.tfvars", False),
        ("v?.yaml", "a/v1.yaml", True),
        ("a.b", "aXb", False),
        ("[ab].yaml", "a.yaml", False),
        ("**", "anything/at all", True),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/x/y/b", True),
    ],
)
def test_a_pattern_fits_paths_as_the_documents_say(pattern: str, path: str, fits: bool) -> None:
    assert bool(glob(pattern).fullmatch(path)) is fits


def state_of(**more: Any) -> PullRequestState:
    return PullRequestState(replace(PULL, **more))


def test_a_fork_may_be_planned_only_as_the_setting_says() -> None:
    fork = state_of(is_fork=True)
    asked = replace(fork, asked_sha=PULL.sha)
    assert [allow(PullRequestRules(forks=one), fork) for one in Forks] == [False, False, True]
    assert [allow(PullRequestRules(forks=one), asked) for one in Forks] == [False, True, True]
    assert allow(PullRequestRules(), state_of())


def test_drafts_and_labels_hold_beside_each_other() -> None:
    rules = PullRequestRules(labels=("Plan",))
    assert allow(rules, state_of(labels=("plan",)))
    assert not allow(rules, state_of(labels=("planned",)))
    assert not allow(rules, state_of(labels=("plan",), is_draft=True))


def agent(name: str, config: Mapping[str, Any]) -> AgentSpec:
    return AgentSpec(AgentId(name), name, "argo-cd", config)


def front(config: Mapping[str, Any], **more: Any) -> Deployment:
    return Deployment(DeploymentId("front"), "front", "front", job_agent_config=config, **more)


def is_referring(deployment: Deployment, *agents: AgentSpec) -> bool:
    def matches(text: str, scope: Mapping[str, Any]) -> bool:
        if text == "broken" or (text == "by target" and "resource" not in scope):
            raise InvalidRequest("the selector makes no sense")
        return text in ("", "by target") or text == scope["jobAgent"]["name"]

    inventory = Inventory(
        (deployment,),
        (Environment(EnvironmentId("e"), "prod"),),
        (Resource(ResourceId("r"), "eu", "eu"),),
        agents,
    )
    items = (deployment, *agents)
    named = {one.id for one in items if "shop" in repr(one).lower()}
    return list(referring(inventory, named, SHOP, matches)) == [deployment]


def test_a_deployment_refers_by_its_own_config_its_agents_or_both() -> None:
    url = {"repoURL": "https://github.com/acme/shop"}
    assert is_referring(front(url))
    assert is_referring(front({}), agent("argo", url))
    assert is_referring(front({"repo": "shop"}), agent("argo", {"owner": "acme"}))
    assert is_referring(front({"owner": "acme"}), agent("argo", {"repo": "shop"}))
    assert not is_referring(front({"repo": "shop"}), agent("argo", {"owner": "umbrella"}))


def test_what_the_deployment_overrides_counts_no_more() -> None:
    elsewhere = {"source": {"repoURL": "https://github.com/acme/elsewhere"}}
    ours = {"source": {"repoURL": "https://github.com/acme/shop"}}
    assert not is_referring(front(elsewhere), agent("argo", ours))
    assert not is_referring(front({"source": None}), agent("argo", ours))


def test_an_agent_counts_only_where_it_is_asked() -> None:
    url = {"repoURL": "https://github.com/acme/shop"}
    agents = agent("argo", url), agent("helm", {})
    assert is_referring(front({}, job_agent_selector="argo"), *agents)
    assert not is_referring(front({}, job_agent_selector="helm"), *agents)


def test_a_selector_that_asks_about_targets_is_asked_about_them() -> None:
    url = {"repoURL": "https://github.com/acme/shop"}
    assert is_referring(front({}, job_agent_selector="by target"), agent("argo", url))


def test_a_selector_that_makes_no_sense_is_left_to_the_plan_to_tell() -> None:
    url = {"repoURL": "https://github.com/acme/shop"}
    assert is_referring(front({}, job_agent_selector="broken"), agent("argo", url))


def test_the_metadata_names_a_repository_that_only_rendering_would_tell() -> None:
    assert is_referring(front({}, metadata={"github/owner": "ACME", "github/repo": "shop"}))
    assert not is_referring(front({}, metadata={"github/repo": "shop"}))
