"""An OpenAI-compatible server on 127.0.0.1 that answers with one of the stand-ins.

The example agents use the real OpenAI SDK in every mode; without a key they talk to this.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@contextmanager
def serve(stand_in: Callable[[dict[str, Any]], dict[str, Any]]) -> Iterator[str]:
    """The base URL of a server that lives as long as the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            data = json.dumps(completion(body, stand_in(body))).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Keep the agent's terminal to the agent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def completion(body: dict[str, Any], reply: dict[str, Any]) -> dict[str, Any]:
    """A chat completion that says `reply`."""
    turn = len(body["messages"])
    message: dict[str, Any] = {"role": "assistant", "content": reply.get("text")}
    if "tool_calls" in reply:
        message["tool_calls"] = [
            {
                "id": f"call_{turn}_{i}",
                "type": "function",
                "function": {"name": made["name"], "arguments": json.dumps(made["arguments"])},
            }
            for i, made in enumerate(reply["tool_calls"])
        ]
    finish = "tool_calls" if "tool_calls" in reply else "stop"
    return {
        "id": f"chatcmpl-{turn}",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }
