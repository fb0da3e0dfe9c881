"""A rule that is loaded beside others keeps its lines, and every name of its own package."""

from base64 import b64encode
from typing import Any

from foretell.policy.opa_rename import package_as, places_to_rename, renamed

RULE = """# a rule
package main

import data.main.limits as allowed

deny contains msg if {
	data.main.on
	msg := "data.main é" # data.main
}
"""


def ref(rego: str, row: int, *path: str) -> Any:
    line = rego.split("\n")[row - 1]
    text = b64encode(path[0].encode()).decode()
    location = {"row": row, "col": line.index(path[0]) + 1, "text": text}
    terms = [{"type": "string", "value": part} for part in path[1:]]
    first = {"type": "var", "value": path[0], "location": location}
    return {"type": "ref", "location": location, "value": [first, *terms]}


def tree(rego: str, *refs: Any) -> Any:
    """What the program's parser says, as far as it is looked at."""
    row = next(n for n, line in enumerate(rego.split("\n"), 1) if line.startswith("package"))
    place = {"location": {"row": row, "col": 9}}
    path = [{"type": "var", "value": "data"}, {"type": "string", "value": "main", **place}]
    return {"package": {"path": path}, "imports": [], "rules": [{"body": list(refs)}]}


def test_only_the_names_of_the_package_change() -> None:
    refs = (ref(RULE, 4, "data", "main", "limits"), ref(RULE, 7, "data", "main", "on"))
    places = places_to_rename(tree(RULE, *refs), RULE)
    assert places is not None
    expected = RULE.replace("package main", "package r1.main")
    expected = expected.replace("import data.main", "import data.r1.main")
    expected = expected.replace("\tdata.main.on", "\tdata.r1.main.on")
    assert renamed(RULE, places, "r1") == expected
    assert package_as("r1", ("data", "main")) == ("data", "r1", "main")


def test_a_place_that_does_not_hold_the_name_is_not_touched() -> None:
    wrong = ref(RULE, 7, "data", "main", "on")
    wrong["value"][0]["location"]["col"] += 1
    assert places_to_rename(tree(RULE, wrong), RULE) is None


def test_a_rule_that_asks_for_its_annotations_keeps_its_name() -> None:
    rule = RULE.replace("data.main.on", "rego.metadata.chain()")
    asks = ref(rule, 7, "rego", "metadata", "chain")
    assert places_to_rename(tree(rule, asks), rule) is None
