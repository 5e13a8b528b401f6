"""A stand-in behind HTTP that keeps every request: when it came, when it was answered, what it held."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from stand_in_server import completion  # in examples/, which `bench.beside` puts on the path

StandIn = Callable[[dict[str, Any]], dict[str, Any]]


@dataclass(frozen=True)
class Served:
    """One request."""

    arrived: float
    answered: float
    samples: int
    """Answers that it got."""
    text: str
    """What a provider reads of it, in the order in which it does: tools, then messages."""


@dataclass
class Server:
    """Answers as a stand-in does, each time after `latency` seconds."""

    stand_in: StandIn
    honours_n: bool = False
    latency: float = 0.0
    served: list[Served] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    """What went wrong in the server itself: to a client it looks like a connection that breaks."""

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        arrived = time.monotonic()
        time.sleep(self.latency)
        made = completion(body, self.stand_in(body))
        samples = int(body.get("n") or 1) if self.honours_n else 1
        made["choices"] = [{**made["choices"][0], "index": index} for index in range(samples)]
        text = json.dumps([body.get("tools"), body["messages"]])
        self.served.append(Served(arrived, time.monotonic(), samples, text))
        return made


@contextmanager
def serving(server: Server, host: str) -> Iterator[str]:
    """The base URL of a server that lives as long as the block."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # or every second small answer waits 40 ms for an acknowledgement

        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            sent = self.rfile.read(length)
            if len(sent) < length:  # whoever sent it was killed before it was a request
                self.close_connection = True
                return
            body = json.loads(sent)
            data = json.dumps(server.answer(body)).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """The counts say it all."""

    class Listening(ThreadingHTTPServer):
        request_queue_size = 128
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """A killed client hangs up in the middle, which is nothing to report; anything else is a fault here."""
            error = sys.exc_info()[1]
            if not isinstance(error, ConnectionError):
                server.failures.append(repr(error))

    listening = Listening((host, 0), Handler)
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://{host}:{listening.server_address[1]}/v1"
    finally:
        listening.shutdown()
        thread.join()
        listening.server_close()
        if server.failures:
            raise RuntimeError(f"the stand-in failed {len(server.failures)} times, first with {server.failures[0]}")
