"""Recorders, clients and tools that go to worker processes, however these are started."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from loopback import Loopback
from provider import answer, events

PROGRAM = """
import json, multiprocessing, os, pickle, sys
from concurrent.futures import ProcessPoolExecutor
from openai import OpenAI
from runtape.record import record

rec = None

def double(x):
    return 2 * x

def work(rec, tool, url):
    with OpenAI(base_url=url, api_key="k") as client:
        said = rec.wrap(client).chat.completions.create(model="m", messages=[]).id
    return said, tool(4), rec.tool(double)(5), rec.note("from the worker"), os.getpid()

if __name__ == "__main__":
    method, url = sys.argv[1:]
    context = multiprocessing.get_context(method)
    with record("t.jsonl") as rec, OpenAI(base_url=url, api_key="k") as client:
        told = []
        for wrapped in (client, rec.wrap(client)):
            try:
                pickle.dumps(wrapped)
            except Exception as error:
                told.append(f"{type(error).__name__}: {error}")
        double = rec.tool(double)
        client.chat.completions.create(model="m", messages=[])
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            *results, pid = pool.submit(work, rec, double, url).result(60)
            pool.submit(double, 6).result(60)
        rec.note("after")
    print(json.dumps({"told": told, "results": results, "other": pid != os.getpid(), "pid": pid}))
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_worker_process_gets_a_recorder_that_is_off_and_works_on(tmp_path: Path, method: str) -> None:
    if method == "fork" and not hasattr(os, "fork"):
        pytest.skip("the system has no fork")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    with Loopback(answer) as server:
        done = subprocess.run(
            [sys.executable, str(program), method, server.url],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert len(server.requests) == 2
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    # A client is what it was: it cannot be pickled, for its own reason, wrapped or not.
    assert found["told"][0] == found["told"][1]
    assert found["results"] == ["chatcmpl-1", 8, 10, -1]
    assert found["other"]
    assert "records nothing here: call runtape.record() in this process" in done.stderr
    ours = events(tmp_path / "t.jsonl")
    assert [event.type for event in ours] == ["run_start", "llm_request", "llm_response", "log", "run_end"]
    segments = set(tmp_path.glob("*.jsonl")) - {tmp_path / "t.jsonl"}
    if method != "fork":
        assert segments == set()  # nothing of the run is in these processes
        return
    # The worker inherits the tool of this process with the run that it records: it goes on in a file of its own.
    (segment,) = segments
    theirs = events(segment)
    assert theirs[0].payload["segment_of"] == "t.jsonl"
    assert [event.payload.get("result") for event in theirs if event.type == "tool_result"] == [8, 10, 12]
    assert not {event.id for event in theirs} & {event.id for event in ours[:3]}
