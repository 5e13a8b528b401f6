"""Events of a streamed Anthropic message, put together."""

from __future__ import annotations

from collections.abc import Iterable

from .bodies import listed
from .dialect import Assembled
from .reading import members, parsed
from .values import Json, JsonObject


def assemble(events: Iterable[Json]) -> Assembled:
    """The message that `events` add up to.

    An error in mid-stream is kept as `stream_error`; one that comes first is the whole body.
    """
    state = _State()
    for event in events:
        if isinstance(event, dict):
            state.add(event)
    return state.assembled()


class _State:
    """What came so far."""

    def __init__(self) -> None:
        self.message: JsonObject = {}
        self.blocks: dict[int, JsonObject] = {}
        self.inputs: dict[int, str] = {}
        """Text of a block's tool input, joined."""
        self.error: JsonObject | None = None
        self.stopped = False

    def add(self, event: JsonObject) -> None:
        type_ = event.get("type")
        if type_ == "message_start":
            self.message = dict(members(event.get("message")))
            self.blocks = {at: dict(members(block)) for at, block in enumerate(listed(self.message.get("content")))}
        elif type_ == "content_block_start":
            self.blocks[self._index(event, len(self.blocks))] = dict(members(event.get("content_block")))
        elif type_ == "content_block_delta":
            index = self._index(event, max(self.blocks, default=0))
            self._lengthen(index, members(event.get("delta")))
        elif type_ == "message_delta":
            usage = {key: value for key, value in members(event.get("usage")).items() if value is not None}
            rest = {key: value for key, value in event.items() if key not in ("type", "delta", "usage")}
            merged: JsonObject = {**members(self.message.get("usage")), **usage}
            self.message = {**self.message, **rest, **members(event.get("delta")), "usage": merged}
        elif type_ == "message_stop":
            self.stopped = True
        elif type_ == "error" or event.get("error"):
            self.error = event

    def _index(self, event: JsonObject, otherwise: int) -> int:
        index = event.get("index")
        return index if isinstance(index, int) else otherwise

    def _lengthen(self, index: int, delta: JsonObject) -> None:
        block = self.blocks.setdefault(index, {})
        for key, value in delta.items():
            present = block.get(key)
            if key == "partial_json":
                self.inputs[index] = self.inputs.get(index, "") + (value if isinstance(value, str) else "")
            elif key == "citation":
                block["citations"] = [*listed(block.get("citations")), value]
            elif isinstance(value, str) and key != "type":
                block[key] = present + value if isinstance(present, str) else value
            elif key != "type" and (value is not None or key not in block):
                block[key] = value

    def _block(self, index: int) -> JsonObject:
        block, text = self.blocks[index], self.inputs.get(index, "")
        if not text:
            return block
        value = parsed(text)
        # Input that is cut or is no object stays the text that came.
        return {**block, "input": value if isinstance(value, dict) else text}

    def assembled(self) -> Assembled:
        if self.error is not None and not self.message:
            return Assembled(self.error, complete=False)
        content: list[Json] = [self._block(index) for index in sorted(self.blocks)]
        body: JsonObject = {"type": "message", "role": "assistant", **self.message, "content": content}
        if self.error is not None:
            body["stream_error"] = self.error.get("error") or self.error
        return Assembled(body, complete=self.stopped and self.error is None)
