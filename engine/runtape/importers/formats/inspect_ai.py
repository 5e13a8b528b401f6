"""Inspect AI logs, version 2: `.json`, and the files inside of `.eval`, which is a zip archive.

Model events hold the provider request as it was sent (`call.request`); newer logs keep it for a few calls only, and the
rest is put together from `input`, `tools` and `config`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...trace.fidelity import Label
from ...wire.bodies import objects
from ...wire.reading import members, text_or_none
from ...wire.values import Json, JsonObject
from ..conversation import Setting, Turn, conversation
from ..each_file import first_object, one_by_one, stem, usable
from ..imported import ImportedCall, ImportedEvent, ImportedNote, ImportedRun, ImportedTool, Skipped
from ..inspect_messages import chat_message, config_params, tools_of
from ..inspect_sample import Sample as LogSample
from ..inspect_sample import input_of, request_of, resolved, sample_of
from ..json_stream import Record
from ..lost import lost_in
from ..moments import elapsed_ms, seconds
from ..provider_body import api_of, api_of_reply, sent_body
from ..registry import Format
from ..shapes import shaped
from ..source import Sample, Source
from ..supplied import tools_for

_AROUND: Final = ("header.json", "summaries.json", "reductions.json")
_IN_CHAT: Final = "put together in the shape of chat completions, which is not the API that it was sent to"


def recognise(sample: Sample) -> str | None:
    """Why a file looks like this format; None when it does not."""
    if ".eval!" in sample.name:
        return "it is inside of an .eval archive"
    first = first_object(sample.values)
    if {"version", "eval"} <= first.keys() and "task" in members(first["eval"]):
        return "`version` and `eval` with a task"
    if {"id", "epoch"} <= first.keys() and ("events" in first or "messages" in first):
        return "`id`, `epoch` and the events of one sample"
    return None


def read_one(source: Source) -> Iterator[ImportedRun | Skipped]:
    """One run per sample and epoch."""
    archive, inside, member = source.name.rpartition("!")
    if inside and archive.endswith(".eval") and (member.startswith("_journal/") or member in _AROUND):
        yield Skipped(source.name, "what the archive says about itself", notable=False)
        return
    broken: list[Skipped] = []
    name = stem(source.name.partition("!")[0])
    yield from runs(usable(source.records(("samples",)), broken), name)
    yield from broken


def runs(records: Iterator[Record], name: str) -> Iterator[ImportedRun | Skipped]:
    """One run per sample among the records; what stands around them is counted."""
    for record in records:
        value = members(record.value)
        if isinstance(value.get("samples"), list) and value["samples"]:
            for index, sample in objects(value["samples"]):
                yield from _run(f"sample {index + 1}", sample, name)
        elif "epoch" in value:
            yield from _run(record.place, value, name)
        elif "eval" in value:
            yield Skipped(record.place, "the heading of the log", notable=False)
        else:
            yield Skipped(record.place, "no sample of an evaluation")


def _run(place: str, value: JsonObject, name: str) -> Iterator[ImportedRun | Skipped]:
    sample = sample_of(value)
    events = list(_events(place, sample))
    calls = sum(isinstance(event, ImportedCall) for event in events)
    if not calls:
        messages = [message for _, message in objects(resolved(sample, value.get("messages")))]
        events = list(_by_prefix(place, messages))
    for event in events:
        if isinstance(event, Skipped):
            yield event
    kept: list[ImportedEvent] = [event for event in events if not isinstance(event, Skipped)]
    tags: JsonObject = {"sample": value.get("id"), "epoch": value.get("epoch")}
    for scorer, score in members(value.get("scores")).items():
        told = members(resolved(sample, score))
        kept.append(ImportedNote(place, f"score of {scorer}: {told.get('value')}", told))
        tags[f"score.{scorer}"] = told.get("value")
    if not any(isinstance(event, ImportedCall) for event in kept):
        yield Skipped(place, "a sample without a model call")
        return
    started = next((event.started for event in kept if event.started is not None), None)
    yield ImportedRun(f"{name} sample {value.get('id')} epoch {value.get('epoch')}", kept, started, tags)


def _events(place: str, sample: LogSample) -> Iterator[ImportedEvent | Skipped]:
    spans: dict[str, JsonObject] = {}
    for index, event in enumerate(sample.events):
        kind = event.get("event")
        at = f"{place}, event {index}"
        if kind == "span_begin":
            spans[str(event.get("id"))] = event
        elif kind == "model":
            if event.get("pending") is True:
                yield Skipped(at, "a model call that had not ended when the log was written")
            else:
                yield _call(at, sample, event, _asker(spans, event))
        elif kind == "tool":
            yield _tool(at, sample, event)


def _asker(spans: dict[str, JsonObject], event: JsonObject) -> str | None:
    """Who asked, when it was not the agent."""
    at, seen = str(event.get("span_id")), set[str]()
    while at in spans and at not in seen:
        seen.add(at)
        if spans[at].get("type") in ("scorer", "scorers"):
            return f"the scorer {spans[at].get('name')}"
        at = str(spans[at].get("parent_id"))
    role = event.get("role")
    return f"the role {role!r}" if isinstance(role, str) else None


def _call(place: str, sample: LogSample, event: JsonObject, asker: str | None) -> ImportedCall:
    model = text_or_none(event.get("model")) or ""
    sent = sent_body(request_of(sample, event))
    api = api_of(sent, model) if sent else None
    output = members(resolved(sample, event.get("output")))
    response = resolved(sample, members(event.get("call")).get("response"))
    why = None if asker is None else f"asked by {asker}, not by the agent"
    fidelity: Label
    if api is not None:
        body, missing = sent, lost_in(sent)
        fidelity = "partial" if missing else "exact"
    else:
        api, body, missing = _rebuilt(sample, event, model)
        fidelity = "partial" if missing else "rebuilt"
        if (api == "chat.completions" and model.partition("/")[0] not in ("openai", "")) or sent:
            why = f"{why}; {_IN_CHAT}" if why else _IN_CHAT
    if event.get("cache") == "read":
        why = "; ".join(filter(None, (why, "the reply came from Inspect's cache")))
    error = text_or_none(event.get("error")) or text_or_none(output.get("error"))
    reply = response if api_of_reply(response) == api else _output(api, output)
    started = seconds(event.get("timestamp"))
    return ImportedCall(
        place=place,
        api=api,
        provider="anthropic" if api == "messages" else model.partition("/")[0] or "openai",
        endpoint=None,
        body=body,
        reply=reply,
        fidelity=fidelity,
        missing=missing,
        why=why,
        started=started,
        latency_ms=elapsed_ms(started, seconds(event.get("completed"))),
        error=None if error is None else {"type": "error", "message": error},
    )


def _rebuilt(sample: LogSample, event: JsonObject, model: str) -> tuple[str, JsonObject, tuple[str, ...]]:
    provider, _, name = model.rpartition("/") if model.count("/") == 1 else (model.partition("/")[0], "", model)
    api = "messages" if provider == "anthropic" else "chat.completions"
    turns = [chat_message(message) for message in input_of(sample, event)]
    body: JsonObject = {"model": name or model, **shaped(api, [turn.message for turn in turns])}
    tools = tools_of(resolved(sample, event.get("tools")))
    if tools:
        body["tools"] = tools_for(api, tools)
    lost = {part for turn in turns for part in turn.loses} if api == "chat.completions" else set[str]()
    missing = tuple(sorted(lost | set(lost_in(body))))
    choice = event.get("tool_choice") if tools else None
    return api, {**body, **config_params(api, members(event.get("config")), choice)}, missing


def _output(api: str, output: JsonObject) -> Json:
    choice = next((choice for _, choice in objects(output.get("choices"))), None)
    if choice is None:
        return None
    told = chat_message(members(choice.get("message"))).message
    stop = choice.get("stop_reason")
    if api == "messages":
        block = members(next(iter(_said(told)), None))
        return {"type": "message", "role": "assistant", "model": output.get("model"), "stop_reason": stop, **block}
    return {"model": output.get("model"), "choices": [{"index": 0, "message": told, "finish_reason": stop}]}


def _said(message: JsonObject) -> list[Json]:
    said = shaped("messages", [message]).get("messages")
    return said if isinstance(said, list) else []


def _tool(place: str, sample: LogSample, event: JsonObject) -> ImportedTool:
    started = seconds(event.get("timestamp"))
    error = members(event.get("error"))
    return ImportedTool(
        place=place,
        name=text_or_none(event.get("function")) or "unknown",
        arguments=resolved(sample, event.get("arguments")),
        result=resolved(sample, event.get("result")),
        error={"type": str(error.get("type")), "message": str(error.get("message"))} if error else None,
        call_id=text_or_none(event.get("id")),
        started=started,
        latency_ms=elapsed_ms(started, seconds(event.get("completed"))),
    )


def _by_prefix(place: str, messages: list[JsonObject]) -> Iterator[ImportedEvent]:
    """The calls of a log without events: each was given what stands before its reply."""
    turns: list[Turn] = []
    for index, message in enumerate(messages):
        told = chat_message(message)
        by_model = message.get("source") in ("generate", None)
        at = f"{place}, message {index}"
        turns.append(Turn(at, told.message, by_model, error=told.error, tool=told.tool, loses=told.loses))
    model = next((text for message in messages if (text := text_or_none(message.get("model")))), None)
    yield from conversation(turns, Setting(model=model, missing=("tools", "params")))


FORMAT: Final = Format(
    "inspect", "Inspect AI logs", "`version` and `eval`, or an .eval archive", recognise, one_by_one(read_one)
)
