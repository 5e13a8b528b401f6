"""Chunks of a streamed chat completion, put together.

The protocol is bent in many ways by the servers that speak it. Nothing that came is left out, and where chunks are
ambiguous the reading is the one under which every known server's calls come out whole.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from .bodies import listed, objects
from .dialect import Assembled
from .reading import members, parsed
from .sse import DONE
from .values import Json, JsonObject

_CHUNK_ONLY = frozenset({"choices", "object", "obfuscation", "error"})
"""Keys of a chunk that the whole response does not have, or has in another form."""

_WHOLE = frozenset({"role", "id", "type", "format", "index", "signature"})
"""Keys of a delta whose text is sent whole, and counts the first time. All other texts arrive in pieces."""


def assemble(events: Iterable[Json]) -> Assembled:
    """The chat completion that the chunks in `events` add up to.

    Complete at `[DONE]`, or once every choice that began has ended. An error in mid-stream is kept as `stream_error`;
    one that comes first is the whole body.
    """
    body: JsonObject = {"object": "chat.completion"}
    choices: dict[int, _Choice] = {}
    done = False
    for event in events:
        done = done or event == DONE
        chunk = members(event)
        error = chunk.get("error")
        if error and not choices:
            return Assembled({**body, **chunk}, complete=False)
        if error:
            body["stream_error"] = error
        _update(body, chunk, leave=_CHUNK_ONLY)
        for _, piece in objects(chunk.get("choices")):
            index = piece.get("index")
            choices.setdefault(index if isinstance(index, int) else 0, _Choice()).add(piece)
    ended = done or bool(choices and all(choice.entry.get("finish_reason") for choice in choices.values()))
    body["choices"] = [choices[index].whole(index) for index in sorted(choices)]
    return Assembled(body, complete=ended and "stream_error" not in body)


class _Call:
    """One tool call so far."""

    def __init__(self, index: int | None) -> None:
        self.index = index
        self.entry: JsonObject = {}

    @property
    def id(self) -> str:
        id_ = self.entry.get("id")
        return id_ if isinstance(id_, str) else ""


class _Choice:
    """One choice so far."""

    def __init__(self) -> None:
        self.entry: JsonObject = {}
        self.message: JsonObject = {}
        self.calls: list[_Call] = []

    def add(self, piece: JsonObject) -> None:
        """Take one chunk's part of this choice."""
        _update(self.entry, piece, leave=("delta", "index", "logprobs"))
        _grow(self.entry, {"logprobs": piece["logprobs"]} if "logprobs" in piece else {})
        delta = members(piece.get("delta"))
        _grow(self.message, {key: value for key, value in delta.items() if key != "tool_calls"})
        for _, entry in objects(delta.get("tool_calls")):
            index = entry.get("index")
            at = index if isinstance(index, int) else None
            call = self._begun(entry, at)
            if call is None:
                call = _Call(at)
                self.calls.append(call)
            _grow(call.entry, {key: value for key, value in entry.items() if key != "index"})

    def _begun(self, entry: JsonObject, index: int | None) -> _Call | None:
        """The call that `entry` continues; None when it opens one."""
        id_, name, arguments = entry.get("id"), *_head(entry)
        same = self.calls if index is None else [call for call in self.calls if call.index == index]
        if not same:
            return None
        last = same[-1]
        last_name, last_arguments = _head(last.entry)
        if not name:
            # An id that comes again, or anew with every piece, means nothing where an index leads.
            if index is not None or not id_:
                return last
            return next((call for call in reversed(same) if call.id == id_), None if last.id else last)
        if id_ and last.id and id_ != last.id:
            return None  # some gateways give all parallel calls the index 0
        if not last_name or (index is not None and id_ and id_ == last.id):
            return last
        if index is not None and not last_arguments:
            return last  # a name in pieces, or repeated
        # With neither index nor id to go by, a head that is repeated is more of a call only while that call is open.
        is_open = bool(last_arguments) and parsed(last_arguments) is None
        return last if name == last_name and (is_open or (index is not None and not arguments)) else None

    def whole(self, index: int) -> JsonObject:
        """The choice as a response holds it."""
        message: JsonObject = {"role": "assistant", "content": None, **self.message}
        if self.calls:
            message["tool_calls"] = [call.entry for call in self._in_order()]
        if message["content"] == "" and (self.calls or message.get("refusal") or message.get("function_call")):
            message["content"] = None  # as in a response that is not streamed
        return {"index": index, "finish_reason": None, **self.entry, "message": message}

    def _in_order(self) -> list[_Call]:
        indexes = {call.index for call in self.calls if call.index is not None}
        return self.calls if len(indexes) < len(self.calls) else sorted(self.calls, key=lambda call: call.index or 0)


def _update(whole: JsonObject, piece: JsonObject, leave: Collection[str]) -> None:
    """Set the keys of `piece`, except where it has nothing to say about what is known."""
    for key, value in piece.items():
        if key not in leave and (value not in (None, "") or key not in whole):
            whole[key] = value


def _grow(whole: JsonObject, piece: JsonObject) -> None:
    """Add `piece` to `whole`: texts and lists go on, objects grow key by key, anything else is set."""
    for key, value in piece.items():
        whole[key] = _sum(key, whole.get(key), value)


def _sum(key: str, present: Json, value: Json) -> Json:
    if value is None or (value == "" and present is not None):
        return present
    if isinstance(value, dict):
        grown = dict(members(present))
        _grow(grown, value)
        return grown
    if isinstance(present, str) and isinstance(value, str):
        # A server that repeats a call's head repeats its name.
        whole = present and (key in _WHOLE or (key == "name" and value == present))
        return present if whole else present + value
    # Content changes its form in mid-stream where a model thinks in parts and then answers in text.
    if isinstance(value, list):
        begun: list[Json] = [{"type": "text", "text": present}] if isinstance(present, str) and present else []
        return [*listed(present), *begun, *value]
    if isinstance(present, list) and isinstance(value, str):
        return [*present, {"type": "text", "text": value}]
    return value


def _head(entry: JsonObject) -> tuple[str, str]:
    """Name and arguments of a call as far as `entry` has them."""
    named = members(entry.get("function")) or members(entry.get("custom"))
    name, arguments = named.get("name"), named.get("arguments", named.get("input"))
    return name if isinstance(name, str) else "", arguments if isinstance(arguments, str) else ""
