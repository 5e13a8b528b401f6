"""Large folders, large traces and traces that grow while they are read, through a real server."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_traces import run, write

pytestmark = pytest.mark.anyio
AUDITED = Path(__file__).with_name("audited_server.py")


def serving(folder: Path, log: Path) -> Client:
    arguments = [str(AUDITED), str(log), "--traces", str(folder)]
    return Client(stdio_client(StdioServerParameters(command=sys.executable, args=arguments)))


def opened(log: Path, folder: Path) -> list[str]:
    """The traces that were opened, in order."""
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return [
        line[1] for line in lines if line[0] == "open" and line[1].startswith(str(folder)) and line[1].endswith("jsonl")
    ]


async def structured(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content or {}


async def text(client: Client, **arguments: Any) -> str:
    result = await client.call_tool("show_event", arguments)
    assert not result.is_error, result.content
    return "".join(content.text for content in result.content if content.type == "text")


async def test_a_page_of_a_large_folder_opens_the_traces_on_it_and_no_others(tmp_path: Path) -> None:
    folder, log = tmp_path / "traces", tmp_path / "log"
    for number in range(400):
        write(folder / f"run-{number:03}.jsonl", run())
    async with serving(folder, log) as client:
        names: list[str] = []
        cursor: str | None = ""
        for _ in range(2):
            page = await structured(client, "list_traces", limit=50, cursor=cursor)
            names += [row["trace"] for row in page["traces"]]
            cursor = page["next_cursor"]
    assert len(set(names)) == len(names) > 0
    # One more than is shown: whether it fits on the page is known when it is read.
    assert len({Path(path).stem for path in opened(log, folder)} - set(names)) <= 1


async def test_pages_of_a_trace_that_grows_stay_what_they_were(tmp_path: Path) -> None:
    folder = tmp_path / "traces"
    path = write(folder / "growing.jsonl", run())
    async with serving(folder, tmp_path / "log") as client:
        before = await text(client, trace="growing", limit=4)
        rows = [line for line in before.splitlines() if "llm_request" in line]
        with path.open("a", encoding="utf-8") as file:
            note = {"id": 99, "ts": 1.0, "type": "log", "parent": None, "payload": {"message": "later"}, "meta": {}}
            file.write(json.dumps(note) + "\n" + '{"id": 100, "ts"')
        after = await text(client, trace="growing", limit=4)
        assert [line for line in after.splitlines() if "llm_request" in line] == rows
        assert "later" in await text(client, trace="growing", event=99)


async def test_a_large_trace_is_read_where_it_is_looked_at(tmp_path: Path) -> None:
    """Twenty megabytes: more than the server keeps of a trace in memory."""
    folder, log = tmp_path / "traces", tmp_path / "log"
    events = run()
    events += [("log", {"message": f"note {number} " + "x" * 10_000}, None) for number in range(2_000)]
    write(folder / "large.jsonl", events)
    async with serving(folder, log) as client:
        first = await text(client, trace="large")
        assert f"{len(events):,} events" in first
        last = len(events) - 1
        assert "note 1999" in await text(client, trace="large", event=last)
        assert "forward" in await text(client, trace="large", event=6, view="context")
    assert 1 <= opened(log, folder).count(str(folder / "large.jsonl")) <= 3
