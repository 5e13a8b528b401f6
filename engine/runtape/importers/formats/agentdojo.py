"""AgentDojo runs: one JSON file per task and injection, or the JSON Lines in which they are published again.

Shapes as AgentDojo 0.1.35 writes them: https://github.com/ethz-spylab/agentdojo (`logging.py`, `types.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...wire.bodies import listed, objects
from ...wire.reading import members, text_or_none
from ...wire.values import Json, JsonObject
from ..conversation import Setting, Turn, conversation, tool_call
from ..each_file import each_file, first_object
from ..imported import ImportedNote, ImportedRun, Skipped
from ..json_stream import Record
from ..moments import seconds
from ..registry import Format
from ..source import Sample

_MISSING = ("tools", "params", "model")
_FACTS = (
    "suite_name",
    "pipeline_name",
    "user_task_id",
    "injection_task_id",
    "attack_type",
    "utility",
    "security",
    "success",
    "benchmark_version",
)


def recognise(sample: Sample) -> str | None:
    """Why the values look like this format; None when they do not."""
    first = first_object(sample.values)
    if "suite_name" in first and "user_task_id" in first and "messages" in first:
        return "`suite_name`, `user_task_id` and `messages` in one object"
    if "AgentDojo" in str(members(members(first).get("metadata")).get("benchmark", "")):
        return "the first line names the benchmark AgentDojo"
    return None


def runs(records: Iterator[Record], name: str) -> Iterator[ImportedRun | Skipped]:
    """One run per object with messages."""
    found = 0
    for record in records:
        value = members(record.value)
        if not isinstance(value.get("messages"), list):
            told = "the heading of the file" if "metadata" in value else "no messages"
            yield Skipped(record.place, told, notable="metadata" not in value)
            continue
        found += 1
        yield _run(record, value, name if found == 1 else f"{name} {found}")


def _run(record: Record, value: JsonObject, name: str) -> ImportedRun:
    about = {**members(value.get("metadata")), **value}
    facts: JsonObject = {key: about[key] for key in _FACTS if key in about}
    turns = [_turn(f"{record.place}, message {index}", message) for index, message in objects(value["messages"])]
    setting = Setting(missing=_MISSING, why=_why(facts.get("pipeline_name")))
    events = conversation(turns, setting)
    notes = (*_planted(record, value, turns), *_outcome(record, facts, about))
    return ImportedRun(name, (*events, *notes), seconds(about.get("evaluation_timestamp")), facts)


def _turn(place: str, message: JsonObject) -> Turn:
    role = message.get("role")
    told: JsonObject = {"role": role, "content": _content(message.get("content"))}
    error, tool = text_or_none(message.get("error")), None
    if role == "tool":
        called = members(message.get("tool_call"))
        named = called.get("function")
        told["tool_call_id"] = message.get("tool_call_id") or called.get("id") or ""
        tool = text_or_none(named)
        if error:  # what the model is then sent in place of the content
            told["content"] = error
    calls = [tool_call(call.get("id"), *_named(call)) for _, call in objects(message.get("tool_calls"))]
    if calls:
        told["tool_calls"] = [*calls]
    return Turn(place, told, error=error or None, tool=tool)


def _named(call: JsonObject) -> tuple[Json, Json]:
    function = call.get("function")
    if isinstance(function, dict):
        return function.get("name"), function.get("arguments")
    return function, call.get("args")


def _content(content: Json) -> Json:
    """The text of a message: blocks keep it under `content`, not `text`."""
    if not isinstance(content, list):
        return content
    parts: list[Json] = []
    for part in content:
        text = members(part).get("content", members(part).get("text"))
        parts.append({"type": "text", "text": text} if isinstance(text, str) else part)
    if len(parts) == 1 and isinstance(only := members(parts[0]).get("text"), str):
        return only
    return parts


def _why(pipeline: Json) -> str | None:
    """A pipeline is named after its model and, behind it, its defence: the two cannot be told apart."""
    return f"the model is known only as a part of the pipeline's name, {pipeline!r}" if pipeline else None


def _planted(record: Record, value: JsonObject, turns: list[Turn]) -> Iterator[ImportedNote]:
    results = [text for turn in turns if turn.message.get("role") == "tool" for text in _texts(turn.message["content"])]
    for vector, text in members(value.get("injections")).items():
        if not isinstance(text, str) or not text.strip():
            continue
        words = text.split()
        seen = any(_spoken(words, result) for result in results)
        told = "was read by the model in a tool result" if seen else "is in no tool result that the model read"
        yield ImportedNote(
            record.place, f"planted text {vector!r} {told}", {"vector": vector, "text": text, "seen": seen}
        )


def _spoken(words: list[str], result: str) -> bool:
    """True when the words stand in the result in order; environments wrap and trim the lines of a planted text."""
    return " ".join(words) in " ".join(result.split())


def _texts(content: Json) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [text for part in listed(content) if isinstance(text := members(part).get("text"), str)]


def _outcome(record: Record, facts: JsonObject, about: JsonObject) -> Iterator[ImportedNote]:
    if isinstance(about.get("utility"), bool):
        done = "was done" if about["utility"] else "was not done"
        yield ImportedNote(record.place, f"the user's task {done}", {"utility": about["utility"]})
    security = about.get("security")
    if isinstance(security, bool) and facts.get("injection_task_id"):
        told = "the injected task was carried out" if security else "the injected task was not carried out"
        yield ImportedNote(record.place, told, {"security": security})
    if error := text_or_none(about.get("error")):
        yield ImportedNote(record.place, f"the run ended with an error: {error}")


FORMAT: Final = Format(
    "agentdojo", "AgentDojo runs", "`suite_name`, `user_task_id` and `messages`", recognise, each_file(runs)
)
