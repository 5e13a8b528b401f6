"""Request and response bodies as they went over the wire, as calls."""

from __future__ import annotations

import gzip
import zlib
from contextlib import suppress
from typing import Final
from urllib.parse import urlsplit

from ..canon import dumps, loads
from ..wire.bodies import objects
from ..wire.dialects import dialect_for, dialect_of_path
from ..wire.reading import members
from ..wire.sse import decode
from ..wire.values import Json, JsonObject
from .imported import ImportedCall, Skipped
from .lost import lost_in
from .replies import Choice, reply_body

_OTHER_APIS: Final = (
    *(":generateContent", ":streamGenerateContent", ":rawPredict", ":streamRawPredict"),
    *("/converse", "/converse-stream", "/invoke", "/invoke-with-response-stream"),
    *("/api/chat", "/api/generate", "/realtime"),
)
"""How the paths of Gemini, Vertex AI, Bedrock, Ollama and OpenAI's realtime API end."""
_MARKS: Final = {"tool_use", "tool_result", "thinking", "document"}
"""Types of content blocks that only Anthropic's API has."""
NO_CALL: Final = "it is no call of a model"
OTHER_API: Final = "it is a model call of an API that cannot be rerun here"
NO_BODY: Final = "its request body is not in the file"
ERROR_STATUS: Final = 400


def unzipped(data: bytes) -> bytes:
    """A body without the packing in which it was sent; one that is not packed, or damaged, as it is."""
    if data[:2] == b"\x1f\x8b":
        with suppress(OSError, EOFError, zlib.error):
            return gzip.decompress(data)
    return data


def url_kind(url: str) -> str | None:
    """Why the URL is none of a model call that can be read; None when it is one."""
    path = urlsplit(url).path.rstrip("/")
    if dialect_of_path(path) is not None:
        return None
    return OTHER_API if path.endswith(_OTHER_APIS) else NO_CALL


def endpoint_of(url: str) -> str | None:
    """The base URL of a model call, without user, password and query."""
    parts = urlsplit(url)
    dialect = dialect_of_path(parts.path)
    if dialect is None or not parts.hostname:
        return None
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname}{port}{parts.path.rstrip('/').removesuffix(dialect.path)}"


def api_of_body(body: JsonObject) -> str:
    """The API that a request body is written for, by its keys."""
    if "input" in body and "messages" not in body:
        return "responses"
    model = body.get("model")
    if "system" in body or "anthropic_version" in body or (isinstance(model, str) and "claude" in model.lower()):
        tools = [tool for _, tool in objects(body.get("tools"))]
        return "chat.completions" if any("function" in tool for tool in tools) or _has_chat_roles(body) else "messages"
    for _, message in objects(body.get("messages")):
        if any(block.get("type") in _MARKS for _, block in objects(message.get("content"))):
            return "messages"
    return "chat.completions"


def _has_chat_roles(body: JsonObject) -> bool:
    return any(message.get("role") in ("system", "developer", "tool") for _, message in objects(body.get("messages")))


def provider_of(api: str) -> str:
    """Whose API it is; every other one is OpenAI's, whoever serves it."""
    return "anthropic" if api == "messages" else "openai"


def sent_body(text: str | bytes) -> JsonObject | None:
    """The object that a request body spells; None when it is none."""
    try:
        value = loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def call_of(
    place: str,
    body: JsonObject,
    reply: Json,
    *,
    api: str | None = None,
    endpoint: str | None = None,
    status: int | None = None,
    started: float | None = None,
    latency_ms: float | None = None,
    error: JsonObject | None = None,
    complete: bool = True,
) -> ImportedCall:
    """A call whose body is as it was sent; partial when a recorder put marks into it."""
    named = api or api_of_body(body)
    lost = lost_in(body)
    if error is None:
        error = error_in(reply, status)
    return ImportedCall(
        place=place,
        api=named,
        provider=provider_of(named),
        endpoint=endpoint,
        body=body,
        reply=reply,
        fidelity="partial" if lost else "exact",
        missing=lost,
        started=started,
        latency_ms=latency_ms,
        error=error,
        status=status,
        complete=complete,
    )


def exchange(
    place: str,
    url: str,
    sent: str | bytes,
    received: bytes,
    *,
    status: int | None,
    started: float | None = None,
    latency_ms: float | None = None,
) -> ImportedCall | Skipped:
    """One HTTP exchange as a call."""
    reason = url_kind(url)
    if reason is not None:
        return Skipped(place, reason, notable=reason is OTHER_API)
    if not sent:
        return Skipped(place, NO_BODY)
    body = sent_body(sent)
    if body is None:
        return Skipped(place, "its request body is no JSON object")
    dialect = dialect_of_path(urlsplit(url).path)
    api = dialect.api if dialect is not None else api_of_body(body)
    reply, complete = received_body(api, received)
    return call_of(
        place,
        body,
        reply,
        api=api,
        endpoint=endpoint_of(url),
        status=status,
        started=started,
        latency_ms=latency_ms,
        complete=complete,
    )


def received_body(api: str, received: bytes) -> tuple[Json, bool]:
    """A response body, streams put together, and whether it came to its end."""
    if received.lstrip()[:6].startswith((b"data:", b"event:", b":")):
        assembled = dialect_for(api).assemble(decode([received]))
        return assembled.body, assembled.complete
    if not received.strip():
        return None, True
    try:
        return loads(received), True
    except ValueError:
        return received[:_TEXT].decode("utf-8", "replace"), True


_TEXT: Final = 10_000


def told_reply(api: str, reply: Json) -> Json:
    """A reply of which a log keeps only the text, or the choice, as a response body; any other one as it is."""
    if isinstance(reply, str) and reply:
        return reply_body(api, Choice({"role": "assistant", "content": reply}))
    told = members(reply)
    if "choices" not in told and isinstance(told.get("message"), dict) and api == "chat.completions":
        return {"choices": [{"index": 0, **told}]}
    if told.get("role") == "assistant" and "choices" not in told and api == "chat.completions":
        return {"choices": [{"index": 0, "message": told, "finish_reason": None}]}
    return reply


def error_in(reply: Json, status: int | None) -> JsonObject | None:
    """What a response says went wrong; None for an answer."""
    failed = status is not None and status >= ERROR_STATUS
    told = members(reply).get("error")
    if not failed and not told:
        return None
    kind, message = members(told).get("type"), members(told).get("message")
    shown = message if isinstance(message, str) else told if isinstance(told, str) else ""
    return {"type": kind if isinstance(kind, str) else f"HTTP {status}" if failed else "error", "message": shown}


def spelled(value: Json) -> str:
    """A value as text: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else dumps(value).decode()
