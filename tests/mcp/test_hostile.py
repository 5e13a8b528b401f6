"""Recorded text that addresses the assistant, through every door of a real server and the real engine."""

from __future__ import annotations

import ast
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any, TextIO

import anyio
import pytest
from hostile_traces import CANARY, lay, whole
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import TextContent, TextResourceContents
from mcp_safety import assert_safe, assert_safe_answer, assert_safe_error, strings

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the corpus holds a FIFO, which is a matter of POSIX"),
]
AUDITED = Path(__file__).with_name("audited_server.py")
MODEL = '''
def model(request):
    """Calls the last tool it has while it can read the order, otherwise files the mail."""
    print("a print of the model function")
    read = str([m for m in request["messages"] if m["role"] == "tool"])
    if "CANARY" in read or "Assistant" in read or "evil" in read:
        return {"text": None, "tool_calls": [{"name": request["tools"][-1]["function"]["name"], "arguments": {"to": "x"}}]}
    return {"text": None, "tool_calls": [{"name": "archive_email", "arguments": {}}]}
'''
FAR = ("../secret", "/etc/passwd", "~/secret", "out", "sibling", "endless", "circle", "nothing", "pipe", "folder")
"""Names that lead to no trace of the folder."""


def nowhere() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")


class Walk:
    """One client that reads everything it is given."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.heard: list[str] = []
        self.answers = 0

    async def _hear(self, progress: float, total: float | None, message: str | None) -> None:
        assert_safe(message or "")
        self.heard.append(message or "")

    async def call(self, tool_name: str, /, **arguments: Any) -> dict[str, Any]:
        """The structured content of a safe answer; empty for an error."""
        result = await self.client.call_tool(tool_name, arguments, progress_callback=self._hear)
        assert_safe_answer(result)
        self.answers += 1
        return result.structured_content or {}

    async def read(self, uri: str) -> str:
        try:
            [content] = (await self.client.read_resource(uri)).contents
        except MCPError as error:
            assert_safe_error(error)
            return ""
        assert isinstance(content, TextResourceContents)
        assert_safe(content.text)
        assert_safe(str(content.uri))
        return content.text

    async def listed(self) -> list[str]:
        """The names of all traces, from every page of the listing."""
        names: list[str] = []
        cursor: str | None = ""
        while cursor is not None:
            page = await self.call("list_traces", cursor=cursor)
            names += [row["trace"] for row in page["traces"]]
            cursor = page["next_cursor"]
        return names

    async def look(self, trace: str) -> None:
        """Everything that costs no model call."""
        await self.call("list_traces", query=trace)
        await self.call("show_event", trace=trace)
        await self.call("show_event", trace=trace, find="repository")
        for event in (0, 2, 4, 6, 8):
            await self.call("show_event", trace=trace, event=event)
            await self.call("show_event", trace=trace, event=event, view="context")
        await self.call("show_event", trace=trace, event=4, offset=3, limit=40)
        await self.call("show_event", trace=trace, event=6, view="context", find="repository")
        await self.call("show_event", trace=trace, event="tool:none")
        await self.read(f"runtape://trace/{trace}")
        await self.read(f"runtape://trace/{trace}/event/4")
        await self.read(f"runtape://trace/{trace}/event/999")
        try:
            prompt = await self.client.get_prompt("why_failed", {"trace": trace})
        except MCPError as error:
            assert_safe_error(error)
        else:
            for message in prompt.messages:
                assert isinstance(message.content, TextContent)
                assert_safe(message.content.text)

    async def investigate(self, trace: str, path: str) -> dict[str, Any]:
        """Everything that does; the answer of `why`."""
        about: dict[str, Any] = {"trace": trace, "event": 6}
        fix = await self.call("fix", **about)
        why = await self.call("why", **about)
        for cause in why.get("causes", []):
            # References come back as they were given out, fences and all.
            assert await self.call("rerun", **about, runs=2, drop=cause["refs"])
            assert await self.call("why", **about, suspects=cause["refs"])
        await self.call("why", **about, tool=CANARY[:5])
        await self.call("why", **about, match=CANARY)
        await self.call("rerun", **about, drop=[CANARY])
        await self.call("write_test", **about, path=path, fix=fix.get("best") or "both")
        await self.call("write_test", **about, path=path, fix=CANARY)
        await self.call("write_test", **about, path=f"../{CANARY}/test_x.py", add_system="x")
        await self.call("stop", job=why.get("job", CANARY))
        for answer in (fix, why):
            if answer:
                await self.read(answer["report"])
        return why


async def walk(root: Path, era: str, mine: int) -> int:
    """Every tool, resource and prompt over every trace; investigations of every second one, beginning with `mine`."""
    folder, project = root / "traces", root / "project"
    model = root / "model.py"
    model.write_text(MODEL, encoding="utf-8")
    arguments = ["--traces", str(folder), "--project", str(project), "--model-fn", f"{model}:model"]
    server = StdioServerParameters(
        command=sys.executable,
        args=[str(AUDITED), str(root / f"audit-{mine}"), *arguments, "--max-calls", "1000000"],
        env=dict(os.environ),
        cwd=project,
    )
    with nowhere() as log, anyio.fail_after(110):
        async with Client(stdio_client(server, errlog=log), mode=era) as client:
            there = Walk(client)
            for listing in (await client.list_resources(), await client.list_resource_templates()):
                for text in strings(listing.model_dump(mode="json")):
                    assert_safe(text)
            names = await there.listed()
            assert len(names) == len(set(names))
            assert all(map(str.isascii, names))
            for name in FAR:
                assert not await there.call("why", trace=name, event=6)
                await there.call("show_event", trace=name)
                await there.read(f"runtape://trace/{name.replace('/', '%2F')}")
            explained = 0
            for number, name in enumerate(sorted(names)):
                if number % 2 != mine:
                    continue
                await there.look(name)
                if not name.startswith("file-"):
                    explained += bool((await there.investigate(name, f"tests/test_{number}.py")).get("causes"))
            assert any("model calls" in message for message in there.heard)
            assert there.answers > 1000
            return explained


def allowed(root: Path, event: str, arguments: list[str]) -> bool:
    """Whether something that the server did is among the things that it is for."""
    match event, arguments:
        case "open", [path, mode, flags]:
            writes = int(flags) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) or set(mode) & set("wax+")
            return _may_open(root, Path(path), writes=bool(writes)) if path[:1] == "/" else True
        case "sqlite3.connect", [path]:
            return (
                path == ":memory:" or path.endswith("?vfs=memdb") or Path(path).parent == root / "project" / ".runtape"
            )
        case (("os.mkdir" | "os.rename" | "os.remove" | "os.link" | "os.symlink"), [path, *_]):
            return _may_open(root, Path(path), writes=True)
        case "import", [name, *_]:
            return "evil" not in name
        case "marshal.loads", _:
            return True  # how Python reads its own compiled files
        case _:
            return False


def _may_open(root: Path, path: Path, *, writes: bool) -> bool:
    places = [root / "project" / ".runtape", root / "project" / "tests"]
    if not writes:
        places += [root / "traces", root / "model.py", root / "project", root / "__pycache__"]
    inside = any(path.is_relative_to(place) for place in places)
    outside = path.is_relative_to(root) or "passwd" in path.name or path == Path("/dev/zero")
    if writes:
        return inside or path.name == "null" or "__pycache__" in path.parts
    return inside or not outside


@pytest.mark.parametrize(("era", "mine"), [("auto", 0), ("legacy", 1)])
async def test_every_tool_over_every_hostile_trace_is_safe_to_read_and_stays_in_its_folders(
    tmp_path: Path, era: str, mine: int
) -> None:
    laid = lay(tmp_path)
    assert len(laid) >= 70
    explained = await walk(tmp_path, era, mine)
    assert explained >= 0.4 * len(whole())
    assert not (tmp_path / "imported").exists()
    done = [json.loads(line) for line in (tmp_path / f"audit-{mine}").read_text(encoding="utf-8").splitlines()]
    assert {event for event, *_ in done} >= {"open", "sqlite3.connect", "import"}
    assert [line for line in done if not allowed(tmp_path, line[0], line[1:])][:20] == []
    written = [path for path in (tmp_path / "project").rglob("*") if ".runtape" not in path.parts and path.is_file()]
    assert {path.parent.name for path in written if path.suffix == ".jsonl"} == {"tests"}
    tests = [path for path in written if path.name.startswith("test_") and path.suffix == ".py"]
    assert len(tests) >= explained
    for test in tests:
        assert "evil" not in {
            node.id for node in ast.walk(ast.parse(test.read_text("utf-8"))) if isinstance(node, ast.Name)
        }
    shutil.rmtree(tmp_path)
