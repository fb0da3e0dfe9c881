"""What is kept in memory is bounded, and is what was kept."""

from foretell.api.ready import ReadyDocuments, made_ready


def test_those_nobody_asked_for_the_longest_make_room() -> None:
    kept = ReadyDocuments(max_bytes=25)
    a, b, c = (made_ready(name * 10) for name in (b"a", b"b", b"c"))
    kept.keep("a", a)
    kept.keep("b", b)
    assert kept.get("a") is a
    kept.keep("c", c)
    assert (kept.get("a"), kept.get("b"), kept.get("c")) == (a, None, c)


def test_what_is_larger_than_all_is_not_kept() -> None:
    kept = ReadyDocuments(max_bytes=25)
    kept.keep("a", made_ready(b"a" * 20))
    kept.keep("b", made_ready(b"b" * 26))
    assert kept.get("b") is None
    assert kept.get("a") is not None


def test_an_etag_is_that_of_the_bytes() -> None:
    assert made_ready(b"a").etag == made_ready(b"a").etag != made_ready(b"b").etag
