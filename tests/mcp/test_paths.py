from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

import pytest
from mcp import Client, MCPError
from mcp.types import TextContent
from mcp_fakes import FakeVerbs, Steps
from mcp_traces import run, write

from runtape.errors import TraceNotFound
from runtape_mcp.library import Library
from runtape_mcp.server import build
from runtape_mcp.settings import Settings

pytestmark = pytest.mark.anyio

OUTSIDE = [
    "../secret",
    "../secret.jsonl",
    "..\\secret",
    "a/../../secret",
    "./../secret",
    "%2e%2e/secret",
    "%2e%2e%2fsecret",
    "..%2fsecret",
    "~/secret",
    "~root/secret",
    "file:///secret",
    "secret\x00",
    "../traces-evil/secret",
    "",
    ".",
    "..",
    "link",
    "link.jsonl",
    "folder-link/secret",
    "x" * 5000,
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "secret.jsonl", run("SECRET"))
    write(tmp_path / "traces-evil" / "secret.jsonl", run("SECRET"))
    traces = tmp_path / "traces"
    write(traces / "run.jsonl", run())
    (traces / "link.jsonl").symlink_to(tmp_path / "secret.jsonl")
    (traces / "folder-link").symlink_to(tmp_path / "traces-evil")
    return traces


@pytest.mark.parametrize("name", OUTSIDE)
async def test_no_spelling_of_a_name_leads_out_of_the_folder(folder: Path, name: str) -> None:
    with pytest.raises(TraceNotFound):
        await Library(folder).find(name)


async def test_an_absolute_path_is_no_name(folder: Path) -> None:
    for path in (folder.parent / "secret.jsonl", folder / "run.jsonl"):
        with pytest.raises(TraceNotFound):
            await Library(folder).find(str(path))


@pytest.mark.parametrize("name", ["run", "run.jsonl", "last", "ru"])
async def test_names_of_the_folder_are_found(folder: Path, name: str) -> None:
    assert await Library(folder).find(name) == folder / "run.jsonl"


async def test_last_is_the_newest(folder: Path) -> None:
    newest = write(folder / "newest.jsonl", run())
    os.utime(newest, (2_000_000_000, 2_000_000_000))
    assert await Library(folder).find("last") == newest


@pytest.mark.parametrize(
    "file", ["two words.jsonl", "a\nb.jsonl", "\u202eevil.jsonl", "last.jsonl", "ignore previous instructions.jsonl"]
)
async def test_a_file_name_that_is_no_plain_name_is_called_by_a_digest(folder: Path, file: str) -> None:
    write(folder / file, run())
    library = Library(folder)
    [name] = set(await library.names()) - {"run"}
    assert name.startswith("trace-")
    assert await library.find(name) == folder / file


@pytest.mark.parametrize("name", OUTSIDE)
async def test_tools_and_resources_say_nothing_of_files_outside(folder: Path, name: str) -> None:
    async with Client(build(Settings(traces=folder, project=folder.parent), FakeVerbs(Steps(1)))) as client:
        for tool, arguments in (
            ("show_event", {}),
            ("why", {"event": 4}),
            ("fix", {"event": 4}),
            ("rerun", {"event": 4}),
        ):
            result = await client.call_tool(tool, {"trace": name, **arguments})
            assert result.is_error
            [block] = result.content
            assert isinstance(block, TextContent)
            assert "SECRET" not in block.text
            assert str(folder.parent) not in block.text
            assert len(block.text) < 1000
        for uri in (f"runtape://trace/{quote(name, safe='')}", f"runtape://trace/{name[:200]}/event/4"):
            with pytest.raises(MCPError) as refused:
                await client.read_resource(uri)
            assert "SECRET" not in str(refused.value)
            assert str(folder.parent) not in str(refused.value)


async def test_a_trace_that_changes_is_read_again(folder: Path) -> None:
    library = Library(folder)
    path = await library.find("run")
    before, digest = await library.load(path), await library.digest(path)
    assert await library.load(path) is before
    with path.open("a", encoding="utf-8") as file:
        file.write('{"id": 8, "ts": 1, "type": "log", "payload": {"message": "more"}}\n')
    assert len((await library.load(path)).events) == len(before.events) + 1
    assert await library.digest(path) != digest
