"""The app behind a listening socket, as long as a block runs."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from fastapi import FastAPI

from foretell.domain.errors import InvalidRequest

GRACE_SECONDS = 5
"""How long requests that run may go on after the end was asked for; event streams never end."""


class _Server(uvicorn.Server):
    """Signals are the program's matter: it stops its worker in the same breath."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def listening(app: FastAPI, host: str, port: int) -> AsyncIterator[str]:
    """Serves `app`; yields its address, with the port that was really taken.

    Raises InvalidRequest when the address can't be listened on.
    """
    listener = _listener(host, port)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    server = _Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield f"http://{_shown(host)}:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await serving
        listener.close()


def _listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise InvalidRequest(
            f"can't listen on {_shown(host)}:{port}: {error.strerror}; "
            "choose another with --host and --port (0 takes a free port)"
        ) from error


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host
