"""The fake itself."""

from contextlib import AbstractAsyncContextManager
from typing import Any

from foretell.testing.argocd.refused import UNAUTHENTICATED, Refused
from foretell.testing.argocd.routes import answered
from foretell.testing.argocd.state import ServerState
from foretell.testing.argocd.web import App, Request, as_app, serving


class FakeArgoCD(ServerState):
    """Speaks as Argo CD 3.1 does, by `app` (ASGI) or on a socket (`serving`)."""

    @property
    def app(self) -> App:
        """For a transport in memory."""
        return as_app(self._answer)

    def serving(self) -> AbstractAsyncContextManager[str]:
        """The fake behind a loopback socket, as long as the block runs; yields its address."""
        return serving(self.app)

    async def _answer(self, request: Request) -> Any:
        self.requests.append(request)
        self.faults.check(f"{request.method} {request.path}")
        if request.path != "/api/version" and request.token not in self.accounts:
            raise Refused(UNAUTHENTICATED, "no session information")
        return await answered(self, request)
