"""How much memory an import of a large export takes, and whether its bar is drawn.

    python -m bench.importing [--megabytes 500] > bench/results/importing.md

Each export is read by `runtape import` as a child process with a terminal of its own. Memory is the most that the child
ever held (`ru_maxrss`). An export holds conversations of eight calls with a growing history, as many as it takes.
"""

from __future__ import annotations

import argparse
import json
import os
import pty
import re
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

GOAL = 200
"""Megabytes."""
CALLS = 8
PAGE = "The parcel was sent on Monday and has not arrived yet. " * 40
TOOL: dict[str, Any] = {"type": "function", "function": {"name": "refund", "parameters": {"type": "object"}}}


def conversation(number: int) -> Iterator[list[dict[str, Any]]]:
    """The messages of each call."""
    said: list[dict[str, Any]] = [{"role": "system", "content": f"{number}. {PAGE}"}]
    for turn in range(CALLS):
        said = [*said, {"role": "user", "content": f"{turn}. {PAGE}"}]
        yield said
        said = [*said, {"role": "assistant", "content": f"{turn}! {PAGE}"}]


def clock(number: int, turn: int) -> int:
    """Seconds since the epoch."""
    return 1_767_323_040 + number * 60 + turn


def iso(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(seconds))


def answer(turn: int) -> dict[str, Any]:
    return {"role": "assistant", "content": f"{turn}! {PAGE}"}


def otlp(number: int) -> Iterator[str]:
    """One line with the spans of a conversation."""
    spans: list[Any] = []
    for turn, said in enumerate(conversation(number)):
        parts = [{"role": m["role"], "parts": [{"type": "text", "content": m["content"]}]} for m in said]
        out = [{"role": "assistant", "parts": [{"type": "text", "content": answer(turn)["content"]}]}]
        told = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": "m",
            "gen_ai.input.messages": json.dumps(parts),
            "gen_ai.output.messages": json.dumps(out),
        }
        at = clock(number, turn)
        spans.append(
            {
                "traceId": f"{number + 1:032x}",
                "spanId": f"{number * CALLS + turn + 1:016x}",
                "name": "chat m",
                "startTimeUnixNano": f"{at}000000000",
                "endTimeUnixNano": f"{at}500000000",
                "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in told.items()],
            }
        )
    yield json.dumps({"resourceSpans": [{"scopeSpans": [{"scope": {"name": "genai"}, "spans": spans}]}]}) + "\n"


def langfuse(number: int) -> Iterator[str]:
    for turn, said in enumerate(conversation(number)):
        at = clock(number, turn)
        record = {
            "id": f"o{number}-{turn}",
            "traceId": f"t{number}",
            "type": "GENERATION",
            "name": "chat",
            "startTime": iso(at),
            "endTime": iso(at + 1),
            "model": "m",
            "input": json.dumps({"messages": said, "tools": [TOOL]}),
            "output": json.dumps(answer(turn)),
        }
        yield json.dumps(record)


def langsmith(number: int) -> Iterator[str]:
    kinds = {"system": "SystemMessage", "user": "HumanMessage", "assistant": "AIMessage"}

    def dumped(message: dict[str, Any]) -> dict[str, Any]:
        kind = ["langchain", "schema", "messages", kinds[message["role"]]]
        return {"lc": 1, "type": "constructor", "id": kind, "kwargs": {"content": message["content"]}}

    for turn, said in enumerate(conversation(number)):
        at = clock(number, turn)
        record = {
            "id": f"r{number}-{turn}",
            "trace_id": f"t{number}",
            "run_type": "llm",
            "name": "ChatOpenAI",
            "start_time": iso(at),
            "end_time": iso(at + 1),
            "inputs": {"messages": [[dumped(message) for message in said]]},
            "outputs": {"generations": [[{"text": "", "message": dumped(answer(turn))}]]},
            "extra": {"invocation_params": {"model": "m", "tools": [TOOL]}, "metadata": {"ls_provider": "openai"}},
        }
        yield json.dumps(record)


def har(number: int) -> Iterator[str]:
    for turn, said in enumerate(conversation(number)):
        body = {"model": "m", "messages": said, "tools": [TOOL]}
        reply = {"id": f"c{number}-{turn}", "choices": [{"index": 0, "message": answer(turn), "finish_reason": "stop"}]}
        url = "https://api.openai.com/v1/chat/completions"
        request = {"method": "POST", "url": url, "postData": {"text": json.dumps(body)}}
        response = {"status": 200, "content": {"mimeType": "application/json", "text": json.dumps(reply)}}
        yield json.dumps(
            {"startedDateTime": iso(clock(number, turn)), "time": 5, "request": request, "response": response}
        )


@dataclass(frozen=True)
class Export:
    name: str
    file: str
    records: Callable[[int], Iterator[str]]
    before: str = ""
    between: str = ""
    after: str = ""


EXPORTS = (
    Export("OTLP, one JSON object per line", "spans.jsonl", otlp),
    Export("LangSmith, one JSON list", "runs.json", langsmith, "[", ",\n", "]"),
    Export("HTTP archive, one JSON object", "log.har", har, '{"log": {"entries": [', ", ", "]}}"),
    Export("Langfuse, one JSON object", "observations.json", langfuse, '{"data": [', ", ", "]}"),
)


def write(export: Export, path: Path, size: int) -> int:
    """Write an export of at least `size` bytes; how many calls it holds."""
    written = number = 0
    with path.open("w", encoding="utf-8") as file:
        file.write(export.before)
        while written < size:
            for record in export.records(number):
                written += file.write(export.between + record if written else record)
            number += 1
        file.write(export.after)
    return number * CALLS


@dataclass(frozen=True)
class Told:
    calls: int
    megabytes: float
    bar: bool


def imported(path: Path, folder: Path) -> Told:
    """What one import took."""
    parent, terminal = pty.openpty()
    drawn = bytearray()

    def watch() -> None:
        while True:
            try:
                drawn.extend(os.read(parent, 1 << 16))
            except OSError:  # the child has closed its terminal
                return

    reader = threading.Thread(target=watch, daemon=True)
    reader.start()
    command = [
        str(Path(sys.executable).parent / "runtape"),
        "import",
        str(path),
        "-o",
        str(folder / "traces"),
        "--json",
    ]
    with (folder / "told.json").open("wb") as out:
        actions = [(os.POSIX_SPAWN_DUP2, out.fileno(), 1), (os.POSIX_SPAWN_DUP2, terminal, 2)]
        child = os.posix_spawn(command[0], command, {**os.environ, "TERM": "xterm"}, file_actions=actions)
        os.close(terminal)
        _, status, usage = os.wait4(child, 0)
    reader.join(5)
    assert os.waitstatus_to_exitcode(status) == 0, drawn.decode(errors="replace")[-500:]
    told = json.loads((folder / "told.json").read_text(encoding="utf-8"))
    shown = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", bytes(drawn))
    return Told(told["calls"], usage.ru_maxrss / 1024, b"reading" in shown)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--megabytes", type=int, default=500)
    asked = options.parse_args()
    print("| export | size | calls in it | found | most memory | goal | bar drawn |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for export in EXPORTS:
        with tempfile.TemporaryDirectory() as held:
            folder = Path(held)
            path = folder / export.file
            calls = write(export, path, asked.megabytes * 1_000_000)
            size = path.stat().st_size / 1e6
            told = imported(path, folder)
            cells = (
                export.name,
                f"{size:.0f} MB",
                f"{calls:,}",
                f"{told.calls:,}",
                f"{told.megabytes:.0f} MB",
                f"{GOAL} MB",
                "yes" if told.bar else "no",
            )
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
