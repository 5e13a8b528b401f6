"""Replies as short as a test can say them."""

from __future__ import annotations

import json

from runtape.wire.values import Json, Reply, ToolCall


def call(name: str, arguments: Json = None) -> ToolCall:
    return ToolCall(name, json.dumps(arguments or {}), arguments or {})


def calling(*calls: ToolCall, text: str | None = None) -> Reply:
    return Reply(text, calls, stop="tool_calls")
