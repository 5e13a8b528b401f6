"""Runs the proxy on loopback until it is interrupted."""

from __future__ import annotations

import os
from collections.abc import Callable

from ..listening import HOST, listen, serve_until_interrupted
from .app import Proxy


def serve(upstream: str, port: int, folder: str | os.PathLike[str] | None, told: Callable[[str], None]) -> None:
    """Pass requests on to `upstream` and record them, until Ctrl-C or SIGTERM. Port 0 takes a free one.

    `told` gets lines for people: where the proxy listens, then each trace.

    Raises:
        BadInput: the upstream is no address, or the port is taken.
    """
    proxy = Proxy(upstream, folder, told)
    listener = listen(port)
    address = f"http://{HOST}:{listener.getsockname()[1]}"

    def ready() -> None:
        told(f"listening on {address}")
        told(f"passing on to {upstream}")
        told(f"point the agent at it: OPENAI_BASE_URL={address}")
        told(f"with an Anthropic SDK: ANTHROPIC_BASE_URL={address}")

    serve_until_interrupted(proxy, listener, ready, proxy.close)
