"""What agents can't take is found when the inventory is read, not when it is planned."""

from collections.abc import Mapping, Sequence

import pytest

from foretell.domain.context import DispatchContext
from foretell.domain.errors import InvalidRequest
from foretell.domain.plan import JsonObject
from foretell.domain.result import Outcome, Unsupported
from foretell.inventory.load import parse
from foretell.inventory.wording import Complaint
from foretell.ports import Agent

_KEYS = ("chart", "size")


class Picky(Agent):
    """Wants `chart` in the end, and nothing but it and `size`."""

    type = "picky"

    async def plan(self, context: DispatchContext, state: JsonObject | None) -> Outcome:
        return Unsupported("only here to be asked about its config")

    def config_complaints(self, config: JsonObject, *, partial: bool) -> Sequence[Complaint]:
        unknown = [Complaint((key,), "unknown key") for key in config if key not in _KEYS]
        missing = [] if partial or "chart" in config else [Complaint(("chart",), "missing")]
        return [*unknown, *missing]


class Installed:
    def find(self, type: str) -> Agent | None:
        return Picky() if type == "picky" else None

    def types(self) -> Sequence[str]:
        return ["picky"]

    def problems(self) -> Mapping[str, str]:
        return {}


TEXT = """\
jobAgents:
  - name: one
    type: picky
    config: {AGENT}
environments: [{name: e}]
resources: [{identifier: r}]
deployments:
  - name: web
    jobAgentConfig: {DEPLOYMENT}
"""


def text(agent: str = "{}", deployment: str = "{}") -> str:
    return TEXT.replace("{AGENT}", agent).replace("{DEPLOYMENT}", deployment)


def test_a_key_that_an_agent_does_not_know_is_named_in_both_layers() -> None:
    for given, field, line in [
        (text(agent="{chrt: a}"), "jobAgents[0].config.chrt", 4),
        (text(deployment="{chrt: a}"), "deployments[0].jobAgentConfig.chrt", 9),
    ]:
        with pytest.raises(InvalidRequest) as caught:
            parse({"a.yaml": given}, agents=Installed())
        (problem,) = caught.value.problems
        assert (problem.where, problem.field) == (f"a.yaml:{line}", field)


def test_a_required_key_may_stand_in_either_layer() -> None:
    for given in (text(agent="{chart: a}"), text(deployment="{chart: a}")):
        assert parse({"a.yaml": given}, agents=Installed()).warnings == ()


def test_a_required_key_that_only_the_request_could_give_is_a_warning() -> None:
    (warning,) = parse({"a.yaml": text()}, agents=Installed()).warnings
    assert warning.message == "with job agent 'one': chart: missing"


def test_a_type_that_is_not_installed_is_a_warning() -> None:
    given = text().replace("type: picky", "type: github-actions")
    (warning,) = parse({"a.yaml": given}, agents=Installed()).warnings
    assert str(warning) == (
        "a.yaml:3: jobAgents[0].type: no agent of type 'github-actions' is installed: "
        "its targets plan as unsupported (installed: picky)"
    )
