"""Proves redaction by recording secrets that nobody owns, and looking for them in the file."""

from __future__ import annotations

import json
import secrets
import string
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from ..record.recorder import Recorder, record
from ..trace.reader import read
from ..trace.redact import Redact
from ..trace.streams import STREAM, chunks

LETTERS = string.ascii_letters + string.digits


@dataclass(frozen=True, slots=True)
class Canary:
    """A made-up secret and how a program would write it."""

    kind: str
    secret: str
    text: str
    """A text that holds it."""


@dataclass(frozen=True, slots=True)
class Leak:
    """A canary that stands in the trace."""

    kind: str
    places: int


def canaries(own: Iterable[str] = ()) -> list[Canary]:
    """A new secret of every kind that redaction knows, and those that the user named, of the kind `own`."""
    found = [Canary(kind, secret, text.format(secret)) for kind, secret, text in _made_up()]
    return [*found, *(Canary("own", secret, f"it is {secret} here") for secret in own)]


def leaks(found: Sequence[Canary], folder: Path, redact: Redact | None = None) -> list[Leak]:
    """The canaries that are still to be read after a run full of them was recorded; empty when none is.

    They go through every door of the recorder: a model call over HTTP with its headers, streamed and not, tools, notes,
    state and errors. No model is asked: the HTTP client answers itself.

    Args:
        found: What to record.
        folder: Where to write the trace; the caller removes it.
        redact: The user's own function, as for `record`.
    """
    with record(folder / "canary.jsonl", redact=redact) as recorder:
        for canary in found:
            _record(recorder, canary)
    written = b"\n".join([recorder.path.read_bytes(), *_streams(recorder.path)])
    counted = [Leak(canary.kind, written.count(canary.secret.encode())) for canary in found]
    return [leak for leak in counted if leak.places]


def _streams(path: Path) -> list[bytes]:
    """The response streams in a trace, which are packed there."""
    found = (chunks(event.payload.get(STREAM)) for event in read(path).events)
    return [b"".join(pieces) for pieces in found if pieces is not None]


def _record(recorder: Recorder, canary: Canary) -> None:
    for stream in (False, True):
        client = recorder.wrap(httpx2.Client(transport=httpx2.MockTransport(_answering(canary, stream=stream))))
        with client:
            client.post(
                "http://127.0.0.1/v1/chat/completions",
                headers={"authorization": f"Bearer {canary.secret}", "x-api-key": canary.secret},
                json={"model": "m", "stream": stream, "messages": [{"role": "user", "content": canary.text}]},
            )

    @recorder.tool
    def look_up(text: str) -> dict[str, str]:
        if not text:
            raise ValueError(canary.text)
        return {"found": text, "api_key": canary.secret}

    look_up(canary.text)
    recorder.note(canary.text, password=canary.secret)
    recorder.state("plan", [canary.text])
    recorder.error(ValueError(canary.text))
    number = recorder.log_llm_request(provider="p", api="chat.completions", model="m", messages=[canary.text])
    recorder.log_llm_response(number, canary.text, [{"id": "c", "name": "t", "arguments": {"text": canary.text}}])


def _answering(canary: Canary, *, stream: bool) -> Callable[[httpx2.Request], httpx2.Response]:
    call = {"name": "look_up", "arguments": json.dumps({"text": canary.text})}
    said: dict[str, Any] = {"role": "assistant", "content": canary.text}
    said["tool_calls"] = [{"id": "c", "type": "function", "index": 0, "function": call}]
    head: dict[str, Any] = {"id": "x", "created": 1, "model": "m"}

    def answer(_: httpx2.Request) -> httpx2.Response:
        if not stream:
            return httpx2.Response(
                200, json={**head, "choices": [{"index": 0, "finish_reason": "stop", "message": said}]}
            )
        half = len(canary.text) // 2
        deltas = [{**said, "content": canary.text[:half]}, {"content": canary.text[half:]}]
        chunks = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
        body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=body.encode())

    return answer


def _made_up() -> list[tuple[str, str, str]]:
    return [
        ("OpenAI key", f"sk-proj-{_random(40)}", "the key is {}"),
        ("Anthropic key", f"sk-ant-api03-{_random(40)}", "export ANTHROPIC_API_KEY={}"),
        ("GitHub token", f"ghp_{_random(36)}", "git clone with {}"),
        ("AWS key", f"AKIA{_random(16, string.ascii_uppercase + string.digits)}", "aws configure: {}"),
        ("Google key", f"AIza{_random(35)}", "maps?key={}"),
        ("Slack token", f"xoxb-{_random(12, string.digits)}-{_random(24)}", "slack says {}"),
        ("Hugging Face token", f"hf_{_random(34)}", "login with {}"),
        ("JSON web token", f"eyJ{_random(20)}.eyJ{_random(40)}.{_random(43)}", "cookie {}"),
        ("bearer token", _random(40), "Authorization: Bearer {}"),
        ("password in an address", _random(18), "postgres://app:{}@db.internal/orders"),
        ("password in a setting", _random(18), "DB_PASSWORD={}"),
        ("password in JSON", _random(18), json.dumps({"password": "{}"}).replace('{"', '{{"').replace('"}', '"}}')),
        ("private key", _random(64), "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----"),
    ]


def _random(length: int, letters: str = LETTERS) -> str:
    """Random text with a digit in it: keys of letters alone are words to redaction."""
    return secrets.choice(string.digits) + "".join(secrets.choice(letters) for _ in range(length - 1))
