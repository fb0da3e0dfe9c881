"""A name that YAML takes for true or false is the text that somebody wrote."""

import pytest

from foretell.domain.errors import InvalidRequest
from foretell.formats.kubernetes import compare

OBJECT = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: %s}\ndata: {k: '%s'}\n"


@pytest.mark.parametrize("word", ["n", "y", "N", "Y", "no", "yes", "on", "off", "true", "False"])
def test_a_name_is_what_is_written(word: str) -> None:
    found = compare(OBJECT % (word, 1), OBJECT % (word, 2))
    (change,) = found.changes
    assert (change.namespace, change.action) == (word, "modify")
    assert f"metadata.namespace is taken for the text {word!r}" in found.warnings[0]


def test_two_such_names_are_two_objects() -> None:
    both = OBJECT % ("y", 1) + "---\n" + OBJECT % ("n", 1)
    swapped = OBJECT % ("n", 1) + "---\n" + OBJECT % ("y", 1)
    assert compare(both, swapped).changes == ()


def test_it_is_the_same_inside_of_a_list_and_in_quotes() -> None:
    listed = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, %s}\n"
    plain = listed % "metadata: {name: y}, data: {a: b}"
    quoted = listed % "metadata: {name: 'y'}, data: {a: b}"
    found = compare(plain, quoted)
    assert found.changes == ()
    assert len(found.warnings) == 1


def test_what_is_equal_is_read_once_and_stays_as_it_was() -> None:
    found = compare(OBJECT % ("n", 1), OBJECT % ("n", 1))
    assert found.changes == ()
    assert 'namespace: "n"' in found.current


def test_a_number_is_still_no_name() -> None:
    with pytest.raises(InvalidRequest, match=r"metadata\.namespace is a number"):
        compare("", OBJECT % ("12", 1))
