"""ATIF trajectories (`schema_version` ATIF-v1.x), as Harbor and NeMo Relay write them.

https://harborframework.com/docs/agents/trajectory-format. A step of the agent is one model call as a rule;
`llm_call_count` says where it was none or several. NeMo Relay keeps the provider's request in the step before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from ...wire.bodies import listed, objects
from ...wire.reading import members, text_or_none
from ...wire.values import Json, JsonObject
from ..conversation import Setting, Turn, conversation, tool_call
from ..each_file import each_file, first_object
from ..imported import ImportedCall, ImportedRun, Skipped
from ..json_stream import Record
from ..moments import seconds
from ..provider_body import api_of, sent_body
from ..registry import Format
from ..source import Sample

_SOURCES: Final = {"system": "system", "user": "user", "agent": "assistant"}
_SEVERAL: Final = "the other calls of the step"


def recognise(sample: Sample) -> str | None:
    """Why a file looks like this format; None when it does not."""
    first = first_object(sample.values)
    version = first.get("schema_version")
    known = isinstance(version, str) and (version.startswith("ATIF-") or {"agent", "steps"} <= first.keys())
    return f"`schema_version` {version}" if known else None


def runs(records: Iterator[Record], name: str) -> Iterator[ImportedRun | Skipped]:
    """One run per trajectory, and one per sub-agent in it."""
    for number, record in enumerate(records, 1):
        yield from _trajectory(record.place, members(record.value), name if number == 1 else f"{name} {number}")


def _trajectory(place: str, value: JsonObject, name: str) -> Iterator[ImportedRun | Skipped]:
    if not isinstance(value.get("steps"), list):
        yield Skipped(place, "no steps")
        return
    agent = members(value.get("agent"))
    tools = listed(agent.get("tool_definitions"))
    missing = [*([] if tools else ["tools"]), "params"]
    steps = [step for _, step in objects(value["steps"])]
    if not any(step.get("source") == "system" for step in steps):
        missing.insert(0, "system")
    setting = Setting(model=text_or_none(agent.get("model_name")), tools=[*tools] or None, missing=tuple(missing))
    turns: list[Turn] = []
    sent: JsonObject | None = None
    for at, step in enumerate(steps):
        where = f"{place}, step {step.get('step_id', at + 1)}"
        extra = members(step.get("extra"))
        if isinstance(extra.get("llm_request"), dict):
            sent = members(extra["llm_request"])
            if step.get("source") != "agent":
                yield Skipped(where, "the request of the step behind it", notable=False)
                continue
        elif not step.get("message") and not step.get("tool_calls") and str(step.get("source")) not in _SOURCES:
            yield Skipped(where, f"a step of source {step.get('source')!r}")
            continue
        turns += _turns(where, step, setting, sent)
        if step.get("source") == "agent":
            sent = None
    events = conversation(turns, setting)
    if any(isinstance(event, ImportedCall) for event in events):
        tags: JsonObject = {
            key: value[key] for key in ("session_id", "trajectory_id", "schema_version") if key in value
        }
        started = next((event.started for event in events if event.started is not None), None)
        yield ImportedRun(name, events, started, tags)
    else:
        yield Skipped(place, "a trajectory without a model call")
    if value.get("continued_trajectory_ref"):
        yield Skipped(place, "the rest of the run, which is in a file of its own")
    for at, below in objects(value.get("subagent_trajectories")):
        yield from _trajectory(f"{place}, sub-agent {at + 1}", below, f"{name} sub-agent {at + 1}")


def _turns(place: str, step: JsonObject, setting: Setting, sent: JsonObject | None) -> Iterator[Turn]:
    role = _SOURCES.get(str(step.get("source")), "user")
    content, loses = _content(step.get("message"))
    message: JsonObject = {"role": role, "content": content}
    calls: list[Json] = [
        tool_call(call.get("tool_call_id"), call.get("function_name"), call.get("arguments"))
        for _, call in objects(step.get("tool_calls"))
    ]
    if calls:
        message["tool_calls"] = calls
        message["content"] = content or None
    if step.get("reasoning_content"):
        loses = (*loses, "reasoning")
    started = seconds(step.get("timestamp"))
    own, body = _asked(step, setting, sent)
    by_model = step.get("is_copied_context") is not True and step.get("llm_call_count") != 0
    yield Turn(place, message, by_model, sent=body, setting=own, started=started, loses=loses)
    results = [result for _, result in objects(members(step.get("observation")).get("results"))]
    open_ids = [members(call).get("id") for call in calls]
    for result in results:
        given, lost = _content(result.get("content"))
        id_ = result.get("source_call_id")
        if id_ is None and calls:
            id_ = next(iter(open_ids), None)
        if id_ in open_ids:
            open_ids.remove(id_)
        answer: JsonObject = {"role": "user", "content": given}
        if calls and id_ is not None:
            answer = {"role": "tool", "tool_call_id": id_, "content": given}
        if given is not None or "role" in answer:
            yield Turn(place, answer, loses=lost, started=started)


def _asked(step: JsonObject, setting: Setting, sent: JsonObject | None) -> tuple[Setting, JsonObject | None]:
    """What the call of a step differs in, and its request as it was sent where it is kept."""
    own = replace(setting, model=text_or_none(step.get("model_name")) or setting.model)
    count = step.get("llm_call_count")
    if isinstance(count, int) and count > 1:
        own = replace(own, missing=(*own.missing, _SEVERAL), why=f"the step stands for {count} model calls")
    if sent is None:
        return own, None
    body = sent_body(members(sent.get("content")) or sent)  # NeMo Relay wraps the body in what it calls content
    api = api_of(body, own.model or "")
    if api is None:
        return own, None
    return replace(own, api=api, provider="anthropic" if api == "messages" else "openai"), body


def _content(content: Json) -> tuple[Json, tuple[str, ...]]:
    """The text of a message, or its parts; images are files beside the trajectory."""
    if not isinstance(content, list):
        return content, ()
    parts: list[Json] = []
    loses: list[str] = []
    for _, part in objects(content):
        if part.get("type") == "text":
            parts.append({"type": "text", "text": part.get("text")})
        else:
            loses.append("images" if part.get("type") == "image" else f"content of type {part.get('type')}")
    return parts, tuple(loses)


FORMAT: Final = Format("atif", "ATIF trajectories", "`schema_version` ATIF-v1.x", recognise, each_file(runs))
