"""How far an invocation is: the state that is kept between two calls. No secret is in it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime, timedelta
from typing import Any

from foretell.domain.plan import JsonObject


@dataclass(frozen=True, slots=True)
class Progress:
    """`asked` is the number of the call that left this state behind, for `is_first`.

    `..._at` are texts of ISO 8601: when the run was made, when it was first seen out of the
    queue, when it was first seen to wait for a decision, and when it was first seen ended.
    """

    asked: int = 0
    careful: bool = False
    workspace: str = ""
    configuration: str = ""
    commit: str = ""
    run: str = ""
    status: str = ""
    polls: int = 0
    made_at: str = ""
    left_queue_at: str = ""
    undecided_at: str = ""
    ended_at: str = ""

    def is_first(self, attempt: int) -> bool:
        """Whether nobody can have taken the step from this state before.

        The engine counts its calls before it makes them; 0 stands for a call nobody counted.
        """
        return not self.careful and attempt == self.asked + 1

    def moved(self, **changes: Any) -> "Progress":
        """The state after this call."""
        return replace(self, **changes)

    def as_state(self) -> JsonObject:
        return {name: value for name, value in asdict(self).items() if value}


def read_progress(state: JsonObject | None) -> Progress:
    """The state as it was left; what is not known of it is left out."""
    known = {field.name for field in fields(Progress)}
    given: Mapping[str, Any] = state or {}
    return Progress(**{name: value for name, value in given.items() if name in known})


def since(moment: str, now: datetime) -> timedelta:
    """How long ago that was; nothing for a moment that was not yet."""
    return now - datetime.fromisoformat(moment) if moment else timedelta(0)
