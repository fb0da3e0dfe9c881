import pytest
from plan_samples import change, output, plan, real

from foretell.formats.tfplan.counts import count
from foretell.formats.tfplan.parse import parse
from foretell.formats.tfplan.verdict import Run, Word, judge

SAME = ({"v": 1}, {"v": 1})
NEW = (None, {"v": 1})


def counted(*changes, **more) -> dict[str, int]:
    return {name: n for name, n in count(plan(*changes, **more)).as_json().items() if n}


@pytest.mark.parametrize(
    ("actions", "counts"),
    [
        ("no-op", {}),
        ("create", {"create": 1}),
        ("update", {"update": 1}),
        ("delete", {"delete": 1}),
        ("delete+create", {"replace": 1}),
        ("create+delete", {"replace": 1}),
        ("read", {"read": 1}),
        ("forget", {"forget": 1}),
        ("create+forget", {"create": 1, "forget": 1}),
        ("forget+create", {"create": 1, "forget": 1}),
        ("delete+forget", {"unknown": 1, "forget": 1}),
        ("no-such-thing", {"unknown": 1}),
        ("", {"unknown": 1}),
    ],
)
def test_each_change_is_in_exactly_one_bucket(actions: str, counts: dict[str, int]) -> None:
    assert counted(change("a.b", actions)) == counts


def test_moves_and_imports_count_beside_whatever_else_happens() -> None:
    assert counted(
        change("a.b", "update", *SAME, previous_address="a.old", importing={"id": "i"})
    ) == {"update": 1, "move": 1, "import": 1}
    assert counted(change("a.b", "no-op", *SAME, previous_address="a.old")) == {"move": 1}
    assert counted(change("a.b", "no-op", *SAME, importing={"unknown": True})) == {"import": 1}
    assert counted(change("a.b", "no-op", *SAME, importing=None)) == {}


def test_a_data_source_is_read_and_never_destroyed() -> None:
    given = plan(change("data.a.b", "delete", {"v": 1}, mode="data"), applyable=False)
    assert counted(change("data.a.b", "delete", mode="data")) == {}
    assert not judge(given).destructive
    assert judge(given).word is Word.NO_CHANGES


def test_outputs_deferred_and_invocations_have_counts_of_their_own() -> None:
    assert counted(
        outputs={"a": output("create"), "b": output("no-op"), "c": output("delete")},
        deferred_changes=[{"reason": "unknown", "resource_change": change("a.b", "create")}],
        action_invocations=[{"address": "action.x.y", "type": "x"}],
    ) == {"outputs": 2, "deferred": 1, "actions": 1}


def test_the_programs_own_sum_counts_a_replacement_on_both_sides() -> None:
    counts = count(
        plan(change("a.b", "delete+create"), change("a.c", "create"), change("a.d", "delete"))
    )
    assert (counts.add, counts.destroy, counts.replace) == (2, 2, 1)


def test_the_first_word_that_fits_wins() -> None:
    deleting = change("a.b", "delete", {"v": 1})
    strange = change("a.c", "zap")
    assert judge(plan(deleting, strange, errored=True), Run(cancelled=True)).word is Word.ERRORED
    assert judge(plan(deleting), Run(exit_code=1)).word is Word.ERRORED
    assert (
        judge(plan(deleting, strange, complete=False), Run(cancelled=True)).word is Word.CANCELLED
    )
    assert judge(plan(deleting, strange, complete=False)).word is Word.INCOMPLETE
    assert judge(plan(deleting, strange)).word is Word.NEEDS_ATTENTION
    assert judge(plan(deleting)).word is Word.DESTRUCTIVE
    assert judge(plan(change("a.b", "update", {"v": 1}, {"v": 2}))).word is Word.CHANGES


def test_destructive_is_said_besides_any_word() -> None:
    for more in ({"errored": True}, {"complete": False}, {}):
        assert judge(plan(change("a.b", "create+delete"), **more)).destructive
    assert judge(plan(change("a.b", "delete", deposed="k1"))).destructive
    assert not judge(plan(change("a.b", "forget"), change("a.c", "create+forget"))).destructive


def test_incomplete_says_why() -> None:
    deferred = [{"reason": "unknown", "resource_change": change("a.b", "create")}]
    assert judge(plan(complete=False)).incomplete_because == ("targeted",)
    assert judge(plan(deferred_changes=deferred, complete=False)).incomplete_because == (
        "deferred",
    )
    assert judge(plan(), Run(truncated=True)).incomplete_because == ("truncated",)
    assert judge(plan(complete=False, errored=True)).incomplete_because == ()


@pytest.mark.parametrize(
    "one",
    [
        change("a.b", "no-op", *SAME, previous_address="a.old"),
        change("a.b", "no-op", *SAME, importing={"id": "i"}),
        change("a.b", "forget", {"v": 1}),
        change("a.b", "update", *SAME, before_sensitive={"v": True}),
    ],
)
def test_what_is_not_in_the_programs_sum_is_a_change_all_the_same(one) -> None:
    verdict = judge(plan(one))
    assert verdict.word is Word.CHANGES
    assert verdict.has_changes is True


def test_no_changes_is_only_said_when_proven() -> None:
    still = change("a.b", "no-op", *SAME)
    assert judge(plan(still)).word is Word.NO_CHANGES
    assert judge(plan(still, applyable=False)).has_changes is False
    reading = change("data.a.b", "read", mode="data")
    assert judge(plan(reading, applyable=True)).word is Word.NO_CHANGES
    for unproven in (
        judge(plan(still, applyable=True)),
        judge(plan(still), Run(exit_code=2)),
        judge(parse('{"format_version": "1.2"}')),
    ):
        assert unproven.word is Word.NEEDS_ATTENTION
        assert unproven.has_changes is None


def test_drift_alone_is_no_change() -> None:
    verdict = judge(plan(resource_drift=[change("a.b", "update", {"v": 1}, {"v": 2})]))
    assert verdict.word is Word.DRIFT_ONLY
    assert verdict.drift_count == 1
    assert verdict.has_changes is False


def test_an_incomplete_plan_without_changes_is_unknown() -> None:
    assert judge(plan(complete=False)).has_changes is None
    assert judge(plan(change("a.b", "create"), complete=False)).has_changes is True


@pytest.mark.parametrize(
    ("name", "word", "counts"),
    [
        ("move_only", Word.CHANGES, {"move": 1}),
        ("forget_only", Word.CHANGES, {"forget": 1}),
        ("import_only", Word.CHANGES, {"import": 1}),
        ("outputs_only", Word.CHANGES, {"outputs": 1}),
        ("unmarked_copy", Word.DESTRUCTIVE, {"delete": 1}),
        ("sensitivity_only", Word.CHANGES, {"update": 1}),
        ("failed", Word.ERRORED, {"create": 1, "delete": 1}),
        ("targeted", Word.INCOMPLETE, {"create": 1}),
        ("replace", Word.DESTRUCTIVE, {"replace": 1}),
        ("replace_create_first", Word.DESTRUCTIVE, {"replace": 1}),
        ("check_failing", Word.NO_CHANGES, {}),
        ("no_changes", Word.NO_CHANGES, {}),
        ("destroy", Word.DESTRUCTIVE, {"delete": 1, "outputs": 1}),
        ("volatile", Word.CHANGES, {"update": 1}),
    ],
)
def test_real_plans_come_to_the_right_word(name: str, word: Word, counts: dict[str, int]) -> None:
    verdict = judge(real(name))
    assert verdict.word is word
    assert {key: n for key, n in verdict.counts.as_json().items() if n} == counts
