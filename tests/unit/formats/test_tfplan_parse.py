import json

import pytest
from plan_samples import SECRET, change, document, plan

from foretell.domain.errors import InvalidRequest
from foretell.formats.tfplan.parse import parse


@pytest.mark.parametrize("version", ["0.1", "0.2", "1.0", "1.2", "1.99"])
def test_every_format_up_to_1_x_is_read(version: str) -> None:
    assert parse(json.dumps({"format_version": version})).format_version == version


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("", "not JSON: .* line 1"),
        ("[]", "must be a JSON object, not a list"),
        ("{}", "no format_version"),
        ('{"format_version": 1}', "no format_version"),
        ('{"format_version": "2.0"}', "not supported"),
        ('{"format_version": "0.0"}', "not supported"),
        ('{"format_version": "1.0", "values": {}}', "a state, not a plan"),
        (b"PK\x03\x04zip", "binary plan file"),
        ({"resource_changes": {}}, "resource_changes must be a list, not an object"),
        ({"resource_changes": [1]}, r"resource_changes\[0\] must be an object, not a number"),
        ({"resource_changes": [{"address": "a.b"}]}, r"resource_changes\[0\].change must be"),
        ({"resource_changes": [{"change": {"actions": []}}]}, r"\[0\].address is missing"),
        (
            {"resource_changes": [{"address": "a.b", "change": {"actions": "create"}}]},
            r"\[0\].change.actions must be a list of words, not a string",
        ),
        ({"output_changes": {SECRET: 1}}, r"output_changes.\[…\] must be an object"),
        ({"complete": "yes"}, "complete must be true or false, not a string"),
        ({"deferred_changes": [{"reason": "x"}]}, "resource_change must be an object"),
    ],
)
def test_an_error_names_the_field_and_never_a_value(given, message: str) -> None:
    if isinstance(given, dict):
        given = json.dumps({"format_version": "1.2", **given})
    with pytest.raises(InvalidRequest, match=message) as caught:
        parse(given)
    assert SECRET not in str(caught.value)


def test_absent_is_not_false() -> None:
    given = plan()
    assert (given.applyable, given.complete, given.errored) == (None, None, None)
    assert plan(applyable=False, complete=None).applyable is False


def test_unknown_members_and_nulls_are_no_error() -> None:
    given = plan(resource_changes=None, output_changes=None, checks=None, something_new=[1])
    assert given.changes == ()


def test_the_redacted_form_of_terraform_cloud_is_read_as_partial() -> None:
    text = json.dumps(
        {
            "plan_format_version": "1.2",
            "resource_changes": document(change("a.b", "create"))["resource_changes"],
        }
    )
    given = parse(text)
    assert given.partial_form
    assert [c.address for c in given.changes] == ["a.b"]
