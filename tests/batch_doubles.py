"""The batch APIs of OpenAI and Anthropic on 127.0.0.1: batches are kept, counted, and end when a test says so."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from loopback import Answer, Received

Reply = Callable[[dict[str, Any]], "Answer | None"]
"""From the body of one request to what the model's API answers; None for a request that the batch ends without."""


@dataclass
class Submitted:
    """One batch that the server took."""

    id: str
    items: dict[str, dict[str, Any]]
    """Bodies by `custom_id`."""
    metadata: dict[str, str]
    created: float = field(default_factory=time.time)
    polled: int = 0


class BatchServer:
    """A script for a `Loopback`; `reply` answers the requests of its batches, and any sent on its own."""

    def __init__(self, reply: Reply, *, ends: bool = True) -> None:
        self.reply = reply
        self.submitted: list[Submitted] = []
        self.alone: list[Received] = []
        """Requests that came outside a batch."""
        self.ends = ends
        """Whether batches end at the first look."""
        self.status = "completed"
        """How OpenAI's batches end."""
        self.on_submit: Callable[[Submitted], Answer | None] = lambda _: None
        """Called when a batch was taken; an answer goes out in place of the usual one."""
        self.on_poll: Callable[[Submitted], Answer | None] = lambda _: None
        self.on_results: Callable[[bytes], bytes] = lambda lines: lines
        """From the lines of a file of results to what is sent in their place."""
        self.polled = threading.Event()
        self._files: dict[str, bytes] = {}

    @property
    def asked(self) -> int:
        """Samples of all batches that were submitted."""
        return sum(body.get("n", 1) for batch in self.submitted for body in batch.items.values())

    def __call__(self, received: Received) -> Answer:
        path = received.path.partition("?")[0]
        match received.method, path.removeprefix("/v1").split("/")[1:]:
            case "POST", ["files"]:
                return self._file(received.raw)
            case "POST", ["batches"]:
                assert received.body["completion_window"] == "24h"
                lines = [json.loads(line) for line in self._files[received.body["input_file_id"]].splitlines()]
                assert {line["url"] for line in lines} == {received.body["endpoint"]}
                assert all(line["method"] == "POST" for line in lines)
                items = {line["custom_id"]: line["body"] for line in lines}
                return self._take(f"batch_{len(self.submitted)}", items, received.body["metadata"], self._openai)
            case "GET", ["batches"]:
                return Answer({"data": [self._openai(one) for one in reversed(self.submitted)], "has_more": False})
            case "GET", ["batches", name]:
                return self._poll(name, self._openai)
            case "GET", ["files", name, "content"]:
                return Answer(self.on_results(self._files[name]))
            case "POST", ["messages", "batches"]:
                items = {one["custom_id"]: one["params"] for one in received.body["requests"]}
                assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in items)
                return self._take(f"msgbatch_{len(self.submitted)}", items, {}, self._anthropic)
            case "GET", ["messages", "batches"]:
                return Answer({"data": [self._anthropic(one) for one in reversed(self.submitted)], "has_more": False})
            case "GET", ["messages", "batches", name]:
                return self._poll(name, self._anthropic)
            case "GET", ["messages", "batches", name, "results"]:
                results = _lines([self._result(key, body) for key, body in self._shuffled(self._named(name))])
                return Answer(self.on_results(results))
            case "POST", _:
                self.alone.append(received)
                return self.reply(received.body) or Answer({}, 500)
            case _:
                return Answer({"error": {"message": "no such path"}}, 404)

    def _file(self, raw: bytes) -> Answer:
        boundary = raw[: raw.index(b"\r\n")]
        parts = [part.partition(b"\r\n\r\n") for part in raw.split(boundary)[1:-1]]
        fields = {head: content.removesuffix(b"\r\n") for head, _, content in parts}
        assert any(b'name="purpose"' in head and content == b"batch" for head, content in fields.items())
        name = f"file-{len(self._files)}"
        self._files[name] = next(content for head, content in fields.items() if b'name="file"' in head)
        return Answer({"id": name, "object": "file", "purpose": "batch"})

    def _take(
        self,
        name: str,
        items: dict[str, dict[str, Any]],
        metadata: dict[str, str],
        shown: Callable[[Submitted], dict[str, Any]],
    ) -> Answer:
        batch = Submitted(name, items, metadata)
        self.submitted.append(batch)
        return self.on_submit(batch) or Answer(shown(batch))

    def _poll(self, name: str, shown: Callable[[Submitted], dict[str, Any]]) -> Answer:
        batch = self._named(name)
        if batch is None:
            return Answer({"error": {"message": "no such batch"}}, 404)
        batch.polled += 1
        self.polled.set()
        return self.on_poll(batch) or Answer(shown(batch))

    def _named(self, name: str) -> Any:
        return next((batch for batch in self.submitted if batch.id == name), None)

    def _shuffled(self, batch: Submitted) -> list[tuple[str, dict[str, Any]]]:
        """No batch API keeps the order."""
        return sorted(batch.items.items(), key=lambda item: item[0][::-1], reverse=True)

    def _openai(self, batch: Submitted) -> dict[str, Any]:
        shown: dict[str, Any] = {
            "id": batch.id,
            "object": "batch",
            "status": self.status if self.ends else "in_progress",
            "created_at": int(batch.created),
            "metadata": batch.metadata,
            "request_counts": {"total": len(batch.items), "completed": 0, "failed": 0},
        }
        if not self.ends:
            return shown
        shown["request_counts"]["completed"] = sum(self.reply(body) is not None for body in batch.items.values())
        if self.status == "failed":
            error = {"code": "model_not_found", "message": "The model 'm' does not exist.", "line": 1}
            return {**shown, "errors": {"object": "list", "data": [error]}}
        good, bad = [], []
        for name, body in self._shuffled(batch):
            answer = self.reply(body)
            line: dict[str, Any] = {"id": f"batch_req_{name}", "custom_id": name, "response": None, "error": None}
            if answer is None:
                bad.append({**line, "error": {"code": "batch_expired", "message": "It was not run in time."}})
            else:
                response = {"status_code": answer.status, "request_id": "r", "body": answer.body}
                (good if answer.status == 200 else bad).append({**line, "response": response})
        for key, lines in (("output_file_id", good), ("error_file_id", bad)):
            if lines:
                shown[key] = f"{key}-{batch.id}"
                self._files[shown[key]] = _lines(lines)
        return shown

    def _anthropic(self, batch: Submitted) -> dict[str, Any]:
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if self.ends else "in_progress",
            "created_at": datetime.fromtimestamp(batch.created, timezone.utc).isoformat().replace("+00:00", "Z"),
            "request_counts": {**counts, "succeeded" if self.ends else "processing": len(batch.items)},
            "results_url": "https://elsewhere.invalid/results",
        }

    def _result(self, name: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = self.reply(body)
        if answer is None:
            return {"custom_id": name, "result": {"type": "expired"}}
        if answer.status == 200:
            return {"custom_id": name, "result": {"type": "succeeded", "message": answer.body}}
        return {"custom_id": name, "result": {"type": "errored", "error": answer.body}}


def _lines(objects: list[Any]) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in objects)
