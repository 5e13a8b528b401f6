"""A response stream as it came: the bytes of its chunks, packed into a payload's field `stream`.

`{"encoding": "zlib+base64", "data": ..., "bytes": length of all, "chunks": [length of each]}`; of a longer one than is
kept `{"bytes": ..., "sha256": ...}`. The chunks are those that the program read, content encoding undone.
"""

from __future__ import annotations

import base64
import hashlib
import zlib
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final

from ..wire.values import Json, JsonObject

STREAM: Final = "stream"
"""Name of the field in the payload of an `llm_response`."""
_ENCODING: Final = "zlib+base64"
_LONGEST: Final = 4_000_000
"""Bytes of a stream that is kept."""
_MOST_CHUNKS: Final = 100_000


@dataclass(frozen=True, slots=True)
class Stream:
    """What a program read of a stream."""

    raw: bytes
    lengths: tuple[int, ...]
    """Of the chunks in order."""

    @property
    def is_kept(self) -> bool:
        """False when it is too long to be kept."""
        return len(self.raw) <= _LONGEST and len(self.lengths) <= _MOST_CHUNKS


def packed(stream: Stream) -> JsonObject:
    """The stream as a field of a payload."""
    if not stream.is_kept:
        return {"bytes": len(stream.raw), "sha256": hashlib.sha256(stream.raw).hexdigest()}
    data = base64.b64encode(zlib.compress(stream.raw)).decode("ascii")
    return {"encoding": _ENCODING, "data": data, "bytes": len(stream.raw), "chunks": [*stream.lengths]}


def chunks(field: Json) -> tuple[bytes, ...] | None:
    """The chunks of a packed stream; None when they were not kept, or the field is not what `packed` writes."""
    if not isinstance(field, dict) or field.get("encoding") != _ENCODING:
        return None
    data, size, listed = field.get("data"), field.get("bytes"), field.get("chunks")
    if not isinstance(data, str) or not isinstance(size, int) or not isinstance(listed, list):
        return None
    lengths = [length for length in listed if isinstance(length, int) and length >= 0]
    if not 0 <= size <= _LONGEST or len(lengths) != len(listed) or sum(lengths) != size:
        return None
    try:
        # A trace may come from anyone: no more is unpacked than it says, and than is ever kept.
        raw = zlib.decompressobj().decompress(base64.b64decode(data, validate=True), size + 1)
    except (ValueError, zlib.error):
        return None
    if len(raw) != size:
        return None
    return tuple(raw[start:end] for start, end in pairwise(accumulate(lengths, initial=0)))
