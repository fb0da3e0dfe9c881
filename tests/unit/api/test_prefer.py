"""`Prefer`, as RFC 7240 has it."""

import pytest

from foretell.api.prefer import wait_seconds


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ([], 5),
        (["wait=0"], 0),
        (["wait=10"], 10),
        (["wait=3600"], 30),
        (["WAIT = 7"], 7),
        (['wait="9"'], 9),
        (["respond-async"], 0),
        (["respond-async, wait=10"], 10),
        (["handling=lenient", "wait=3; foo=bar"], 3),
        (["wait=soon"], 5),
        (["wait=-1"], 5),
        (["await=9"], 5),
    ],
)
def test_the_wait_is_what_is_preferred_within_bounds(headers: list[str], seconds: int) -> None:
    assert wait_seconds(headers) == seconds
