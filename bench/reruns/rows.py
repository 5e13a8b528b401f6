"""`why` on the three example agents, ours and the public package's, over one server each."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openai import OpenAI

from .. import beside
from .billing import Billed, billed
from .server import Server, serving

EXAMPLES = (beside.INBOX, beside.REFUND, beside.OPS)
LATENCIES = (0.1, 0.5, 2.0)


@dataclass(frozen=True)
class Setting:
    """What one row is measured at."""

    example: Any
    latency: float
    honours_n: bool
    host: str


@dataclass(frozen=True)
class Measured:
    """One `why`."""

    seconds: float
    """Of the whole command, imports included."""
    asking: float
    """Seconds from the first request to the last answer, at the server."""
    requests: int
    billed: Billed
    exact: bool
    """It names the planted sentence and nothing else."""


@dataclass(frozen=True)
class Row:
    """Both at one setting, on the same recorded run."""

    setting: Setting
    ours: Measured
    theirs: Measured

    @property
    def ratio(self) -> float:
        """Of the time from the first request to the last answer."""
        return self.ours.asking / self.theirs.asking


def settings(hosts: tuple[str, ...]) -> Iterator[Setting]:
    for latency in LATENCIES:
        for host in hosts:
            for honours_n in (True, False):
                for example in EXAMPLES:
                    yield Setting(example, latency, honours_n, host)


def measure(setting: Setting, peer: str) -> Row:
    agent = setting.example
    server = Server(getattr(beside.stand_ins, agent.stand_in), setting.honours_n)
    with beside.folder(), serving(server, setting.host) as url:
        with OpenAI(base_url=url, api_key="k") as client, redirect_stdout(sys.stderr):
            path, _ = beside.run(agent, client, "stand-in")
        # The last request of the run may follow the decision; the decision's own is the longest before it was made.
        server.latency = setting.latency
        event = f"tool:{agent.bad_tool}"
        ours = [sys.executable, "-m", "runtape.cli", "why", str(path), event, "--base-url", url, "--json"]
        theirs = [peer, "-m", "runtape", "why", str(path), event, "--yes", "--json", "peer.json"]
        return Row(
            setting,
            _measured(server, agent.name, ours, lambda printed: json.loads(printed)["headline"]),
            _measured(server, agent.name, theirs, lambda _: _smallest()),
        )


def _measured(server: Server, example: str, command: list[str], named: Any) -> Measured:
    server.served.clear()
    seconds, printed = beside.timed(command)
    served = sorted(server.served, key=lambda one: one.arrived)
    said = " / ".join(named(printed))
    exact = " ".join(said.split()) == " ".join(beside.PLANTED[example].split())
    # Both begin with the context as recorded.
    asking = max(one.answered for one in served) - served[0].arrived
    return Measured(seconds, asking, len(served), billed(served, served[0].text), exact)


def _smallest() -> list[str]:
    causes = json.loads(Path("peer.json").read_text(encoding="utf-8"))["causes"]
    return [removed["text"] for removed in causes[0]["chain"][-1]["removed"]] if causes else []
