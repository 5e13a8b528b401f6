"""From a question to a test that holds, by a client that reads nothing but structured content.

Tokens are estimated as a quarter of the characters of every answer as it is sent: both forms, keys and quotes included.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

pytestmark = pytest.mark.anyio
EXAMPLES = Path(__file__).parent.parent.parent / "examples"
SCRIPT = shutil.which("runtape-mcp", path=str(Path(sys.executable).parent)) or "runtape-mcp"
CALLS = 8
TOKENS = 12_000


class Assistant:
    """Calls tools, reads their structured content, and keeps the bill."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.calls = 0
        self.tokens = 0

    async def call(self, tool_name: str, /, **arguments: Any) -> dict[str, Any]:
        """What a tool answers when its work is done."""
        while True:
            result = await self._client.call_tool(tool_name, arguments)
            self.calls += 1
            self.tokens += len(result.model_dump_json(by_alias=True, exclude_none=True)) // 4
            answer = result.structured_content
            assert answer is not None, result.content
            if answer.get("status") not in ("running", "paused"):
                return answer

    async def keep_fixed(self, question: str) -> dict[str, Any]:
        """Goes from a question about the newest run to a written test; the answer of `write_test`."""
        [newest, *_] = (await self.call("list_traces"))["traces"]
        asked = set(question.split())
        tool = max(newest["tools"], key=lambda name: len(asked.intersection(name.split("_"))))
        about = {"trace": newest["trace"], "event": f"tool:{tool}"}
        why = await self.call("why", **about)
        assert why["causes"], why["next"]
        fix = await self.call("fix", **about)
        assert fix["best"], fix["next"]
        return await self.call("write_test", **about, path="tests/test_regression.py", fix=fix["best"])


@pytest.mark.parametrize(
    ("example", "stand_in", "question"),
    [
        ("inbox_agent.py", "inbox", "why did my agent forward the invoice"),
        ("refund_bot.py", "refund", "why did my bot refund the customer"),
        ("ops_agent.py", "ops", "why did my agent drop the database"),
    ],
)
async def test_a_question_becomes_a_test_that_holds(tmp_path: Path, example: str, stand_in: str, question: str) -> None:
    await anyio.run_process([sys.executable, str(EXAMPLES / example)], cwd=tmp_path)
    model = f"{EXAMPLES / 'stand_ins.py'}:{stand_in}"
    launch = ["--traces", "traces", "--project", ".", "--model-fn", model]
    server = StdioServerParameters(command=SCRIPT, args=launch, env=dict(os.environ), cwd=tmp_path)
    with anyio.fail_after(100):
        async with Client(server) as client:
            assistant = Assistant(client)
            written = await assistant.keep_fixed(question)
    assert assistant.calls <= CALLS
    assert assistant.tokens <= TOKENS
    command = written["command"].split()
    assert command[0] == "python"
    done = await anyio.run_process([sys.executable, *command[1:]], cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stdout.decode()
    assert b" passed" in done.stdout
    print(f"{example}: {assistant.calls} tool calls, about {assistant.tokens:,} tokens of answers")
