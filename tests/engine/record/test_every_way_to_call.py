"""However a program calls a model: recorded once, the program undisturbed, and in a replay answered and never sent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from loopback import Loopback
from provider import answer, bodies, events
from ways_to_call import WAYS, Way

import runtape


@pytest.fixture(scope="module")
def server() -> Iterator[Loopback]:
    with Loopback(answer) as running:
        yield running


def alone(client: Any) -> Any:
    return client


def run(way: Way, server: Loopback, wrap: Any, before: Any) -> tuple[Any, list[Any]]:
    """What the program saw, and the bodies that reached the server."""
    sent = len(server.requests)
    seen = way.call(before, wrap)
    return seen, [request.body for request in server.requests[sent:]]


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # a copied or dropped client cannot be closed by the way
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_it_is_recorded_once_and_never_sent_in_a_replay(way: Way, server: Loopback, tmp_path: Path) -> None:
    plain, sent = run(way, server, alone, way.before(server.url))
    assert len(sent) == way.calls

    traces: list[Path] = []
    for capture in (True, False) if way.names_a_client else (True,):
        before = way.before(server.url)
        with runtape.record(tmp_path / f"{capture}.jsonl", capture=capture) as rec:
            assert run(way, server, alone if capture else rec.wrap, before) == (plain, sent)
        assert bodies(rec.path) == sent
        assert len(events(rec.path, "llm_response")) == way.calls
        assert "failures" not in events(rec.path, "run_end")[0].payload
        traces.append(rec.path)

    for capture, wrapped in ((True, False), (False, True), (False, False)):
        before = way.before(server.url)
        with runtape.replay(traces[-1], capture=capture) as replayed:
            assert run(way, server, replayed.wrap if wrapped else alone, before) == (plain, [])
            assert replayed.left == []

    assert run(way, server, alone, way.before(server.url)) == (plain, sent)
