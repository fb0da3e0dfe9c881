"""What rules see: objects, never a text where they count on objects."""

from dataclasses import replace

import pytest

from foretell.domain.context import AgentRef, DispatchContext, Side, Version
from foretell.domain.errors import InvalidRequest
from foretell.domain.plan import AgentId, InvocationId, PlanId, WorkspaceId
from foretell.domain.result import Action, Kind, KindResult, PolicySides, ResourceChange
from foretell.formats.parsed import MANIFESTS, policy_input

CONTEXT = DispatchContext(
    InvocationId("i"),
    PlanId("p"),
    WorkspaceId("w"),
    AgentRef(AgentId("a"), "agent", "scripted"),
    proposed=Side(Version("v2"), {}, {}, {"slug": "web"}, {"name": "prod"}, {"identifier": "x"}),
    current=None,
)
GOOD = KindResult(Kind("manifest"), "", "kind: A\n---\nkind: B\n", True)
DEEP = "a: " + "[" * 2_000 + "]" * 2_000


def test_manifests_are_lists_of_objects() -> None:
    seen = policy_input(CONTEXT, [GOOD])
    assert seen["manifest"]["current"] == []
    assert seen["manifest"]["proposed"] == [{"kind": "A"}, {"kind": "B"}]
    assert policy_input(CONTEXT, [replace(GOOD, proposed='{"kind": "A"}')])["manifest"][
        "proposed"
    ] == [{"kind": "A"}]


@pytest.mark.parametrize("kind", sorted(MANIFESTS))
@pytest.mark.parametrize("text", ["kind: [c4n4ry", "c4n4ry", "- c4n4ry", DEEP, '{"c4n4ry"'])
def test_what_can_not_be_read_as_objects_is_an_error_without_its_text(kind: str, text: str) -> None:
    sides = (replace(GOOD, proposed=text), replace(GOOD, current=text))
    change = ResourceChange("Service", "web", Action.ADD, after=text)
    for result in (*sides, replace(GOOD, resources=(change,))):
        with pytest.raises(InvalidRequest, match=f"the kind '{kind}' can't be read") as raised:
            policy_input(CONTEXT, [replace(result, kind=Kind(kind))])
        assert "c4n4ry" not in str(raised.value)


def test_other_kinds_are_what_their_text_is() -> None:
    for text, value in (
        ("No changes.", "No changes."),
        ('{"a": 1}', {"a": 1}),
        ("[1]", [1]),
        ("{broken", "{broken"),
        ("a: 1\n", [{"a": 1}]),
    ):
        seen = policy_input(CONTEXT, [KindResult(Kind("plan"), text, text, None)])
        assert seen["plan"]["proposed"] == value


def test_what_an_agent_gives_to_rules_comes_before_the_texts() -> None:
    given = replace(GOOD, proposed="for people", policy=PolicySides({"a": 1}, {"a": 2}))
    seen = policy_input(CONTEXT, [given])
    assert (seen["manifest"]["current"], seen["manifest"]["proposed"]) == ({"a": 1}, {"a": 2})
