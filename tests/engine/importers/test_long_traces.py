"""One trace of many calls: it is read call by call, and told apart from its doubles without comparing all."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from refund_files import otlp, span

from runtape.importers.importing import import_sources
from runtape.importers.source import sources

TEXT = "The parcel was sent on Monday and has not arrived yet. " * 200
CALLS = 400


def asked(number: int) -> list[dict[str, Any]]:
    return [{"role": "user", "content": f"{number}. {TEXT}"}]


def spans() -> str:
    told = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.system": "openai"}
    listed = [
        span(
            number % 60,
            "chat m",
            {**told, "gen_ai.input.messages": json.dumps(asked(number)), "gen_ai.response.id": f"r{number}"},
        )
        | {"spanId": f"{number + 1:016x}"}
        for number in range(CALLS)
    ]
    return otlp(listed, "genai")


def observations() -> str:
    def made(number: int) -> dict[str, Any]:
        time = f"2026-01-02T03:{number // 60:02d}:{number % 60:02d}Z"
        head = {"id": f"o{number}", "traceId": "t", "type": "GENERATION", "name": "chat", "model": "m"}
        return {**head, "startTime": time, "endTime": time, "input": json.dumps(asked(number)), "output": None}

    return json.dumps({"trace": {"id": "t", "name": "n"}, "observations": [made(number) for number in range(CALLS)]})


def runs() -> str:
    def made(number: int) -> dict[str, Any]:
        time = f"2026-01-02T03:{number // 60:02d}:{number % 60:02d}"
        head = {"id": f"r{number}", "trace_id": "t", "run_type": "llm", "name": "chat", "start_time": time}
        return {**head, "end_time": time, "inputs": {"messages": asked(number)}, "outputs": None}

    return json.dumps([made(number) for number in range(CALLS)])


@pytest.mark.parametrize("write", [spans, observations, runs])
def test_a_trace_is_held_no_more_than_a_few_of_its_calls_at_once(write: Any, tmp_path: Path) -> None:
    file = tmp_path / "recording.json"
    file.write_text(write(), encoding="utf-8")
    tracemalloc.start()
    try:
        with sources([str(file)]) as found:
            outcome = import_sources(found, tmp_path / "out")
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (outcome.calls, len(outcome.read[0].traces)) == (CALLS, 1)
    assert most < file.stat().st_size * 3 / 4
