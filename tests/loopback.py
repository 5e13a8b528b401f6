"""A provider's server on 127.0.0.1 for tests: real HTTP, scripted answers, every request counted and kept."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self  # in typing from 3.11


@dataclass
class Received:
    """One request as the server saw it."""

    path: str
    headers: dict[str, str]
    """Lower-case names."""
    body: Any
    """Decoded JSON."""
    index: int
    """0 for the first request of the server's life."""
    method: str = "POST"
    raw: bytes = b""
    """The body as it came; `body` is None where that is no JSON."""


@dataclass
class Answer:
    """What the server sends back. `chunks` (bytes, flushed one by one) wins over `body`."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    chunks: Iterable[bytes] | None = None
    drop: bool = False
    """Close the connection in mid-body."""


Script = Callable[[Received], Answer]


class Loopback:
    """`with Loopback(script) as server: OpenAI(base_url=server.url, api_key="k")`."""

    def __init__(self, script: Script, *, latency: float = 0.0) -> None:
        self.requests: list[Received] = []
        self.in_flight = self.max_in_flight = 0
        lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args: object) -> None:
                pass

            def do_GET(self) -> None:
                self.do_POST()

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers.get("content-length", 0)))
                with lock:
                    received = Received(
                        self.path,
                        {k.lower(): v for k, v in self.headers.items()},
                        json.loads(raw or b"null") if self.is_json() else None,
                        len(outer.requests),
                        self.command,
                        raw,
                    )
                    outer.requests.append(received)
                    outer.in_flight += 1
                    outer.max_in_flight = max(outer.max_in_flight, outer.in_flight)
                try:
                    if latency:
                        time.sleep(latency)
                    self.send_answer(script(received))
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True
                finally:
                    with lock:
                        outer.in_flight -= 1

            def is_json(self) -> bool:
                return not self.headers.get("content-type", "").startswith("multipart/")

            def send_answer(self, answer: Answer) -> None:
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                if answer.chunks is not None:
                    self.send_header("content-type", "text/event-stream")
                    self.send_header("transfer-encoding", "chunked")
                    self.end_headers()
                    for chunk in answer.chunks:
                        self.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
                        self.wfile.flush()
                    if answer.drop:
                        self.close_connection = True
                        return
                    self.wfile.write(b"0\r\n\r\n")
                    return
                data = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data) + (100 if answer.drop else 0)))
                self.end_headers()
                self.wfile.write(data)
                if answer.drop:
                    self.close_connection = True

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def root(self) -> str:
        """Such as `http://127.0.0.1:40123`; the Anthropic SDK wants this one."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        """Base URL for the OpenAI SDK."""
        return f"{self.root}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def sse(*events: Any, done: bool = True) -> list[bytes]:
    """OpenAI-style stream chunks of some JSON events."""
    chunks = [f"data: {json.dumps(event)}\n\n".encode() for event in events]
    return [*chunks, b"data: [DONE]\n\n"] if done else chunks


def chat_reply(
    text: str | None = None,
    calls: Iterable[tuple[str, Any]] = (),
    *,
    n: int = 1,
    finish: str | None = None,
    model: str = "m",
) -> dict[str, Any]:
    """A chat completion body; `calls` are (tool, arguments)."""
    tool_calls = [
        {"id": f"call_{i}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for i, (name, arguments) in enumerate(calls)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if tool_calls:
        message["tool_calls"] = tool_calls
    reason = finish or ("tool_calls" if tool_calls else "stop")
    return {
        "id": f"chatcmpl-{time.monotonic_ns()}",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [{"index": i, "finish_reason": reason, "message": message} for i in range(n)],
        "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12},
    }
