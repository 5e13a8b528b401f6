"""Server-sent events, of which model APIs use the data: one JSON value per event."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator

from .. import canon
from .values import Json

DONE = "[DONE]"
"""What OpenAI-style streams send as the data of their last event."""

_LINE_END = re.compile(r"\r\n|\n|\r")


class Decoder:
    """Data of the events of one stream, fed as it arrives in pieces of any size.

    Data that is not JSON, the end mark `[DONE]` among it, comes as the text itself.
    """

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8-sig")("replace").decode
        self._rest: list[str] = []
        self._after_cr = False
        self._data: list[str] = []

    def feed(self, data: bytes) -> list[Json]:
        """The data of the events that `data` completes."""
        return self._take(self._decode(data))

    def close(self) -> list[Json]:
        """The data of a last event without the blank line that should end it."""
        return [*self._take(self._decode(b"", final=True)), *self._take("\n\n")]

    def _take(self, text: str) -> list[Json]:
        # A line end may be cut in two: the LF of a CRLF whose CR has already ended the line.
        if self._after_cr and text.startswith("\n"):
            text = text[1:]
            self._after_cr = False
        if not text:
            return []
        self._after_cr = text.endswith("\r")
        first, *others = _LINE_END.split(text)
        self._rest.append(first)
        if not others:
            return []
        lines = ["".join(self._rest), *others[:-1]]
        self._rest = [others[-1]]
        return [value for line in lines for value in self._line(line)]

    def _line(self, line: str) -> list[Json]:
        if line:
            name, _, value = line.partition(":")
            if name == "data":
                self._data.append(value.removeprefix(" "))
            return []
        data = "\n".join(self._data)
        self._data = []
        if not data:
            return []
        try:
            return [canon.loads(data)]
        except ValueError:
            return [data]


def decode(chunks: Iterable[bytes]) -> Iterator[Json]:
    """The data of every event in a stream; see `Decoder`."""
    decoder = Decoder()
    for chunk in chunks:
        yield from decoder.feed(chunk)
    yield from decoder.close()


def encode(event: Json) -> bytes:
    """One event with that data, named by its `type` as some APIs name theirs; text that is no JSON stands bare."""
    data = DONE.encode() if event == DONE else canon.dumps(event)
    name = event.get("type") if isinstance(event, dict) else None
    head = f"event: {name}\n".encode() if isinstance(name, str) and not _LINE_END.search(name) else b""
    return head + b"data: " + data + b"\n\n"
