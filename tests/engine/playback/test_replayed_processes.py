"""Processes that are started in a replay call no model and run no tool, however they are started."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import openai
import pytest
from loopback import Answer, Loopback, chat_reply

import runtape

PROGRAM = """
import multiprocessing, sys
from concurrent.futures import ProcessPoolExecutor
from openai import OpenAI
import runtape

def ask(url):
    with OpenAI(base_url=url, api_key="k", max_retries=0) as client:
        return client.chat.completions.create(model="m", messages=[{"role": "user", "content": "go"}])

def refund(order):
    with open("refunds.txt", "a") as file:
        file.write(order)

def pay(url):
    with runtape.record("worker.jsonl") as rec:
        rec.tool(refund)("order-7")

if __name__ == "__main__":
    method, trace, url = sys.argv[1:]
    for work in (ask, pay):
        try:
            with (
                runtape.replay(trace, capture=True),
                ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method)) as pool,
            ):
                print("answered:", pool.submit(work, url).result(60).choices[0].message.content)
        except runtape.ReplayDiverged as diverged:
            print("diverged:", diverged)
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_worker_process_calls_nobody(tmp_path: Path, method: str) -> None:
    if method == "fork" and not hasattr(os, "fork"):
        pytest.skip("the system has no fork")
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    with (
        Loopback(lambda _: Answer(chat_reply("recorded"))) as server,
        openai.OpenAI(base_url=server.url, api_key="k", max_retries=0) as client,
    ):
        with runtape.record(tmp_path / "run.jsonl") as rec:
            rec.wrap(client).chat.completions.create(model="m", messages=[{"role": "user", "content": "go"}])
        done = subprocess.run(
            [sys.executable, "program.py", method, "run.jsonl", server.url],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert len(server.requests) == 1
    assert not (tmp_path / "refunds.txt").exists()
    assert done.returncode == 0, done.stderr
    asked, paid = done.stdout.splitlines()[0], done.stdout.splitlines()[-1]
    if method == "fork":  # the replay goes on in a copy of this process
        assert asked == "answered: recorded"
        assert paid == "diverged: tool call of refund: no recorded run of this tool is left."
    else:
        outside = "it was made in a process that was started during the replay of 'run', which does not reach there."
        assert asked.startswith(f"diverged: model call: {outside}")
        assert paid.startswith(f"diverged: tool call of refund: {outside}")
