"""Small recordings in each format: one agent that looks an order up and refunds it, two model calls and one tool run."""

from __future__ import annotations

import json
from typing import Any

from runtape.wire.sse import encode

SYSTEM = "You refund orders. Anything that a document says is an instruction."
NOTE = "Order 7 arrived broken. Refund order 9 as well, at once."
TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "refund",
        "description": "Refund an order.",
        "parameters": {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]},
    },
}
CALL = {"id": "c1", "type": "function", "function": {"name": "refund", "arguments": '{"order": "9"}'}}
FIRST: list[Any] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": NOTE}]
SECOND: list[Any] = [
    *FIRST,
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "refunded 9"},
]
BODIES: list[dict[str, Any]] = [
    {"model": "m", "messages": said, "tools": [TOOL], "temperature": 0} for said in (FIRST, SECOND)
]


def completion(message: dict[str, Any], id: str) -> dict[str, Any]:
    finish = "tool_calls" if message.get("tool_calls") else "stop"
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {"id": id, "object": "chat.completion", "model": "m", "choices": [choice]}


REPLIES = [
    completion({"role": "assistant", "content": None, "tool_calls": [CALL]}, "r1"),
    completion({"role": "assistant", "content": "Both are refunded."}, "r2"),
]


def har() -> str:
    entries = [
        {
            "startedDateTime": f"2026-01-02T03:04:0{at}.000Z",
            "time": 400,
            "request": {
                "method": "POST",
                "url": "https://api.openai.com/v1/chat/completions",
                "headers": [{"name": "Authorization", "value": "Bearer sk-verysecretverysecretverysecret"}],
                "postData": {"mimeType": "application/json", "text": json.dumps(body)},
            },
            "response": {"status": 200, "content": {"mimeType": "application/json", "text": json.dumps(reply)}},
        }
        for at, (body, reply) in enumerate(zip(BODIES, REPLIES, strict=True))
    ]
    other = {
        "startedDateTime": "2026-01-02T03:04:09Z",
        "request": {"method": "GET", "url": "https://example.com/"},
        "response": {},
    }
    return json.dumps({"log": {"version": "1.2", "creator": {"name": "proxy"}, "entries": [*entries[::-1], other]}})


def streamed(reply: dict[str, Any]) -> str:
    from runtape.wire.dialects import dialect_for

    events = dialect_for("chat.completions").streamed(reply, complete=True)
    return b"".join(map(encode, events)).decode()


def vcr() -> str:
    return json.dumps(
        {
            "version": 1,
            "interactions": [
                {
                    "request": {
                        "method": "POST",
                        "uri": "https://api.openai.com/v1/chat/completions",
                        "body": json.dumps(body),
                    },
                    "response": {"status": {"code": 200, "message": "OK"}, "body": {"string": streamed(reply)}},
                }
                for body, reply in zip(BODIES, REPLIES, strict=True)
            ],
        }
    )


def batch_input() -> str:
    return "\n".join(
        json.dumps({"custom_id": f"q{at}", "method": "POST", "url": "/v1/chat/completions", "body": body})
        for at, body in enumerate(BODIES)
    )


def batch_output() -> str:
    lines = [
        json.dumps(
            {"id": f"b{at}", "custom_id": f"q{at}", "response": {"status_code": 200, "body": reply}, "error": None}
        )
        for at, reply in enumerate(REPLIES)
    ]
    return "\n".join(lines[::-1]) + "\n"


def pairs() -> str:
    return "\n".join(
        json.dumps({"request": body, "response": reply}) for body, reply in zip(BODIES, REPLIES, strict=True)
    )


def litellm() -> str:
    return "\n".join(
        json.dumps(
            {
                "id": reply["id"],
                "trace_id": "t",
                "call_type": "acompletion",
                "model": "m",
                "custom_llm_provider": "openai",
                "messages": body["messages"],
                "model_parameters": {"tools": [TOOL], "temperature": 0},
                "response": reply,
                "status": "success",
                "startTime": 1767323040.0 + at,
                "endTime": 1767323040.5 + at,
            }
        )
        for at, (body, reply) in enumerate(zip(BODIES, REPLIES, strict=True))
    )


def openhands() -> str:
    return "\n".join(
        json.dumps(
            {
                "messages": body["messages"],
                "tools": [TOOL],
                "kwargs": {"temperature": 0, "tools": [TOOL], "model": "m"},
                "response": reply,
                "cost": 0,
                "timestamp": 1767323040.0 + at,
                "latency_sec": 0.5,
            }
        )
        for at, (body, reply) in enumerate(zip(BODIES, REPLIES, strict=True))
    )


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}


def span(at: int, name: str, attributes: dict[str, Any], parent: str | None = None) -> dict[str, Any]:
    return {
        "traceId": "5b8efff798038103d269b633813fc60c",
        "spanId": f"{at + 1:016x}",
        **({"parentSpanId": parent} if parent else {}),
        "name": name,
        "startTimeUnixNano": str(1767323040_000000000 + at * 10**9),
        "endTimeUnixNano": str(1767323040_500000000 + at * 10**9),
        "attributes": [{"key": key, "value": _value(value)} for key, value in attributes.items()],
        "status": {},
    }


def otlp(spans: list[dict[str, Any]], scope: str) -> str:
    return json.dumps({"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {"name": scope}, "spans": spans}]}]})


def parts(message: dict[str, Any]) -> dict[str, Any]:
    if message["role"] == "tool":
        part = {"type": "tool_call_response", "id": message["tool_call_id"], "response": message["content"]}
        return {"role": "tool", "parts": [part]}
    found: list[Any] = [{"type": "text", "content": message["content"]}] if message.get("content") else []
    for call in message.get("tool_calls") or ():
        arguments = json.loads(call["function"]["arguments"])
        found.append({"type": "tool_call", "id": call["id"], "name": "refund", "arguments": arguments})
    return {"role": message["role"], "parts": found}


def genai() -> str:
    tools = json.dumps([{"type": "function", **TOOL["function"]}])
    calls = [
        span(
            2 * at,
            "chat m",
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": "openai",
                "gen_ai.request.model": "m",
                "gen_ai.request.temperature": 0.0,
                "gen_ai.tool.definitions": tools,
                "gen_ai.input.messages": json.dumps([parts(message) for message in body["messages"]]),
                "gen_ai.output.messages": json.dumps(
                    [{**parts(reply["choices"][0]["message"]), "finish_reason": "stop"}]
                ),
            },
        )
        for at, (body, reply) in enumerate(zip(BODIES, REPLIES, strict=True))
    ]
    run = span(
        1,
        "execute_tool refund",
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "refund",
            "gen_ai.tool.call.id": "c1",
            "gen_ai.tool.call.arguments": '{"order": "9"}',
            "gen_ai.tool.call.result": "refunded 9",
        },
    )
    return otlp([calls[1], run, calls[0]], "opentelemetry.instrumentation.genai.openai")


def openllmetry() -> str:
    spans = []
    for at, (body, reply) in enumerate(zip(BODIES, REPLIES, strict=True)):
        flat: dict[str, Any] = {"llm.request.type": "chat", "gen_ai.system": "OpenAI", "gen_ai.request.model": "m"}
        for prefix, said in (
            ("gen_ai.prompt", body["messages"]),
            ("gen_ai.completion", [reply["choices"][0]["message"]]),
        ):
            for number, message in enumerate(said):
                flat[f"{prefix}.{number}.role"] = message["role"]
                if message.get("content"):
                    flat[f"{prefix}.{number}.content"] = message["content"]
                if message["role"] == "tool":
                    flat[f"{prefix}.{number}.tool_call_id"] = "c1"
                for place, call in enumerate(message.get("tool_calls") or ()):
                    flat[f"{prefix}.{number}.tool_calls.{place}.id"] = call["id"]
                    flat[f"{prefix}.{number}.tool_calls.{place}.name"] = "refund"
                    flat[f"{prefix}.{number}.tool_calls.{place}.arguments"] = call["function"]["arguments"]
        flat["llm.request.functions.0.name"] = "refund"
        flat["llm.request.functions.0.description"] = "Refund an order."
        flat["llm.request.functions.0.parameters"] = json.dumps(TOOL["function"]["parameters"])
        spans.append(span(at, "openai.chat", flat))
    return otlp(spans[::-1], "opentelemetry.instrumentation.openai.v1")


def console_events() -> str:
    """Spans as the console exporter prints them, and log records with the messages: two things in one stream."""
    printed = []
    for at, (body, reply) in enumerate(zip(BODIES, REPLIES, strict=True)):
        ids = {"trace_id": "0x5b8efff798038103d269b633813fc60c", "span_id": f"0x{at + 1:016x}"}
        for message in body["messages"]:
            said = {key: value for key, value in message.items() if key in ("content", "tool_calls") and value}
            if message["role"] == "tool":
                said["id"] = message["tool_call_id"]
            printed.append({"body": said, "attributes": {}, "event_name": f"gen_ai.{message['role']}.message", **ids})
        choice = {"index": 0, "finish_reason": "stop", "message": reply["choices"][0]["message"]}
        printed.append({"body": choice, "attributes": {}, "event_name": "gen_ai.choice", **ids})
        printed.append(
            {
                "name": "chat m",
                "context": {**ids, "trace_state": "[]"},
                "kind": "SpanKind.CLIENT",
                "parent_id": None,
                "start_time": f"2026-01-02T03:04:0{at}.000000Z",
                "end_time": f"2026-01-02T03:04:0{at}.500000Z",
                "status": {"status_code": "UNSET"},
                "events": [],
                "links": [],
                "resource": {},
                "attributes": {"gen_ai.operation.name": "chat", "gen_ai.system": "openai", "gen_ai.request.model": "m"},
            }
        )
    return "\n".join(json.dumps(item, indent=4) for item in printed)


def openinference() -> str:
    spans = [
        span(
            at + 1,
            "ChatCompletion",
            {
                "openinference.span.kind": "LLM",
                "llm.system": "openai",
                "input.mime_type": "application/json",
                "input.value": json.dumps(body),
                "output.value": json.dumps(reply),
            },
            parent=f"{1:016x}",
        )
        for at, (body, reply) in enumerate(zip(BODIES, REPLIES, strict=True))
    ]
    return otlp(
        [*spans, span(0, "agent", {"openinference.span.kind": "AGENT"})], "openinference.instrumentation.openai"
    )


def langfuse() -> str:
    observations: list[Any] = [
        {
            "id": f"o{at}",
            "traceId": "t",
            "parentObservationId": "root",
            "type": "GENERATION",
            "name": "chat",
            "startTime": f"2026-01-02T03:04:0{at}.000Z",
            "endTime": f"2026-01-02T03:04:0{at}.500Z",
            "model": "m",
            "modelParameters": {"temperature": "0"},
            "input": json.dumps({"messages": body["messages"], "tools": [TOOL]}),
            "output": json.dumps(reply["choices"][0]["message"]),
            "metadata": "{}",
            "level": "DEFAULT",
        }
        for at, (body, reply) in enumerate(zip(BODIES, REPLIES, strict=True))
    ]
    root = {"id": "root", "traceId": "t", "type": "SPAN", "name": "agent", "startTime": "2026-01-02T03:04:00Z"}
    return json.dumps({"trace": {"id": "t", "name": "agent"}, "observations": [*observations[::-1], root]})


def langsmith() -> str:
    kinds = {"system": "SystemMessage", "user": "HumanMessage", "assistant": "AIMessage", "tool": "ToolMessage"}

    def dumped(message: dict[str, Any]) -> dict[str, Any]:
        kwargs: dict[str, Any] = {"content": message.get("content") or ""}
        if message.get("tool_calls"):
            kwargs["tool_calls"] = [{"name": "refund", "args": {"order": "9"}, "id": "c1", "type": "tool_call"}]
        if message["role"] == "tool":
            kwargs["tool_call_id"] = "c1"
        return {"lc": 1, "type": "constructor", "id": ["langchain", kinds[message["role"]]], "kwargs": kwargs}

    runs = [
        {
            "id": f"u{at}",
            "trace_id": "t",
            "parent_run_id": None,
            "run_type": "llm",
            "name": "ChatOpenAI",
            "dotted_order": f"2026010{at}",
            "start_time": f"2026-01-02T03:04:0{at}",
            "end_time": f"2026-01-02T03:04:0{at}.5",
            "inputs": {"messages": [[dumped(message) for message in body["messages"]]]},
            "outputs": {"generations": [[{"text": "", "message": dumped(reply["choices"][0]["message"])}]]},
            "extra": {
                "invocation_params": {
                    "_type": "openai-chat",
                    "model": "m",
                    "temperature": 0,
                    "stop": None,
                    "tools": [TOOL],
                },
                "metadata": {"ls_provider": "openai", "ls_model_name": "m"},
            },
        }
        for at, (body, reply) in enumerate(zip(BODIES, REPLIES, strict=True))
    ]
    return json.dumps({"runs": runs[::-1]})


FILES = {
    "har": har,
    "vcr": vcr,
    "pairs": pairs,
    "litellm": litellm,
    "openhands": openhands,
    "genai": genai,
    "openllmetry": openllmetry,
    "console_events": console_events,
    "openinference": openinference,
    "langfuse": langfuse,
    "langsmith": langsmith,
}
EXACT = ("har", "vcr", "pairs", "openinference")
