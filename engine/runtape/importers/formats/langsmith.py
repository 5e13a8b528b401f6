"""LangSmith: runs of LangChain and of the clients that LangSmith wraps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from ...wire.bodies import objects
from ...wire.reading import members
from ...wire.values import Json, JsonObject
from .. import raw
from ..imported import ImportedCall, ImportedRun, ImportedTool, Skipped
from ..langsmith_reply import reply_of
from ..lost import lost_in
from ..messages import heard
from ..moments import elapsed_ms, seconds
from ..nearest_calls import kept
from ..provider_body import not_its_shape
from ..registry import Format
from ..shapes import shaped
from ..shelf import Shelf, Shelved, begin, light, light_call
from ..source import Sample, Source
from ..span import Span, SpanCall
from ..spool import Spool
from ..supplied import tools_for
from ..unpacked import unpacked, unpacked_list, unpacked_object

_OPENED: Final = ("runs", "data")
_CALLS: Final = ("llm", "chat_model")
_STRUCTURE: Final = "a run that is no model call and no run of a tool"
_FLATTENED: Final = "the tracer turned the messages into one text (`prompts`)"
_NO_MESSAGES: Final = "the run's inputs hold no messages"
_NEVER_SENT: Final = (
    *("_type", "stream", "model_name", "model", "tools", "messages", "functions", "n_retries", "request_timeout"),
    *("timeout", "max_retries", "streaming", "ls_structured_output_format", "input", "instructions"),
    *("use_responses_api", "output_version", "model_provider"),
)


def recognise(sample: Sample) -> str | None:
    """See `Format`."""
    for value in sample.objects[:5]:
        if _is_run(value):
            return "its records have `run_type`, `inputs` and an id, as LangSmith's runs do"
        for key in _OPENED:
            if any(_is_run(item) for _, item in objects(value.get(key))[:1]):
                return f"it holds a list `{key}` of runs with `run_type`, as LangSmith's answers do"
    return None


def _is_run(value: JsonObject) -> bool:
    return isinstance(value.get("run_type"), str) and "id" in value and ("inputs" in value or "start_time" in value)


def read(sources: Sequence[Source]) -> Iterator[ImportedRun | Skipped]:
    """See `Format`: the runs of one trace are a run, by `dotted_order`."""
    with Spool() as spool:
        for source in sources:
            name = source.name.rpartition("/")[2]
            for record in source.records(_OPENED):
                place = f"{name}, {record.place}"
                value = record.value
                if record.problem is not None:
                    yield Skipped(place, record.problem)
                elif not isinstance(value, dict):
                    yield Skipped(place, "it is no object")
                elif _is_run(value):
                    _add(spool, place, value, None)
                elif not any(key in value for key in _OPENED):
                    yield Skipped(place, "it is no run")
        for trace, group in spool.groups():
            yield from _run(trace, group)


def _add(spool: Spool, place: str, value: JsonObject, trace: str | None) -> None:
    """A run and the runs below it, each on its own."""
    named = trace or str(value.get("trace_id") or value.get("id"))
    children = objects(value.get("child_runs"))
    alone: JsonObject = {key: item for key, item in value.items() if key != "child_runs"}
    spool.add(named, seconds(value.get("start_time")) or 0.0, {"place": place, "value": alone})
    for index, child in children:
        below: JsonObject = {"parent_run_id": value.get("id"), **child}
        _add(spool, f"{place}, child {index + 1}", below, named)


def _run(trace: str, group: Iterator[JsonObject]) -> Iterator[ImportedRun | Skipped]:
    """One trace, every run once; `dotted_order` orders what starts at once."""
    spans: dict[str, Span] = {}
    found: list[tuple[SpanCall | None, Shelved]] = []
    with Shelf() as shelf:
        for item in group:
            value = members(item["value"])
            span = _span(trace, str(item["place"]), value)
            if span.id in spans:
                continue
            spans[span.id] = light(span)
            tie = str(value.get("dotted_order") or "")
            if value.get("run_type") in _CALLS:
                first, *others = _batch(span, value)
                call = light_call(first)
                found += [(call, shelf.put(each.call, tie)) for each in (first, *others)]
            elif value.get("run_type") == "tool":
                found.append((None, shelf.put(_tool(span, value), tie)))
            else:
                yield Skipped(span.place, _STRUCTURE, notable=False)
        calls = {id(call): call for call, _ in found if call is not None}
        best, doubles = kept(list(calls.values()), spans.values())
        for call, reason in doubles:
            yield Skipped(call.span.place, reason, notable=False)
        stay = {id(call) for call in best}
        slots = [slot for call, slot in found if call is None or id(call) in stay]
        if slots:
            named = next((span.name for span in spans.values() if span.parent is None), next(iter(spans.values())).name)
            yield ImportedRun(named or trace, shelf.in_order(slots), begin(slots), {"trace_id": trace})


def _span(trace: str, place: str, value: JsonObject) -> Span:
    error, parent = value.get("error"), value.get("parent_run_id")
    return Span(
        place=f"run {value.get('id')} ({place})",
        trace=trace,
        id=str(value.get("id")),
        parent=parent if isinstance(parent, str) else None,
        name=str(value.get("name") or ""),
        scope="",
        started=seconds(value.get("start_time")),
        ended=seconds(value.get("end_time")),
        attributes={},
        error=error if isinstance(error, str) and error else None,
    )


def _tool(span: Span, value: JsonObject) -> ImportedTool:
    inputs, outputs = unpacked(value.get("inputs")), unpacked(value.get("outputs"))
    given = members(inputs)
    arguments = unpacked(given["input"], printed=True) if given.keys() == {"input"} else inputs
    told = unpacked(members(outputs).get("output", outputs))
    message = members(members(told).get("kwargs")) or members(told)
    result = message.get("content", told)
    call_id = message.get("tool_call_id") or members(arguments).get("id")
    return ImportedTool(
        place=span.place,
        name=span.name,
        arguments=arguments,
        result=result,
        error=span.failure,
        call_id=call_id if isinstance(call_id, str) and call_id else None,
        started=span.started,
        latency_ms=span.latency_ms,
    )


def _batch(span: Span, value: JsonObject) -> Iterator[SpanCall]:
    """The call of a run, or those that it made at once."""
    messages = unpacked_list(unpacked_object(value.get("inputs")).get("messages"))
    batch = [item for item in messages if isinstance(item, list)]
    for index in range(max(len(batch), 1)):
        told = f", request {index + 1} of {len(batch)}" if len(batch) > 1 else ""
        yield _call(replace(span, place=span.place + told), value, batch[index] if batch else messages, index)


def _call(span: Span, value: JsonObject, messages: list[Json], index: int) -> SpanCall:
    inputs = unpacked_object(value.get("inputs"))
    extra = unpacked_object(value.get("extra"))
    about = unpacked_object(extra.get("metadata"))
    params = unpacked_object(extra.get("invocation_params"))
    wrapped = _sent(inputs)
    if wrapped is not None:
        return _exact(span, value, wrapped, about)
    told = heard(messages)
    provider = str(about.get("ls_provider") or "openai").lower()
    model = params.get("model") or params.get("model_name") or about.get("ls_model_name")
    responses = bool(params.get("use_responses_api"))
    api = "messages" if provider == "anthropic" else "responses" if responses else "chat.completions"
    lost = {*told.lost}
    body: JsonObject = {"model": model} if isinstance(model, str) else {}
    body |= shaped(api, told.messages)
    tools = unpacked_list(params.get("tools")) or told.tools
    if tools:
        body["tools"] = tools_for(api, tools)
    elif "invocation_params" not in extra:
        lost.add("tools")
    body |= {key: item for key, item in params.items() if item is not None and key not in _NEVER_SENT}
    for key in ("temperature", "max_tokens", "stop"):
        if about.get(f"ls_{key}") is not None:
            body.setdefault(key, about[f"ls_{key}"])
    if "invocation_params" not in extra:
        lost.add("params")
    lost |= set(lost_in(body))
    why = not_its_shape(api, provider)
    usable = bool(told.messages)
    if not usable:
        why = _FLATTENED if inputs.get("prompts") else _NO_MESSAGES
    call = ImportedCall(
        place=span.place,
        api=api,
        provider=provider,
        endpoint=_endpoint(params),
        body=body,
        reply=reply_of(unpacked_object(value.get("outputs")), api, model, index),
        fidelity=("partial" if lost else "rebuilt") if usable else "not rebuildable",
        missing=tuple(sorted(lost)) if usable else ("messages",),
        why=why,
        started=span.started,
        latency_ms=elapsed_ms(span.started, span.ended),
        error=span.failure,
    )
    return SpanCall(span, call)


def _sent(inputs: JsonObject) -> JsonObject | None:
    """The request itself, as wrapped clients hand it over; None for a dump of LangChain's."""
    if not isinstance(inputs.get("model"), str):
        return None
    messages = inputs.get("messages")
    if isinstance(messages, list):
        plain = all("role" in members(item) for item in messages)
    else:
        plain = isinstance(inputs.get("input"), (str, list))
    sent: JsonObject = {
        key: item for key, item in inputs.items() if key not in ("extra_headers", "timeout", "extra_query")
    }
    return sent if plain else None


def _exact(span: Span, value: JsonObject, body: JsonObject, about: JsonObject) -> SpanCall:
    provider = about.get("ls_provider")
    api = "messages" if provider == "anthropic" else raw.api_of_body(body)
    outputs = unpacked_object(value.get("outputs"))
    inner = unpacked(outputs.get("output"))
    reply = inner if isinstance(inner, dict) and len(outputs) == 1 else outputs
    if api == "messages" and isinstance(reply.get("message"), dict):
        reply = members(reply["message"])
    whole = any(key in reply for key in ("choices", "output", "content"))
    lost = lost_in(body)
    call = ImportedCall(
        place=span.place,
        api=api,
        provider=raw.provider_of(api),
        endpoint=None,
        body=body,
        reply=reply if whole else reply_of(outputs, api, body.get("model")),
        fidelity="partial" if lost else "exact",
        missing=lost,
        started=span.started,
        latency_ms=elapsed_ms(span.started, span.ended),
        error=span.failure,
    )
    response = reply.get("id")
    return SpanCall(span, call, response if isinstance(response, str) and response else None)


def _endpoint(params: JsonObject) -> str | None:
    base = params.get("base_url") or params.get("openai_api_base")
    return base.rstrip("/") if isinstance(base, str) and base.startswith("http") else None


FORMAT = Format(
    "langsmith",
    "LangSmith",
    "records with `run_type` and `inputs`, or a list `runs` of them",
    recognise,
    read,
)
