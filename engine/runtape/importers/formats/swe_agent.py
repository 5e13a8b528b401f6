"""SWE-agent `.traj` and mini-swe-agent `.traj.json` files, and bare lists of chat messages.

Shapes: https://github.com/SWE-agent/SWE-agent (`agent/agents.py`, `types.py`) and
https://github.com/SWE-agent/mini-swe-agent. A step's `query` is the messages as they were sent; without it a request is
put together from `history`, of which SWE-agent shortens old observations before it sends them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...wire.bodies import listed, objects
from ...wire.reading import members, parsed, text_or_none
from ...wire.values import Json, JsonObject
from ..conversation import Setting, Turn, conversation, tool_call
from ..each_file import each_file, first_object, lists
from ..imported import ImportedCall, ImportedEvent, ImportedNote, ImportedRun, Skipped
from ..json_stream import Record
from ..moments import elapsed_ms, seconds
from ..registry import Format
from ..source import Sample

_MISSING: Final = ("tools", "params")
_SHORTENED: Final = "the shortening of old observations"


def recognise(sample: Sample) -> str | None:
    """Why a file looks like this format; None when it does not."""
    first = first_object(sample.values)
    if str(first.get("trajectory_format", "")).startswith("mini-swe-agent"):
        return f"`trajectory_format` {first['trajectory_format']}"
    step = first_object(listed(first.get("trajectory")))
    if isinstance(first.get("trajectory"), list) and ("history" in first or "environment" in first):
        return "`trajectory` and `history` in one object"
    if {"action", "observation"} <= step.keys():
        return "a `trajectory` of steps with `action` and `observation`"
    history = first_object(listed(first.get("history")))
    if "role" in history and "message_type" in history:
        return "a `history` of messages with `message_type`"
    if isinstance(first.get("messages"), list) and "model_stats" in members(first.get("info")):
        return "`messages` and `info.model_stats`"
    if _is_conversation(first):
        return "objects with a conversation in `messages`"
    if sample.is_list and first.keys() >= {"role", "content"} and first["role"] in ("system", "user"):
        return "a list of chat messages"
    return None


def _is_conversation(value: JsonObject) -> bool:
    """True for messages up to a reply, and not beside one: data for training, and agents' own logs."""
    said = [message for _, message in objects(value.get("messages"))]
    others = (
        "response",
        "reply",
        "output",
        "completion",
        "model",
        "inputs",
        "task_id",
        "suite_name",
        "kwargs",
        "epoch",
    )
    return any(message.get("role") == "assistant" for message in said) and value.keys().isdisjoint(others)


def runs(records: Iterator[Record], name: str) -> Iterator[ImportedRun | Skipped]:
    """One run per file or list of messages."""
    for group in lists(records):
        messages = [record for record in group if "role" in members(record.value)]
        if messages:
            turns = [_mini(record.place, members(record.value)) for record in messages]
            yield _run(name, group[0].place, turns, Setting(missing=(*_MISSING, "model")), {})
        for record in group:
            if record not in messages:
                yield from _document(record, name)


def _document(record: Record, name: str) -> Iterator[ImportedRun | Skipped]:
    value = members(record.value)
    info = members(value.get("info"))
    tags: JsonObject = {key: info[key] for key in ("exit_status", "submission", "model_stats") if key in info}
    if isinstance(value.get("messages"), list):
        turns = [_mini(f"{record.place}, message {at}", message) for at, message in objects(value["messages"])]
        model = members(members(info.get("config")).get("model"))
        tools = listed(value.get("tools"))
        asks = any("tool_calls" in turn.message for turn in turns)
        setting = Setting(
            model=_bare(model.get("model_name")),
            params=_given(model.get("model_kwargs")),
            tools=[*tools] or None,
            missing=(
                *(("tools",) if not tools and (asks or not model) else ()),
                *(() if model else ("params", "model")),
            ),
            why="commands are blocks of code in the text: no tools were offered" if model and not asks else None,
        )
        yield _run(name, record.place, turns, setting, tags)
    elif isinstance(value.get("trajectory"), list) or isinstance(value.get("history"), list):
        yield _swe(record.place, value, name, tags)
    else:
        yield Skipped(record.place, "no trajectory and no messages")


def _run(name: str, place: str, turns: list[Turn], setting: Setting, tags: JsonObject) -> ImportedRun | Skipped:
    events = conversation(turns, setting)
    if not any(isinstance(event, ImportedCall) for event in events):
        return Skipped(place, "messages without a reply of the model")
    started = next((event.started for event in events if event.started is not None), None)
    return ImportedRun(name, events, started, tags)


def _bare(model: Json) -> str | None:
    """The model without LiteLLM's name of the provider in front."""
    return model.rpartition("/")[2] if isinstance(model, str) and model else None


def _given(kwargs: Json) -> JsonObject:
    return {key: value for key, value in members(kwargs).items() if value is not None and key != "drop_params"}


def _mini(place: str, message: JsonObject) -> Turn:
    """A message of mini-swe-agent's; a whole response may be kept under `extra`."""
    response = members(members(message.get("extra")).get("response"))
    told = {key: item for key, item in message.items() if key not in ("extra", "timestamp")}
    reply = response if isinstance(response.get("choices"), list) else None
    at = seconds(message.get("timestamp")) or seconds(members(message.get("extra")).get("timestamp"))
    return Turn(place, told, message.get("role") == "assistant", reply, started=at)


def _swe(place: str, value: JsonObject, name: str, tags: JsonObject) -> ImportedRun | Skipped:
    steps = [step for _, step in objects(value.get("trajectory"))]
    model = members(members(members(_config(value)).get("agent")).get("model"))
    setting = Setting(
        model=_bare(model.get("name")),
        params={key: model[key] for key in ("temperature", "top_p") if model.get(key) is not None},
        missing=_MISSING if model else (*_MISSING, "model"),
    )
    history = [message for _, message in objects(value.get("history"))]
    if any(isinstance(step.get("query"), list) for step in steps):
        events = [event for at, step in enumerate(steps) for event in _step(f"{place}, step {at}", step, setting)]
        if events:
            return ImportedRun(name, events, None, tags)
    replies = iter(steps)
    turns = [_history_turn(f"{place}, message {at}", message, replies) for at, message in enumerate(history)]
    shortened = Setting(model=setting.model, params=setting.params, missing=(*setting.missing, _SHORTENED))
    return _run(name, place, turns, shortened, tags)


def _config(value: JsonObject) -> JsonObject:
    config = value.get("replay_config")
    if isinstance(config, str):
        return members(parsed(config))
    return members(config)


def _step(place: str, step: JsonObject, setting: Setting) -> Iterator[ImportedEvent]:
    """One step of a trajectory that keeps what was sent."""
    if not isinstance(step.get("query"), list):
        yield ImportedNote(place, "a step without a model call", {"action": step.get("action")})
        return
    turns = [Turn(place, _message(message), by_model=False) for _, message in objects(step["query"])]
    said: JsonObject = {"role": "assistant", "content": step.get("response")}
    if calls := listed(step.get("tool_calls")):
        said["tool_calls"] = calls
    events = conversation([*turns, Turn(place, said)], setting)
    yield from (event for event in events if isinstance(event, ImportedCall))
    if step.get("observation") is not None:
        facts: JsonObject = {"action": step.get("action"), "observation": step.get("observation")}
        yield ImportedNote(place, "what the environment answered", facts)


def _history_turn(place: str, message: JsonObject, steps: Iterator[JsonObject]) -> Turn:
    by_model = message.get("role") == "assistant" and message.get("is_demo") is not True
    step: JsonObject = next(steps, _NONE) if by_model else _NONE
    spent = step.get("execution_time")
    took = elapsed_ms(0.0, float(spent)) if message.get("role") == "tool" and isinstance(spent, float) else None
    return Turn(place, _message(message), by_model, latency_ms=took)


def _message(message: JsonObject) -> JsonObject:
    """A message as it was sent: without SWE-agent's own notes on it."""
    role = message.get("role")
    content = message.get("content")
    if content is None and role == "assistant":
        content = text_or_none(message.get("thought"))
    told: JsonObject = {"role": role, "content": content}
    if calls := listed(message.get("tool_calls")):
        told["tool_calls"] = [_call(members(call)) for call in calls]
    ids = listed(message.get("tool_call_ids")) or ([message["tool_call_id"]] if "tool_call_id" in message else [])
    if ids and role != "assistant":
        told |= {"role": "tool", "tool_call_id": ids[0]}
    if isinstance(message.get("name"), str):
        told["name"] = message["name"]
    return told


def _call(call: JsonObject) -> JsonObject:
    function = members(call.get("function"))
    return tool_call(call.get("id"), function.get("name"), function.get("arguments"))


_NONE: Final[JsonObject] = {}

FORMAT: Final = Format(
    "swe-agent",
    "SWE-agent and mini-swe-agent trajectories",
    "`trajectory` and `history`, or `messages` and `info`",
    recognise,
    each_file(runs),
)
