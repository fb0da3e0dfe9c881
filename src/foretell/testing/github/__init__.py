"""A GitHub of one's own: the REST calls that Foretell makes, with state, limits and faults.

`FakeGithub` is an ASGI app: give it to an in-process transport, or serve it with `listening`.
"""

from foretell.testing.github.keys import app_key, public_key
from foretell.testing.github.limits import Limits
from foretell.testing.github.server import Broken, FakeGithub, Fault, listening
from foretell.testing.github.state import Call, Check, Comment, Pull, Repo, StatusRow

__all__ = [
    "Broken",
    "Call",
    "Check",
    "Comment",
    "FakeGithub",
    "Fault",
    "Limits",
    "Pull",
    "Repo",
    "StatusRow",
    "app_key",
    "listening",
    "public_key",
]
