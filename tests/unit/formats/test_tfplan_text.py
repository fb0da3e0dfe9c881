import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plan_samples import KEY, SECRET, change, document, output, plan, real

from foretell.domain.diff import apply_unified
from foretell.domain.digest import Key
from foretell.domain.errors import InvalidRequest
from foretell.domain.result import Action
from foretell.formats.exact_json import dumps, loads
from foretell.formats.tfplan.parse import parse
from foretell.formats.tfplan.plan import Plan
from foretell.formats.tfplan.redacted import redact
from foretell.formats.tfplan.result import to_result
from foretell.formats.tfplan.summary import summary
from foretell.formats.tfplan.text.page import page
from foretell.formats.tfplan.verdict import judge


def shown(given: Plan) -> str:
    return page(redact(given), judge(given))


def updated(before, after, **more) -> str:
    return shown(plan(change("x.a", "update", before, after, **more)))


def test_only_a_redacted_plan_is_shown() -> None:
    given = plan(change("x.a", "create", None, {"v": SECRET}))
    with pytest.raises(InvalidRequest, match="redacted"):
        page(given, judge(given))


def test_destructive_changes_come_first_and_numbers_in_their_order() -> None:
    text = shown(
        plan(
            *(change(f"x.r[{n}]", "update", {"v": 1}, {"v": 2}) for n in (10, 9, 2)),
            change("a.new", "create", None, {"v": 1}),
            change("z.gone", "delete", {"v": 1}),
            change("y.swap", "create+delete", {"v": 1}, {"v": 2}),
        )
    )
    order = ["z.gone will be destroyed", "y.swap must be", "x.r[2]", "x.r[9]", "x.r[10]", "a.new"]
    assert sorted(order, key=text.index) == order


def test_a_replacement_says_what_forces_it_and_folds_what_is_computed() -> None:
    computed = {f"c{n}": n for n in range(40)}
    text = shown(
        plan(
            change(
                "vm.a",
                "delete+create",
                {"ami": "a1", "keep": 1, **computed},
                {"ami": "a2", "keep": 1},
                after_unknown=dict.fromkeys(computed, True),
                replace_paths=[["ami"]],
                action_reason="replace_because_cannot_update",
            )
        )
    )
    assert '~ ami = "a1" -> "a2" # forces replacement' in text
    assert text.count("known after apply") == 1
    assert "# 40 known after apply: c0, c1, c10, c11, c12 and 35 more" in text
    assert "(because: replace because cannot update)" in text
    assert "(1 unchanged attribute hidden)" in text


def test_a_computed_attribute_that_forces_replacement_is_not_folded() -> None:
    text = shown(
        plan(
            change(
                "vm.a",
                "delete+create",
                {"s": "x"},
                {},
                after_unknown={"s": True},
                replace_paths=[["s"]],
            )
        )
    )
    assert '~ s = "x" -> (known after apply) # forces replacement' in text


def test_a_nested_path_that_forces_replacement_is_marked_at_its_leaf() -> None:
    text = shown(
        plan(
            change(
                "vm.a",
                "delete+create",
                {"disk": [{"id": "a", "size": 1, "x": 1}]},
                {"disk": [{"id": "a", "size": 2, "x": 1}]},
                replace_paths=[["disk", 0, "size"]],
            )
        )
    )
    assert "~ size = 1 -> 2 # forces replacement" in text
    assert text.count("forces replacement") == 1


def test_known_after_apply_is_shown_wherever_it_stands() -> None:
    text = updated(
        {"a": "x", "m": {"k": "v"}, "l": ["p"]},
        {"m": {"k": "v"}, "l": ["p"]},
        after_unknown={"a": True, "m": {"new": True}, "l": [False, True]},
    )
    assert '~ a = "x" -> (known after apply)' in text
    assert "+ new = (known after apply)" in text
    assert "+ (known after apply)" in text


def test_one_insertion_into_a_list_is_one_insertion() -> None:
    text = updated({"l": ["a", "b", "c"]}, {"l": ["new", "a", "b", "c"]})
    assert [
        line.strip() for line in text.splitlines() if '"' in line and "resource" not in line
    ] == ['+ "new"']
    assert "(3 unchanged elements hidden)" in text


def test_elements_are_matched_by_identity_and_a_new_order_is_said() -> None:
    text = updated(
        {"o": [{"id": "a", "v": 1}, {"id": "b", "v": 2}]},
        {"o": [{"id": "b", "v": 3}, {"id": "a", "v": 1}]},
    )
    assert "~ v = 2 -> 3" in text
    assert "order of 2 elements changes" in text
    assert "v = 1" not in text


def test_json_text_is_compared_as_json() -> None:
    text = updated({"p": '{"a":[1],"b":2}'}, {"p": '{ "b":2, "a":[1,3] }'})
    assert "jsonencode(" in text
    assert "+ 3" in text
    assert "b = " not in text
    same = plan(change("x.p", "update", {"j": '{"a":1,"b":2}'}, {"j": '{ "b":2, "a":1 }'}))
    assert "formatting changes only" in shown(same)
    assert to_result(same).result.resources[0].tags == ("formatting only",)
    assert judge(same).counts.update == 1


def test_long_text_is_compared_line_by_line() -> None:
    text = updated({"d": "one\ntwo\nthree\n"}, {"d": "one\n2\nthree\n"})
    assert "- two" in text
    assert "+ 2" in text
    assert "- one" not in text


def test_numbers_are_printed_exactly_and_differ_by_value_only() -> None:
    text = updated({"id": 12345678901234567890}, {"id": 12345678901234567891})
    assert "12345678901234567890 -> 12345678901234567891" in text
    assert "unchanged attribute" in updated({"r": 0.5, "v": 1}, {"r": 0.5, "v": True})


def test_moves_are_grouped_by_what_they_share() -> None:
    moved = [
        change(f"module.new.x.r[{n}]", "no-op", {}, {}, previous_address=f"module.old.x.r[{n}]")
        for n in range(12)
    ]
    other = change("x.b", "no-op", {}, {}, previous_address="x.a")
    text = shown(plan(*moved, other))
    assert "module.old -> module.new (12 objects)" in text
    assert "x.a -> x.b" in text
    assert "12 to move" not in text
    assert "13 to move" in text


def test_a_forgotten_object_takes_one_line_and_is_not_destroyed() -> None:
    text = shown(plan(change("x.c", "forget", {f"k{n}": n for n in range(200)})))
    assert "x.c removed from state, object is kept" in text
    assert len(text.splitlines()) < 6
    assert "0 to destroy" in text


def test_a_sensitivity_change_is_shown_without_the_value() -> None:
    given = real("sensitivity_only")
    text = shown(given)
    assert "(sensitive value) # sensitivity changes" in text
    assert "sensitivity only" in to_result(given).result.resources[0].tags


@pytest.mark.parametrize(
    ("given", "banner"),
    [
        (plan(errored=True), "FAILED"),
        (plan(change("x.a", "create"), complete=False), "PARTIAL plan (targeted)"),
        (plan(change("x.a", "zap")), "NEEDS ATTENTION"),
        (plan(), "No changes."),
    ],
)
def test_a_banner_says_when_the_plan_is_not_what_it_seems(given: Plan, banner: str) -> None:
    assert shown(given).startswith("The" if "FAILED" in banner else banner[:2]) or banner in shown(
        given
    )
    assert banner in shown(given)


def test_what_is_no_resource_is_listed_too() -> None:
    text = shown(
        plan(
            outputs={"u": output("create", after_unknown=True), "o": output("delete", 1)},
            action_invocations=[{"address": "action.l.run", "type": "l"}],
            deferred_changes=[
                {"reason": "deferred_prereq", "resource_change": change("d.d", "create")}
            ],
            resource_drift=[change("e.e", "update", {"v": 1}, {"v": 2})],
            checks=[{"address": {"to_display": "check.c"}, "status": "fail", "instances": []}],
        )
    )
    for line in ("+ u = (known after apply)", "- o = 1", "action.l.run", "d.d (deferred_prereq)"):
        assert line in text
    assert "Changed outside of this plan:\n  e.e" in text
    assert "check.c (fail)" in text


def test_nothing_in_a_plan_repaints_the_terminal() -> None:
    hostile = "\x1b[2J\u202e\x07\x9b"
    entry = change(
        f'x.a["{hostile}"]', "update", {"v": hostile, hostile: 1}, {"v": "m\n" + hostile}
    )
    given = plan(entry, outputs={"o": output("create", None, hostile)})
    result = to_result(given).result
    texts = [shown(given), result.current, result.proposed, result.diff or ""]
    texts += [item.name + item.diff for item in result.resources]
    assert not any(char in text for char in "\x1b\u202e\x07\x9b" for text in texts)
    assert not any(line.startswith("# injected") for text in texts for line in text.split("\n"))


ENTRIES = [
    change("x.a", "create", None, {"v": 1}),
    change("x.a", "delete", {"v": 1}),
    change("x.a", "update", {"v": 1, "w": "a\nb"}, {"v": 2, "w": "a\nc"}),
    change("x.a", "delete+create", {"v": 1}, {"v": 2}),
    change("x.a", "forget", {"v": 1}),
    change("x.a", "create+forget", {"v": 1}, {"v": 2}),
    change("x.a", "no-op", {"v": 1}, {"v": 1}, previous_address="x.b"),
    change("x.a", "no-op", {"v": 1}, {"v": 1}, importing={"id": "i"}),
    change("x.a", "update", {"v": "s"}, {"v": "t"}, after_sensitive={"v": True}),
    change("x.a", "update", {"v": "s"}, {"v": "s"}, before_sensitive={"v": True}),
    change("x.a", "update", {"v": "s"}, {"v": "t"}, before_sensitive=True, after_sensitive=True),
]


@pytest.mark.parametrize("entry", ENTRIES)
def test_the_diff_of_every_change_shows_it_and_applies(entry) -> None:
    (item,) = to_result(plan(entry)).result.resources
    assert item.diff
    assert item.additions + item.deletions > 0
    assert apply_unified(item.before, item.diff) == item.after


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["a", "a\nb", '{"a": 1}']),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.sampled_from("abcd"), VALUES, max_size=4)


@given(OBJECTS, OBJECTS, OBJECTS)
def test_any_values_and_unknowns_give_a_page_and_a_diff_that_applies(
    before, after, unknown
) -> None:
    given = plan(change("x.a", "update", before, after, after_unknown=unknown))
    assert "x.a" in shown(given)
    result = to_result(given, key=Key(KEY, "k")).result
    for item in result.resources:
        assert item.diff == "" or apply_unified(item.before, item.diff) == item.after
    assert result.content_hash.startswith("p2:")


def test_the_result_is_what_every_report_reads() -> None:
    given = plan(
        change("x.a", "create", None, {"v": 1}),
        change("x.b", "delete+create", {"v": 1}, {"v": 2}),
        change("x.c", "no-op", {"v": 1}, {"v": 1}),
        change("data.x.d", "read", None, {"v": 1}, mode="data"),
        change("x.e", "no-op", {}, {}, previous_address="x.old"),
        outputs={"o": output("update", 1, 2)},
    )
    whole = to_result(given, key=Key(KEY, "key-1"))
    result = whole.result
    assert (result.kind, result.has_changes, result.plan_key_id) == ("plan", True, "key-1")
    assert [(r.name, r.action) for r in result.resources] == [
        ("x.b", Action.REPLACE),
        ("x.a", Action.ADD),
        ("x.e", Action.NO_OP),
        ("o", Action.NO_OP),
    ]
    assert result.current == "".join(r.before for r in result.resources)
    assert result.proposed == "".join(r.after for r in result.resources)
    assert "Plan: 2 to add" in (result.diff or "")
    assert result.policy is not None
    assert result.policy.proposed["resource_changes"][0]["address"] == "x.a"
    assert KEY.decode() not in repr(Key(KEY, "x"))


def test_rules_read_a_redacted_plan_whose_numbers_any_json_has() -> None:
    numbers = loads('{"size": 1.50, "id": 12345678901234567890, "far": 1e400}')
    marked = {"after_sensitive": {"pw": True}}
    made = change("x.a", "create", None, {**numbers, "pw": SECRET}, **marked)
    given = parse(dumps(document(made, prior_state={"note": SECRET})))
    policy = to_result(given).result.policy
    assert policy is not None
    told = json.loads(json.dumps(policy.proposed, allow_nan=False))
    after = told["resource_changes"][0]["change"]["after"]
    assert (after["size"], after["id"], after["far"]) == (1.5, 12345678901234567890, "1e400")
    assert policy.current == policy.proposed["prior_state"] == {"note": "(sensitive value)"}
    assert SECRET not in repr((policy.current, policy.proposed))


def test_the_same_plan_made_later_is_the_same_result() -> None:
    one, two = (plan(change("x.a", "create", None, {"v": 1}), timestamp=t) for t in ("1", "2"))
    assert to_result(one) == to_result(two)


def test_without_a_key_there_is_a_result_and_no_hash() -> None:
    result = to_result(plan(change("x.a", "create", None, {"v": 1}))).result
    assert (result.content_hash, result.plan_key_id) == ("", "")


def test_the_summary_counts_a_replacement_once_and_names_every_change() -> None:
    given = plan(
        change("x.b", "delete+create", {"v": 1}, {"v": 2}, action_reason="replace_by_request"),
        change("x.b", "delete", {"v": 1}, deposed="dead01"),
        outputs={"o": output("update", 1, 2)},
    )
    found = summary(redact(given), judge(given))
    assert json.loads(json.dumps(found)) == found
    assert found["verdict"] == "destructive"
    assert found["counts"]["replace"] == 1
    assert found["counts"]["create"] == 0
    assert [(c["address"], c["deposed"], c["reason"]) for c in found["changes"]] == [
        ("x.b", "dead01", None),
        ("x.b", None, "replace_by_request"),
        ("output.o", None, None),
    ]
