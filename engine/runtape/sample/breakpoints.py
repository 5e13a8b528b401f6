"""Breakpoints of Anthropic's prompt cache, put where the reruns of one context agree.

That API caches a beginning of a request only up to blocks that carry `cache_control`, four of them at most
(https://docs.claude.com/en/docs/build-with-claude/prompt-caching). What is read from the cache costs a tenth, what is
written to it a quarter more. So the context as recorded, which goes first and is rerun most, is marked in four places,
and a changed one in those of them that lie before its change: it reads what is there and writes nothing of its own.
The model reads the same with and without the marks.
"""

from __future__ import annotations

from itertools import accumulate

from .. import canon
from ..said import Said
from ..wire.values import Json, JsonObject

MOST = 4

SHORTEST = 4096
"""Characters of a request from which on marks are worth it: the API caches nothing below 1,024 tokens."""

KINDS = ("text", "image", "document", "tool_use", "tool_result")
"""Blocks that may be marked; reasoning may not."""

MARK: JsonObject = {"type": "ephemeral"}

NOTE = Said(
    "Marks for Anthropic's prompt cache (cache_control) were added to the requests; they belong to the transport, and "
    "the model reads the same without them."
)


class Breakpoints:
    """The marks for the requests of one run, the first of which is the context as recorded."""

    def __init__(self) -> None:
        self._first: JsonObject | None = None
        self._at: tuple[int, ...] = ()
        """Messages that are marked in it."""

    def marked(self, body: JsonObject) -> JsonObject:
        """The body with marks; itself where it has some of its own or is too short."""
        text = canon.dumps(body)
        if len(text) < SHORTEST or b'"cache_control"' in text:
            return body
        if self._first is None or self._first.get("model") != body.get("model"):
            self._first, self._at = body, _spread(_messages(body))
        if any(body.get(key) != self._first.get(key) for key in ("tools", "system")):
            return body
        messages = _messages(body)
        same = _same(messages, _messages(self._first))
        marked = {at: _marked(messages[at]) for at in self._at if at < same}
        changed: JsonObject = {**body, "messages": [marked.get(at, message) for at, message in enumerate(messages)]}
        for key in ("system", "tools"):  # the tools stand before the system prompt, so its mark covers them
            if body.get(key):
                changed[key] = _last_marked(body[key])
                break
        return changed


def _messages(body: JsonObject) -> list[Json]:
    messages = body.get("messages")
    return messages if isinstance(messages, list) else []


def _same(one: list[Json], other: list[Json]) -> int:
    """How many messages at the beginning are equal."""
    return next(
        (at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), min(len(one), len(other))
    )


def _spread(messages: list[Json]) -> tuple[int, ...]:
    """Messages at the ends of about equal parts; the last that can be marked is one of them."""
    can = [at for at, message in enumerate(messages) if _marked(message) != message]
    if not can:
        return ()
    ends = list(accumulate(len(canon.dumps(message)) for message in messages))
    parts = MOST - 1
    wanted = [ends[can[-1]] * part / parts for part in range(1, parts + 1)]
    return tuple(sorted({min(can, key=lambda at: abs(ends[at] - end)) for end in wanted}))


def _marked(message: Json) -> Json:
    """The message with a mark on its last block; itself where that cannot carry one."""
    if not isinstance(message, dict) or not message.get("content"):
        return message
    return {**message, "content": _last_marked(message["content"])} if _can(message["content"]) else message


def _can(content: Json) -> bool:
    if isinstance(content, str):
        return True
    last = content[-1] if isinstance(content, list) and content else None
    return isinstance(last, dict) and last.get("type") in KINDS and last.get("text") != ""


def _last_marked(content: Json) -> Json:
    if isinstance(content, str):
        return [{"type": "text", "text": content, "cache_control": MARK}]
    if isinstance(content, list) and content and isinstance(content[-1], dict):
        return [*content[:-1], {**content[-1], "cache_control": MARK}]
    return content
