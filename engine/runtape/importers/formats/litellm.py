"""Completion logs of LiteLLM and OpenHands: the request taken apart, with the response beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ...wire.reading import members
from ...wire.values import Json, JsonObject
from .. import raw
from ..imported import ImportedCall, ImportedRun, Skipped
from ..lost import lost_in
from ..moments import elapsed_ms, seconds
from ..provider_body import not_its_shape, sent_body
from ..registry import Format
from ..source import Sample, Source
from ..spool import Spool
from ..streamed import streamed_run
from ..unpacked import unpacked, unpacked_object

_MASKED: Final = "redacted-by-litellm"
_NEVER_SENT: Final = (
    "extra_headers",
    "api_key",
    "headers",
    "metadata",
    "api_base",
    "base_url",
    "timeout",
    "drop_params",
)


def recognise(sample: Sample) -> str | None:
    """See `Format`."""
    for value in sample.objects[:3]:
        if "call_type" in value and ("model_parameters" in value or "proxy_server_request" in value):
            return "its records have `call_type` and the parameters of a call, as LiteLLM logs have"
        if {"response", "kwargs"} <= value.keys() and ("messages" in value or "input" in value):
            return "its records have `messages`, `kwargs` and `response`, as OpenHands' completion logs have"
    return None


def read(sources: Sequence[Source]) -> Iterator[ImportedRun | Skipped]:
    """See `Format`: records of one `trace_id`, or else of one folder, are a run."""
    with Spool() as spool:
        for source in sources:
            for record in source.records():
                place = f"{source.name.rpartition('/')[2]}, {record.place}"
                value = record.value
                if record.problem is not None:
                    yield Skipped(place, record.problem)
                elif not isinstance(value, dict):
                    yield Skipped(place, "it is no object")
                else:
                    trace = value.get("trace_id")
                    named = trace if isinstance(trace, str) and trace else source.name.rpartition("/")[0]
                    at = seconds(value.get("startTime") or value.get("timestamp")) or 0.0
                    spool.add(named or source.name, at, {"place": place, "value": value})
        for name, group in spool.groups():
            yield streamed_run(name.rpartition("/")[2] or "completions", group, _call)


def _call(place: str, value: JsonObject) -> ImportedCall | Skipped:
    if "call_type" in value:
        return _litellm(place, value)
    said = "input" if "input" in value else "messages"
    if said not in value:
        return Skipped(place, "it holds no messages")
    kwargs = members(value.get("kwargs"))
    extra = {key: item for key, item in members(kwargs.get("extra_body")).items() if key != "metadata"}
    response = value.get("response")
    model = kwargs.get("model") or members(response).get("model")
    tools = value.get("tools") or kwargs.get("tools")
    instructions = value.get("instructions")
    body: JsonObject = {
        **({"model": model} if isinstance(model, str) else {}),
        **({"instructions": instructions} if said == "input" and isinstance(instructions, str) else {}),
        said: value[said],
        **({"tools": tools} if tools else {}),
        **_sent(kwargs, ("model", said, "tools", "extra_body")),
        **extra,
    }
    took, ended = value.get("latency_sec"), seconds(value.get("timestamp"))
    latency = float(took) * 1000 if isinstance(took, (int, float)) else None
    lost = lost_in(body)
    return ImportedCall(
        place=place,
        api="responses" if said == "input" else "chat.completions",
        provider="openai",
        endpoint=None,
        body=body,
        reply=response,
        fidelity="partial" if lost else "rebuilt",
        missing=lost,
        why="put together from `messages`, `tools` and `kwargs`",
        started=None if ended is None else ended - (latency or 0.0) / 1000,
        latency_ms=latency,
        error=raw.error_in(response, None),
    )


def _litellm(place: str, value: JsonObject) -> ImportedCall | Skipped:
    kind = value.get("call_type")
    if isinstance(kind, str) and not any(known in kind for known in ("completion", "responses", "messages")):
        return Skipped(place, raw.NO_CALL, notable=False)
    if isinstance(kind, str) and "text_completion" in kind:
        return Skipped(place, raw.OTHER_API)
    asked = unpacked_object(value.get("proxy_server_request"))
    messages = unpacked(value.get("messages") or asked.get("messages") or asked.get("input"))
    params = sent_body(_sent(members(value.get("model_parameters")) or asked, ("messages", "input", "model")))
    named = value.get("custom_llm_provider")
    provider = named if isinstance(named, str) and named else "openai"
    responses = isinstance(kind, str) and "responses" in kind
    api = "responses" if responses else "messages" if kind in ("anthropic_messages", "aanthropic_messages") else None
    model = value.get("model")
    body: JsonObject = {"model": model} if isinstance(model, str) else {}
    body["input" if responses else "messages"] = messages
    body |= params
    why = not_its_shape(api or "chat.completions", provider)
    base = value.get("api_base") if why is None else None
    started, ended = seconds(value.get("startTime")), seconds(value.get("endTime"))
    failed = value.get("status") == "failure"
    hidden = not isinstance(messages, (list, dict)) and _MASKED in str(messages)
    lost = lost_in(body)
    reply = unpacked(value.get("response"))
    if isinstance(reply, str) and _MASKED in reply:
        reply = None
    told = "put together from `messages` and `model_parameters`"
    return ImportedCall(
        place=place,
        api=api or "chat.completions",
        provider=provider,
        endpoint=_endpoint(base),
        body=body,
        reply=raw.told_reply(api or "chat.completions", reply or None),
        fidelity="not rebuildable" if hidden else "partial" if lost else "rebuilt",
        missing=("messages",) if hidden else lost,
        why="LiteLLM's message logging was off" if hidden else "; ".join(filter(None, (told, why))),
        started=started,
        latency_ms=elapsed_ms(started, ended),
        error={"type": "failure", "message": str(value.get("error_str") or "")} if failed else None,
    )


def _endpoint(base: Json) -> str | None:
    """The base URL; LiteLLM gives the path of the call with some providers."""
    if not isinstance(base, str) or not base.startswith("http"):
        return None
    return raw.endpoint_of(base) or base.rstrip("/")


def _sent(params: JsonObject, also: Sequence[str]) -> JsonObject:
    return {
        key: item for key, item in params.items() if item is not None and key not in also and key not in _NEVER_SENT
    }


FORMAT = Format(
    "litellm",
    "LiteLLM or OpenHands completion logs",
    "records with `model_parameters` and `call_type`, or with `messages`, `kwargs` and `response`",
    recognise,
    read,
)
