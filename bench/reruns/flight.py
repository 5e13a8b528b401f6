"""How much of the allowed concurrency is used while samples are left to be sent."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from .server import Served, Server, serving

LIMIT = 16
WANTED, EACH = 200, 3

SENDING = Path(__file__).with_name("sending.py")


def mean_in_flight(latency: float, *, honours_n: bool) -> float:
    """Mean requests on their way of the `LIMIT` allowed, from the answer that shows that the server works until the
    last request leaves."""
    server = Server(lambda _: {"text": "hi"}, honours_n, latency)
    with serving(server, "127.0.0.1") as url:
        subprocess.run([sys.executable, str(SENDING), url, *map(str, (WANTED, EACH, LIMIT))], check=True)
    return _mean(sorted(server.served, key=lambda one: one.arrived))


def _mean(served: list[Served]) -> float:
    start, end = served[0].answered, served[-1].arrived
    busy = sum(max(0.0, min(one.answered, end) - max(one.arrived, start)) for one in served)
    return busy / (end - start)
