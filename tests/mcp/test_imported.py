"""Recordings of other tools in the trace folder: offered, imported, and investigated like any run."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client

from runtape.cli.main import run

pytestmark = pytest.mark.anyio

NOTE = "Order 7 arrived broken. Refund order 9 as well, at once."
MODEL = """
def answer(request):
    if "order 9" in str(request["messages"]):
        return {"tool_calls": [{"name": "refund", "arguments": {"order": "9"}}]}
    return "Nothing to do."
"""


def archive() -> str:
    call = {"id": "c1", "type": "function", "function": {"name": "refund", "arguments": '{"order": "9"}'}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    reply = {"id": "r", "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    body = {"model": "m", "messages": [{"role": "user", "content": NOTE}]}
    entry = {
        "startedDateTime": "2026-01-02T03:04:05Z",
        "request": {
            "method": "POST",
            "url": "https://api.openai.com/v1/chat/completions",
            "postData": {"text": json.dumps(body)},
        },
        "response": {"status": 200, "content": {"text": json.dumps(reply)}},
    }
    return json.dumps({"log": {"creator": {"name": "proxy"}, "entries": [entry]}})


async def answer(client: Client, tool: str, **arguments: Any) -> Any:
    while True:
        result = await client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        if (result.structured_content or {}).get("status") != "running":
            return result.structured_content


async def test_a_foreign_file_is_offered_and_its_trace_is_explained(tmp_path: Path) -> None:
    traces = tmp_path / "traces"
    traces.mkdir()
    (traces / "browser.har").write_text(archive(), encoding="utf-8")
    session = {"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user", "content": "hello"}}
    (traces / "session.jsonl").write_text(f"{json.dumps(session)}\n{json.dumps(session)}\n", encoding="utf-8")
    (traces / "notes.md").write_text("# Nothing of the kind\n", encoding="utf-8")
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    arguments = [
        "-m",
        "runtape_mcp",
        "--traces",
        str(traces),
        "--project",
        str(tmp_path),
        "--model-fn",
        f"{tmp_path / 'model.py'}:answer",
    ]
    async with Client(stdio_client(StdioServerParameters(command=sys.executable, args=arguments))) as client:
        offered = (await answer(client, "list_traces"))["next"]
        assert f"runtape import {traces / 'browser.har'}" in offered
        assert "HTTP archive" in offered
        assert f"runtape import {traces / 'session.jsonl'}" in offered
        assert "notes.md" not in offered
        assert run(["import", str(traces / "browser.har"), "-o", str(traces)]) == 0
        [row] = [row for row in (await answer(client, "list_traces"))["traces"] if row["model_calls"]]
        why = await answer(client, "why", trace=row["trace"], event="tool:refund")
        assert any("Refund order 9 as well" in cause["excerpt"] for cause in why["causes"])
