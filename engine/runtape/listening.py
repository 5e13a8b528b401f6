"""A web server on loopback, from the command line until Ctrl-C."""

from __future__ import annotations

import signal
import socket
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import Final

import anyio
import anyio.to_thread
import uvicorn
from starlette.types import ASGIApp

from .errors import BadInput

HOST: Final = "127.0.0.1"
"""Loopback only: nobody on the network reaches what is served here."""

GRACE: Final = 2
"""Seconds that answers on their way get at the end."""


def listen(port: int) -> socket.socket:
    """A socket that accepts connections on loopback; port 0 takes a free one.

    Raises:
        BadInput: the port is taken.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen()  # from here on a client waits rather than fails
    except OSError as error:
        listener.close()
        raise BadInput(f"port {port} cannot be used: {error.strerror}. Choose another with --port.") from error
    return listener


def serve_until_interrupted(
    app: ASGIApp,
    listener: socket.socket,
    ready: Callable[[], None],
    closing: Callable[[], Awaitable[None]] | None = None,
) -> None:
    """Serve an application until Ctrl-C or SIGTERM, then await `closing`.

    `ready` is called, in a thread of its own, once the application is answered and a signal ends it.
    """
    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        lifespan="off",
        server_header=False,
        date_header=False,
        ws="none",
        timeout_graceful_shutdown=GRACE,
    )
    anyio.run(_run, _Server(config, ready), listener, closing)


class _Server(uvicorn.Server):
    """Ends on a signal and returns; its own way is to raise the signal again, past what is to be closed."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        # Whoever reads the address may press Ctrl-C at once, and a browser that is opened may ask at once.
        await anyio.to_thread.run_sync(self._ready)

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


async def _run(server: uvicorn.Server, listener: socket.socket, closing: Callable[[], Awaitable[None]] | None) -> None:
    try:
        await server.serve(sockets=[listener])
    finally:
        with anyio.CancelScope(shield=True):
            if closing is not None:
                await closing()
        listener.close()
