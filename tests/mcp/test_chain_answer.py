"""The installed `runtape-mcp` as a child process, asked where a text of the agent came from."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import anyio
import pytest
import research_run
from mcp import Client, StdioServerParameters
from mcp.types import TextContent, TextResourceContents
from research_run import NOTED, PLANTED, record_run

pytestmark = pytest.mark.anyio
SCRIPT = shutil.which("runtape-mcp", path=str(Path(sys.executable).parent)) or "runtape-mcp"


async def test_the_chain_is_one_answer_of_why(tmp_path: Path) -> None:
    record_run(tmp_path / "traces" / "run.jsonl", "messages", carrier="note")
    model = f"{research_run.__file__}:agent"
    launch = ["--traces", str(tmp_path / "traces"), "--project", str(tmp_path), "--model-fn", model]
    asked = {"trace": "run", "event": "tool:forward_email", "depth": "upstream"}
    with anyio.fail_after(100):
        async with Client(StdioServerParameters(command=SCRIPT, args=launch)) as client:
            while True:
                result = await client.call_tool("why", asked)
                answer = result.structured_content
                assert answer is not None
                if answer["status"] != "running":
                    break
            report = (await client.read_resource(answer["report"])).contents[0]
    assert answer["status"] == "done"
    assert f"\n| {NOTED}\n" in answer["causes"][0]["excerpt"]
    source = answer["causes"][0]["source"]
    assert (source["kind"], source["tool"], source["event"]) == ("agent", "save_note", answer["upstream"][0]["event"])
    [link] = answer["upstream"]
    assert f"\n| {PLANTED}\n" in link["cause"]["excerpt"]
    assert link["cause"]["source"]["tool"] == "fetch_url"
    assert "\n| " in link["cause"]["source"]["arguments"]
    assert (link["cause"]["with"]["kept"], link["cause"]["without"]["kept"]) == (10, 0)
    text = "".join(block.text for block in result.content if isinstance(block, TextContent))
    assert len(text) + len(json.dumps(answer)) < 8000
    assert isinstance(report, TextResourceContents)
    for told in (text, report.text):
        assert "comes from a text that fetch_url, called in event" in told
    assert "No tool was run." in report.text
