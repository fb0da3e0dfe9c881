import pytest
from plan_samples import SECRET, change, output, plan

from foretell.domain.errors import InvalidRequest
from foretell.formats.tfplan.compare import compare
from foretell.formats.tfplan.redacted import redact

BASE = change("x.a", "update", {"v": 1, "l": [1, {"k": 1}]}, {"v": 2, "l": [1, {"k": 2}]})


def told(one, other) -> list[str]:
    return [str(difference) for difference in compare(one, other)]


def test_the_same_change_planned_twice_is_the_same() -> None:
    still = change("x.z", "no-op", {"v": 1}, {"v": 1})
    assert told(plan(BASE, still, timestamp="1"), plan(BASE, timestamp="2")) == []


def test_differences_name_addresses_and_paths_and_no_value() -> None:
    other = change("x.a", "update", {"v": 1, "l": [1, {"k": 1}]}, {"v": 3, "l": [1, {"k": 9}]})
    assert told(plan(BASE), plan(other)) == ["x.a: other values at l[1].k, v"]


@pytest.mark.parametrize(
    ("one", "other", "line"),
    [
        (plan(BASE), plan(), "x.a: only in the first"),
        (plan(), plan(BASE), "x.a: only in the second"),
        (plan(change("x.a", "delete")), plan(change("x.a", "create")), "x.a: other actions"),
        (
            plan(change("x.a", "create", None, {"v": 1, "w": 1})),
            plan(change("x.a", "create", None, {"v": 2, "w": 1})),
            "x.a: other values at v",
        ),
        (
            plan(change("x.a", "create", None, {"v": 1})),
            plan(change("x.a", "create", None, {}, after_unknown={"v": True})),
            "x.a: other values at v",
        ),
        (
            plan(change("x.a", "no-op", {}, {}, importing={"id": "1"})),
            plan(change("x.a", "no-op", {}, {}, importing={"id": "2"})),
            "x.a: other values at (import)",
        ),
        (
            plan(outputs={"o": output("update", 1, 2)}),
            plan(outputs={"o": output("update", 1, 3)}),
            "output.o: other values at (the whole value)",
        ),
        (plan(BASE), plan(BASE, complete=False), "(the whole plan): incomplete only in the second"),
        (plan(BASE, errored=True), plan(BASE), "(the whole plan): errored only in the first"),
        (
            plan(action_invocations=[{"address": "action.a.b", "config_values": {"x": 1}}]),
            plan(),
            "action action.a.b: only in the first",
        ),
        (
            plan(change("x.a", "delete", deposed="k1")),
            plan(change("x.a", "delete")),
            "x.a: only in the first",
        ),
        (plan(BASE, BASE), plan(BASE), "x.a: only in the first"),
    ],
)
def test_each_kind_of_difference_is_told(one, other, line: str) -> None:
    assert line in told(one, other)


def test_a_changed_secret_is_told_by_its_path_and_never_shown() -> None:
    marks = {"before_sensitive": {"p": True}, "after_sensitive": {"p": True}}
    one = plan(change(f'x.a["{SECRET}"]', "update", {"p": "old-value-1"}, {"p": SECRET}, **marks))
    two = plan(
        change(f'x.a["{SECRET}"]', "update", {"p": "old-value-1"}, {"p": "else-22"}, **marks)
    )
    assert told(one, two) == ['x.a["***"]: other values at p']


def test_redacted_plans_cannot_be_compared() -> None:
    with pytest.raises(InvalidRequest, match="redacted"):
        compare(redact(plan(BASE)), plan(BASE))
