"""What OpenTelemetry's own instrumentations write, as attributes and as log records, against what was sent.

A rebuilt request equals the sent one, or differs by what its label says and by nothing else. `.ci/frameworks` installs
the instrumentations: the present ones, and the older one whose messages are log records, which needs an environment of
its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from traced_agents import calls_of, imported, spelled_alike

pytestmark = pytest.mark.filterwarnings("default")  # the instrumentations' own

OPENAI = "opentelemetry.instrumentation.genai.openai.OpenAIInstrumentor"
ANTHROPIC = "opentelemetry.instrumentation.genai.anthropic.AnthropicInstrumentor"
OLDER = "opentelemetry.instrumentation.openai_v2.OpenAIInstrumentor"
ATTRIBUTES = {
    "OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental",
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_AND_EVENT",
}
EVENTS = {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true"}
UNKNOWN = {"params", "strict", "cache_control"}
"""What these emitters never write down, so that a label names it whether or not it was sent."""


def recorded(name: str, agent: str, settings: dict[str, str], folder: Path) -> list[Any]:
    """Run an agent under an instrumentation; what was sent."""
    pytest.importorskip(name.rpartition(".")[0])
    here = Path(__file__).parent
    paths = os.pathsep.join([str(here), str(here.parent)])
    command = [sys.executable, "-W", "ignore", str(here / "genai_agent.py"), name, agent, str(folder)]
    subprocess.run(command, check=True, timeout=100, env={**os.environ, **settings, "PYTHONPATH": paths})
    return json.loads((folder / "sent.json").read_text(encoding="utf-8"))


def difference(body: dict[str, Any], sent: dict[str, Any]) -> set[str]:
    """By what a rebuilt request differs from the one that was sent, in the words of the labels."""
    found: set[str] = set()
    for key in body.keys() | sent.keys():
        ours, theirs = spelled_alike(body.get(key)), spelled_alike(sent.get(key))
        found |= {
            mark for mark in ("strict", "cache_control") if mark in json.dumps(theirs) and mark not in json.dumps(ours)
        }
        if key in ("messages", "input", "system", "tools", "instructions"):
            ours, (theirs, lost) = bare(ours)[0], bare(theirs)
            found |= lost
            if ours != theirs:
                found.add("model" if key == "model" else "tools" if key == "tools" else f"{key} as they were sent")
        elif ours != theirs:
            found.add("model" if key == "model" else "params")
    return found


def bare(said: Any) -> tuple[Any, set[str]]:
    """A part of a request without what only some emitters keep of it, and the words for what was taken out."""
    lost: set[str] = set()

    def without(value: Any) -> Any:
        if isinstance(value, list):
            if any(part.get("type") in ("thinking", "reasoning") for part in value if isinstance(part, dict)):
                lost.add("reasoning")
            kept = [without(part) for part in value if not is_thought(part)]
            only = kept[0] if len(kept) == 1 and isinstance(kept[0], dict) else {}
            return only["text"] if only.keys() == {"type", "text"} else kept
        if not isinstance(value, dict):
            return value
        if str(value.get("type")).startswith("function_call") and "id" in value:
            lost.add("item ids")
            value = {key: part for key, part in value.items() if key not in ("id", "status")}
        return {
            key: without(part)
            for key, part in value.items()
            if key not in ("cache_control", "strict") and (key, part) != ("is_error", False)
        }

    return without(said), lost


def is_thought(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") in ("thinking", "reasoning")


def check(folder: Path, sent: list[Any], *files: str) -> list[set[str]]:
    """Import the files; every call is found, and its label is right. The labels' losses."""
    first, *more = [folder / file for file in files]
    found = calls_of(imported(first, folder / f"traces of {len(files)}", *more))
    assert len(found) == len(sent)
    for (body, _, fidelity), truth in zip(found, sent, strict=True):
        missing = set(fidelity.missing)
        differs = difference(body, truth)
        assert fidelity.label == ("partial" if missing else "rebuilt")
        assert differs <= missing
        assert missing - differs <= UNKNOWN
    assert [call.arguments for call in found[0][1].tool_calls] == [{"order": "1"}, {"order": "2"}]
    return [set(fidelity.missing) for _, _, fidelity in found]


@pytest.mark.parametrize("files", [("spans.txt",), ("logs.txt",), ("spans.txt", "logs.txt")])
@pytest.mark.parametrize(
    ("name", "agent"),
    [(OPENAI, "image"), (OPENAI, "stream"), (OPENAI, "responses"), (ANTHROPIC, "messages")],
)
def test_attributes_of_spans_and_of_log_records_differ_by_what_the_label_says(
    name: str, agent: str, files: tuple[str, ...], tmp_path: Path
) -> None:
    missing = check(tmp_path, recorded(name, agent, ATTRIBUTES, tmp_path), *files)
    assert all("tools" not in lost for lost in missing)
    assert ["reasoning" in lost for lost in missing] == {"image": [False, False], "stream": [False]}.get(
        agent, [False, True]
    )


@pytest.mark.parametrize(("agent", "files"), [("image", 2), ("stream", 2), ("image", 1)])
def test_messages_that_are_log_records_differ_by_what_the_label_says(agent: str, files: int, tmp_path: Path) -> None:
    sent = recorded(OLDER, agent, EVENTS, tmp_path)
    missing = check(tmp_path, sent, *("logs.txt", "spans.txt")[:files])
    assert all("tools" in lost for lost in missing)
    assert all(("model" in lost) == (files == 1) for lost in missing)


def test_messages_whose_log_records_are_elsewhere_are_said_to_be(tmp_path: Path) -> None:
    recorded(OLDER, "chat", EVENTS, tmp_path)
    traces = imported(tmp_path / "spans.txt", tmp_path / "traces")
    labels = [trace.fidelity(call.request) for trace in traces for call in trace.calls]
    assert [label.label for label in labels] == ["not rebuildable"] * 2
    assert all("log records are in another file" in str(label.why) for label in labels)


@pytest.mark.parametrize("agent", ["chat", "stream"])
def test_attributes_of_the_older_instrumentation_lack_the_tools(agent: str, tmp_path: Path) -> None:
    missing = check(tmp_path, recorded(OLDER, agent, ATTRIBUTES, tmp_path), "spans.txt")
    assert all("tools" in lost for lost in missing)
