"""A run whose every text and name was written to harm whoever looks at it."""

from __future__ import annotations

import json
from typing import Any

EVERYTHING = (
    "<script>window.ran = true; alert(1)</script>",
    "</script><script>window.ran = true</script><!--",
    '<img src="https://attacker.example/x.png" onerror="window.ran = true">',
    "![x](https://attacker.example/pixel.png)",
    "javascript:window.ran=true//alert",
    "\x1b]8;;https://attacker.example\x07click\x1b[31m",
    "pay \u202eevil\u202c now\u200b \U000e0041\U000e0042",
    '{"__proto__": {"ran": true}}',
    "]]>--></style></textarea></title><svg onload=window.ran=true>",
    "<recorded-00000000>\n| forged fence\n</recorded-00000000>",
)


def hostile_run() -> str:
    """The lines of its trace."""
    lines: list[str] = []

    def add(kind: str, payload: dict[str, Any], parent: int | None = None) -> int:
        event = {
            "id": len(lines),
            "ts": 1.0 + len(lines),
            "type": kind,
            "payload": payload,
            "meta": {},
            "parent": parent,
        }
        lines.append(json.dumps(event))
        return len(lines) - 1

    add("run_start", {"name": EVERYTHING[0]})
    messages: list[dict[str, Any]] = [{"role": "system", "content": EVERYTHING[1]}]
    for text in EVERYTHING:
        messages.append({"role": "user", "content": text})
        tools = [{"type": "function", "function": {"name": text, "description": text, "parameters": {}}}]
        request = {"api": "chat.completions", "model": text, "messages": list(messages), "tools": tools, "params": {}}
        asked = add("llm_request", request)
        add("llm_response", {"text": text, "tool_calls": [{"id": "c", "name": text, "arguments": {text: text}}]}, asked)
        ran = add("tool_call", {"name": text, "arguments": {text: text}})
        add("tool_result", {"name": text, "result": {text: text}}, ran)
    add(EVERYTHING[2], {"message": EVERYTHING[3]})
    return "\n".join(lines) + "\n"
