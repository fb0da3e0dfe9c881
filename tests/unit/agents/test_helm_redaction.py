"""What came from a reference leaves in no form; what else there is stays as it was."""

import base64
import json

import pytest

from foretell.agents.helm.values import NEW, OLD, SAME, SecretValues, values_result
from foretell.domain.diff import apply_unified, unified_diff
from foretell.domain.digest import Key
from foretell.domain.errors import AgentRejected, AgentUnavailable
from foretell.domain.result import Kind, KindResult
from foretell.kit.redactor import MASK, Redactor

CANARY = "canary'\"\\4c1e?&"
KEY = "-----BEGIN KEY-----\nMIIBVgIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END KEY-----"

HASH_KEY = Key(b"k" * 32, "key-1")


@pytest.mark.parametrize(
    "text",
    [
        f"a: {CANARY}",
        "a: '" + CANARY.replace("'", "''") + "'",
        f"a: {json.dumps(CANARY)}",
        f"a: {base64.b64encode(CANARY.encode()).decode()}",
        f"a: {base64.b64encode((CANARY + chr(10)).encode()).decode()}",
    ],
)
def test_a_secret_is_found_however_it_is_written(text: str) -> None:
    assert Redactor([CANARY]).text(text).strip() in (f"a: {MASK}", f'a: "{MASK}"', f"a: '{MASK}'")


def test_a_secret_of_several_lines_is_found_line_by_line() -> None:
    indented = "".join(f"+    {line}\n" for line in KEY.split("\n"))
    redacted = Redactor([KEY]).text(f"+  key: |\n{indented}")
    assert redacted == "+  key: |\n" + f"+    {MASK}\n" * 4


def test_a_short_secret_is_replaced_as_a_word_only() -> None:
    assert Redactor(["abc"]).text("a: abc\nb: abcdef\nc: x-abc-y") == (
        f"a: {MASK}\nb: abcdef\nc: x-{MASK}-y"
    )


def test_without_a_secret_nothing_changes() -> None:
    assert Redactor([]).text("a: b") == "a: b"
    assert Redactor(["", " "]).text("a: b c") == "a: b c"


def test_a_redacted_diff_still_applies() -> None:
    current, proposed = f"a: 1\nb: {CANARY}\n", f"a: 2\nb: {CANARY}\n"
    change = unified_diff(current, proposed)
    result = KindResult(Kind("k"), current, proposed, True, diff=change.text)
    redacted = Redactor([CANARY]).result(result)
    assert redacted.diff is not None
    assert CANARY not in repr(redacted)
    assert apply_unified(redacted.current, redacted.diff) == redacted.proposed


def test_errors_leave_redacted_and_without_their_cause() -> None:
    with (
        pytest.raises(AgentRejected) as caught,
        Redactor([CANARY]).errors("here: "),
    ):
        raise AgentRejected(f"bad {CANARY}", reason="timeout")
    assert caught.value.message == f"here: bad {MASK}"
    assert caught.value.reason == "timeout"
    with pytest.raises(AgentUnavailable), Redactor([]).errors():
        raise OSError(28, "No space left on device")


SECRET = """
apiVersion: v1
kind: Secret
data: {user: YWRtaW4=}
stringData: {password: hunter2hunter2}
"""


def test_values_that_end_up_in_a_secret_are_marked() -> None:
    hides = SecretValues(SECRET, "")
    result = values_result(
        {"user": "admin", "url": "postgres://x:hunter2hunter2@db", "on": True, "n": 1},
        {"user": "admin", "url": "postgres://x:other@db", "on": True, "n": 2},
        hides,
        HASH_KEY,
    )
    assert result.current == f'"n": 1\n"on": true\nurl: {OLD}\nuser: {SAME}\n'
    assert f"user: {SAME}" in result.proposed
    assert "hunter2" not in repr(result)


def test_the_content_hash_is_of_the_values_themselves_and_of_the_key() -> None:
    hides = SecretValues("kind: Secret\nstringData: {a: old-secret, b: new-secret}")
    old, new = {"a": "old-secret"}, {"a": "new-secret"}
    first = values_result(old, new, hides, HASH_KEY)
    assert first.content_hash == values_result(None, new, hides, HASH_KEY).content_hash
    assert first.content_hash != values_result(old, old, hides, HASH_KEY).content_hash
    assert first.content_hash != values_result(old, new, hides, Key(b"o" * 32)).content_hash
    assert first.plan_key_id == "key-1"


def test_a_secret_value_that_changed_is_a_change_and_one_that_did_not_is_none() -> None:
    hides = SecretValues("kind: Secret\nstringData: {a: old-secret, b: new-secret}")
    changed = values_result({"a": "old-secret"}, {"a": "new-secret"}, hides, HASH_KEY)
    assert changed.has_changes is True
    assert (changed.current, changed.proposed) == (f"a: {OLD}\n", f"a: {NEW}\n")
    assert (
        values_result({"a": "old-secret"}, {"a": "old-secret"}, hides, HASH_KEY).has_changes
        is False
    )


def test_values_of_a_name_are_masked_at_any_depth_and_counted_once() -> None:
    hides = SecretValues("", names=["*TOKEN*"])
    old = {"apiToken": "one", "nested": [{"tokens": {"a": "x", "on": True}}], "plain": "shown"}
    new = {**old, "apiToken": "two"}
    result = values_result(old, new, hides, HASH_KEY)
    assert f"apiToken: {OLD}" in result.current
    assert f"apiToken: {NEW}" in result.proposed
    assert f"a: {SAME}" in result.proposed
    assert "plain: shown" in result.proposed
    assert "on: true" in result.proposed.replace('"', "")
    assert len(hides.named) == 2
    assert result.has_changes is True
