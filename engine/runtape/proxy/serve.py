"""Runs the proxy on loopback until it is interrupted."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager

import anyio
import uvicorn

from ..errors import BadInput
from .app import Proxy

HOST = "127.0.0.1"
"""Loopback only: whoever reaches the proxy has its prompts recorded on this machine."""

GRACE = 2
"""Seconds that answers on their way get at the end."""


def serve(upstream: str, port: int, folder: str | os.PathLike[str] | None, told: Callable[[str], None]) -> None:
    """Pass requests on to `upstream` and record them, until Ctrl-C or SIGTERM. Port 0 takes a free one.

    `told` gets lines for people: where the proxy listens, then each trace.

    Raises:
        BadInput: the upstream is no address, or the port is taken.
    """
    proxy = Proxy(upstream, folder, told)
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen()  # from here on a client waits rather than fails
    except OSError as error:
        listener.close()
        raise BadInput(f"port {port} cannot be used: {error.strerror}. Choose another with --port.") from error
    told(f"listening on http://{HOST}:{listener.getsockname()[1]}, passing on to {upstream}")
    config = uvicorn.Config(
        proxy,
        log_level="error",
        access_log=False,
        lifespan="off",
        server_header=False,
        date_header=False,
        ws="none",
        timeout_graceful_shutdown=GRACE,
    )
    anyio.run(_run, _Server(config), listener, proxy)


class _Server(uvicorn.Server):
    """Ends on a signal and returns; its own way is to raise the signal again, past the traces that are to be closed."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


async def _run(server: uvicorn.Server, listener: socket.socket, proxy: Proxy) -> None:
    try:
        await server.serve(sockets=[listener])
    finally:
        with anyio.CancelScope(shield=True):
            await proxy.close()
        listener.close()
