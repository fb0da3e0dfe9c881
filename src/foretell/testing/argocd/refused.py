"""The fake's refusals: gRPC codes as the gateway writes them."""

_STATUS = {2: 500, 3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 13: 500, 14: 503, 16: 401}

UNKNOWN, INVALID, NOT_FOUND, DENIED, EXHAUSTED, AWAY, UNAUTHENTICATED = 2, 3, 5, 7, 8, 14, 16


class Refused(Exception):
    """An answer that is none."""

    def __init__(self, code: int, message: str, *, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retry_after = retry_after

    @property
    def status(self) -> int:
        """As HTTP says it."""
        return _STATUS[self.code]

    def body(self) -> dict[str, object]:
        """`runtimeError`."""
        return {"code": self.code, "error": self.message, "message": self.message}


def denied() -> Refused:
    """Argo CD says no more, whatever the reason."""
    return Refused(DENIED, "permission denied")


def missing(name: str) -> Refused:
    """What only those are told who may see it."""
    return Refused(NOT_FOUND, f'applications.argoproj.io "{name}" not found')
