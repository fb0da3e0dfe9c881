"""Jobs: a step of the engine and the id it works on."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum


class Step(StrEnum):
    """The engine's steps that run from the queue, by the name of their file."""

    FAN_OUT = "fan_out"
    INVOKE = "invoke"
    VALIDATE = "validate"
    SETTLE = "settle"
    REPORT = "report"
    SWEEP = "sweep"
    PULL_REQUEST = "pull_request"


@dataclass(frozen=True, slots=True)
class Job:
    """One entry of the queue: a step and the id it works on, never a payload.

    The same (step, id) is queued at most once, a running one not counted; of two requests the
    earlier time wins, so that the last wake-up is never lost.
    """

    step: Step
    id: str
    after: timedelta = timedelta(0)
