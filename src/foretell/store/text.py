"""Any Python text in a database that cannot hold all of it.

PostgreSQL's text has no NUL and its UTF-8 no surrogates, and an agent's message or a file may have
both. Each such character is stored as U+E000 and four hex digits, and so is U+E000 itself: then
every text comes back as it was, and a program that prints odd bytes cannot stop a plan.
"""

import re
from typing import Final

MARK: Final = "\ue000"
_ODD = re.compile("[\x00\ud800-\udfff\ue000]")
_MARKED = re.compile("\ue000([0-9a-f]{4})")


def storable(text: str) -> str:
    """`text` as PostgreSQL takes it; most come back as they are."""
    return _ODD.sub(lambda odd: f"{MARK}{ord(odd[0]):04x}", text)


def restored(text: str) -> str:
    """What `storable` was given."""
    if MARK not in text:
        return text
    return _MARKED.sub(lambda marked: chr(int(marked[1], 16)), text)
