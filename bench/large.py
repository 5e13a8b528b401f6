"""How the server copes with a trace of one gigabyte and with a folder of ten thousand.

    python -m bench.large [--gigabytes 1.0] [--traces 10000] > bench/results/large.md

A real `runtape-mcp` is asked over stdio. Memory is the most that its process ever held (`VmHWM`), above what it held
after `initialize`. The clock runs from the call of a tool to its answer.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

HEAD = {
    "id": 0,
    "ts": 1.0,
    "type": "run_start",
    "parent": None,
    "payload": {"name": "large", "format": "runtape"},
    "meta": {},
}
FACTS: dict[str, Any] = {
    "provider": "openai",
    "api": "chat.completions",
    "model": "m",
    "endpoint": "http://127.0.0.1:9/v1",
    "params": {},
}


def events(size: int) -> Iterator[bytes]:
    """The lines of a trace of about `size` bytes: calls that answer with pages of 9 kB, and what they were asked."""
    yield line(HEAD)
    written, number = 0, 1
    page = "The parcel was sent on Monday and has not arrived yet. " * 160
    while written < size:
        messages = [{"role": "user", "content": f"{number}: {page}"}]
        asked: dict[str, Any] = {**FACTS, "messages": messages}
        said: dict[str, Any] = {"text": page, "tool_calls": [], "stop_reason": "stop", "raw": None}
        for kind, parent, payload in (("llm_request", None, asked), ("llm_response", number, said)):
            head: dict[str, Any] = {"id": number, "ts": 1.0 + number, "type": kind, "parent": parent}
            made = line({**head, "payload": payload, "meta": {}})
            written += len(made)
            number += 1
            yield made


def line(event: dict[str, Any]) -> bytes:
    return json.dumps(event).encode() + b"\n"


def held(client_pid: int) -> tuple[float, float]:
    """Megabytes that the server holds now, and the most that it ever held."""
    told = dict(
        row.split(":", 1) for row in Path(f"/proc/{client_pid}/status").read_text(encoding="utf-8").splitlines()
    )
    return tuple(int(told[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))  # type: ignore[return-value]


def server_pid() -> int:
    """The child that runs the server."""
    me = str(Path("/proc/self").resolve().name)
    children = Path(f"/proc/{me}/task/{me}/children").read_text(encoding="utf-8").split()
    return int(children[-1])


async def timed(client: Client, tool: str, **arguments: Any) -> float:
    started = time.perf_counter()
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return time.perf_counter() - started


async def large(folder: Path, gigabytes: float) -> Iterator[tuple[str, str, str]]:
    rows: list[tuple[str, str, str]] = []
    with (folder / "large.jsonl").open("wb") as file:
        file.writelines(events(int(gigabytes * 1e9)))
    ours = StdioServerParameters(
        command=str(Path(sys.executable).parent / "runtape-mcp"), args=["--traces", str(folder)]
    )
    async with Client(stdio_client(ours)) as client:
        pid = server_pid()
        idle, _ = held(pid)
        size = (folder / "large.jsonl").stat().st_size / 1e9
        first = await timed(client, "show_event", trace="large")
        rows.append((f"first page of a trace of {size:.2f} GB", f"{first:.2f} s", "5 s"))
        again = await timed(client, "show_event", trace="large", offset=100)
        rows.append(("second page", f"{again:.2f} s", "0.2 s"))
        context = await timed(client, "show_event", trace="large", event="last", view="context")
        rows.append(("the context of its last call", f"{context:.2f} s", "-"))
        _, most = held(pid)
        rows.append(("memory above idle", f"{most - idle:.0f} MB", "64 MB"))
    return iter(rows)


async def many(folder: Path, traces: int) -> tuple[str, str, str]:
    for number in range(traces):
        with (folder / f"run-{number:05}.jsonl").open("wb") as file:
            file.writelines([line(HEAD), *(line({**HEAD, "id": at, "type": "log"}) for at in range(1, 20))])
    ours = StdioServerParameters(
        command=str(Path(sys.executable).parent / "runtape-mcp"), args=["--traces", str(folder)]
    )
    async with Client(stdio_client(ours)) as client:
        took = await timed(client, "list_traces", limit=50)
    return f"50 of {traces:,} traces listed", f"{took:.2f} s", "0.5 s"


async def measure(gigabytes: float, traces: int) -> None:
    print("| what | measured | goal |\n|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for row in await large(Path(folder), gigabytes):
            print("| " + " | ".join(row) + " |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        print("| " + " | ".join(await many(Path(folder), traces)) + " |")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--gigabytes", type=float, default=1.0)
    options.add_argument("--traces", type=int, default=10_000)
    asked = options.parse_args()
    anyio.run(measure, asked.gigabytes, asked.traces)


if __name__ == "__main__":
    main()
