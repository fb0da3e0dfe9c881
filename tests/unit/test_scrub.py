import time

import pytest

from foretell.kit.scrub import scrub, tail

CANARY = "ghp_canaryCANARY0123456789canaryCANARY01"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://u:ghp_x@host/r.git", "https://***@host/r.git"),
        ("fatal: 'ssh://me@host:22/r' not found", "fatal: 'ssh://***@host:22/r' not found"),
        ("postgres://u:p@ss@db:5432/x", "postgres://***@db:5432/x"),
        ("https://u:pa/ss@host/r.git: bad port", "https://***@host/r.git: bad port"),
        ("Authorization: Basic dTpw\nnext", "Authorization: ***\nnext"),
        ("{'authorization': 'Bearer abcdefgh', 'x': 1}", "{'authorization': '***', 'x': 1}"),
        ("sent Bearer abcdefgh.ijk", "sent Bearer ***"),
        (
            "GET https://h/a?x=1&X-Amz-Signature=abc&y=2",
            "GET https://h/a?x=1&X-Amz-Signature=***&y=2",
        ),
        ("abcdefgh12345.atlasv1." + "q" * 60, "***"),
    ],
)
def test_what_has_the_shape_of_a_credential_is_masked(text: str, expected: str) -> None:
    assert scrub(text) == expected
    assert scrub(scrub(text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "https://host:8443/a@b/c",
        "git@github.com:owner/repo.git",
        "https://charts.example.com/index.yaml?page=2",
        "basic values are missing",
        "a@b.c wrote https://host/path",
    ],
)
def test_what_is_no_credential_stays_readable(text: str) -> None:
    assert scrub(text) == text


def test_a_token_is_never_cut_in_half_by_the_tail() -> None:
    output = f"lots\n{'x' * 100}\nremote said {CANARY}".encode()
    for limit in range(1, 80):
        assert "canary" not in tail(output, limit).lower()


def test_the_tail_starts_at_a_line_and_says_that_it_was_cut() -> None:
    assert tail(b"one\ntwo\nthree\n", 9) == "… three"
    assert tail(b"  all of it \n") == "all of it"
    assert "\ufffd" in tail(b"\xff\xfe")


def test_scrubbing_is_linear_in_hostile_text() -> None:
    started = time.process_time()
    for piece in (
        "://a:b",
        "authorization:",
        "eyJaaaaaaaa.",
        "-----BEGIN PRIVATE KEY-----",
        "?sig=",
    ):
        scrub(piece * (200_000 // len(piece)))
    assert time.process_time() - started < 3


@pytest.mark.parametrize("header", ["", "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\n"])
def test_a_private_key_leaves_nothing_whatever_its_lines_hold(header: str) -> None:
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{header}s3cr-3t\nmore-s3cret\n"
    text = scrub(f"before {key}-----END RSA PRIVATE KEY----- after")
    assert "3t" not in text
    assert "s3cret" not in text
    assert text.startswith("before ")
    assert text.endswith(" after")
