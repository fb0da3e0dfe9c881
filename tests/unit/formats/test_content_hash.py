"""A result is known by a hash of what is proposed: all of it, whatever of it may be shown."""

from foretell.domain.digest import Key
from foretell.domain.result import Kind, KindResult
from foretell.formats.kubernetes import compare, kind_result

KEY = Key(b"k" * 32, "key-1")
SECRET = """apiVersion: v1
kind: Secret
metadata: {name: db}
stringData: {password: %s}
"""
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n"


def _result(current: str, proposed: str, key: Key = KEY) -> KindResult:
    return kind_result(Kind("manifest"), compare(current, proposed), key)


def test_a_secret_of_another_value_is_another_content() -> None:
    one, other = _result("", SECRET % "one"), _result("", SECRET % "two")
    assert one.proposed == other.proposed
    assert one.content_hash != other.content_hash
    assert "one" not in one.content_hash


def test_the_current_side_is_no_part_of_what_is_proposed() -> None:
    hashes = {_result(current, SECRET % "one").content_hash for current in ("", SECRET % "b", MAP)}
    assert len(hashes) == 1


def test_order_and_spelling_of_documents_do_not_matter() -> None:
    one = _result("", MAP + "---\n" + SECRET % "x")
    other = _result("", SECRET % "'x'" + "---\n" + MAP)
    assert one.content_hash == other.content_hash


def test_without_the_key_nobody_can_try_values() -> None:
    assert _result("", MAP).content_hash != _result("", MAP, Key(b"o" * 32)).content_hash
    assert _result("", MAP).plan_key_id == "key-1"
    assert _result("", MAP).content_hash.startswith("k1:")
