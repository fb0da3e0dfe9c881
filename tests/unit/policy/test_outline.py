"""What is refused before a rule is asked, whatever engine read it."""

from foretell.policy.outline import Outline, Problem, Reference, objections, rule_path

PACKAGE = ("data", "main")


def _outline(*references: Reference, **rules: int) -> Outline:
    return Outline(PACKAGE, {"deny": 1, **rules}, references)


def _told(outline: Outline, *others: Outline, built_in: set[str] | None = None) -> list[str]:
    return [str(one) for one in objections(outline, others, built_in)]


def test_a_rule_that_refers_to_what_is_there_has_no_problem() -> None:
    refers = [
        Reference(2, ("input", "a"), "deny"),
        Reference(3, ("count",), "deny", called=True),
        Reference(4, ("data", "main", "f"), "deny", called=True),
        Reference(5, ("f",), "deny", called=True),
    ]
    assert _told(_outline(*refers, f=7), built_in={"count"}) == []


def test_a_function_that_the_engine_lacks_is_named_with_its_line() -> None:
    (told,) = _told(_outline(Reference(3, ("json", "patch"), "deny", True)), built_in={"count"})
    assert told.startswith("line 3: this rule engine has no function json.patch")


def test_a_name_of_the_network_is_refused_even_where_it_is_not_called() -> None:
    (told,) = _told(_outline(Reference(3, ("http", "send"), "deny")))
    assert told == "line 3: http.send is not allowed: rules have no network"


def test_other_data_is_refused_and_what_stands_beside_is_not() -> None:
    outline = _outline(Reference(2, ("data", "lib", "x"), "deny"))
    assert len(_told(outline)) == 1
    assert _told(outline, Outline(("data", "lib"), {"x": 1}, ())) == []


def test_a_recursion_over_three_rules_is_found_and_a_local_name_is_none() -> None:
    circle = [
        Reference(n, (to,), of) for n, of, to in ((1, "deny", "b"), (2, "b", "c"), (3, "c", "deny"))
    ]
    assert len(_told(_outline(*circle, b=2, c=3))) == 3
    local = Outline(
        PACKAGE, {"deny": 1}, [Reference(1, ("deny",), "deny")], local={("deny", "deny")}
    )
    assert _told(local) == []


def test_problems_come_by_line_and_once() -> None:
    again = Reference(9, ("opa", "runtime"), "deny")
    outline = _outline(again, again, Reference(2, ("data", "x"), "deny"), violation=5)
    assert [one.line for one in objections(outline)] == [2, 5, 9]


def test_a_problem_of_the_whole_has_no_line() -> None:
    assert str(Problem(0, "x")) == "x"


def test_a_package_may_have_any_characters() -> None:
    assert rule_path(("data", "a", 'b"c\\'), "deny") == 'data["a"]["b\\"c\\\\"]["deny"]'
