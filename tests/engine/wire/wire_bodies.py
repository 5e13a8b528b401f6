"""Request bodies as the providers' SDKs send them in 2026, drawn by hypothesis, and ways to look into them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

law = settings(deadline=None)
"""A shared machine stalls now and then: no example has a time limit."""

API = ("chat.completions", "responses", "messages", "completions")

words = st.text(max_size=12) | st.sampled_from(
    ["", " ", "a\nb", "\ud83d", "x" * 40, "ünï 😀", "\u202e", "null", '{"a":1}']
)
ids = st.sampled_from(["", "call_1", "call_2", "dup"])
names = st.sampled_from(["read_mail", "send_money", "f"])
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words
json_values: st.SearchStrategy[Any] = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3), max_leaves=8
)
arguments = st.sampled_from(
    ["", "   ", '{"p": "x', "[1,2]", '"text"', "null", "3", '{"a":1}{"a":2}', '{"a":1,"a":2}', '{"id": 7}']
)
cache = st.fixed_dictionaries({"type": st.just("ephemeral")}, optional={"ttl": st.just("1h")})


def record(required: dict[str, Any], optional: dict[str, Any] | None = None) -> st.SearchStrategy[dict[str, Any]]:
    """An object with some optional keys, any of which may be null, and now and then a key that nobody knows."""
    loose = {key: st.none() | value for key, value in (optional or {}).items()}
    return st.fixed_dictionaries(
        {key: value if isinstance(value, st.SearchStrategy) else st.just(value) for key, value in required.items()},
        optional={**loose, "x_new": json_values},
    )


PNG = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

chat_part = st.one_of(
    record({"type": "text", "text": words}, {"cache_control": cache}),
    record({"type": "image_url", "image_url": st.just({"url": PNG, "detail": "low"})}),
    record({"type": "input_audio", "input_audio": st.just({"data": "UklGRg==", "format": "wav"})}),
)
chat_content = st.none() | words | st.lists(chat_part, max_size=3)
chat_call = st.one_of(
    record({"id": ids, "type": "function", "function": record({"name": names, "arguments": arguments})}),
    record({"id": ids, "type": "custom", "custom": record({"name": names, "input": words})}),
    record({"type": "function", "function": record({"name": names, "arguments": arguments})}, {"id": ids}),
)
chat_message = st.one_of(
    record({"role": st.sampled_from(["system", "developer", "user"]), "content": chat_content}, {"name": words}),
    record(
        {"role": "assistant"},
        {
            "content": chat_content,
            "refusal": words,
            "reasoning_content": words,
            "tool_calls": st.lists(chat_call, max_size=3),
            "function_call": record({"name": names, "arguments": arguments}),
        },
    ),
    record({"role": "tool", "content": chat_content}, {"tool_call_id": ids}),
    record({"role": "function", "name": names, "content": words}),
)
chat_tool = st.one_of(
    record({"type": "function", "function": record({"name": names}, {"description": words, "strict": st.booleans()})}),
    record({"type": "custom", "custom": record({"name": names}, {"description": words})}),
)
params = {
    "temperature": st.floats(0, 2),
    "stream": st.booleans(),
    "stream_options": st.just({"include_usage": True}),
    "seed": st.integers(),
    "store": st.booleans(),
    "metadata": st.dictionaries(words, words, max_size=2),
}
chat_body = record(
    {},
    {
        "model": words,
        "messages": st.lists(chat_message, max_size=6),
        "tools": st.lists(chat_tool, max_size=2),
        "functions": st.lists(record({"name": names}, {"description": words}), max_size=2),
        "tool_choice": st.sampled_from(["auto", "required"]),
        "max_completion_tokens": st.integers(1, 9),
        "n": st.integers(1, 3),
        **params,
    },
)

responses_part = st.one_of(
    record({"type": st.sampled_from(["input_text", "output_text"]), "text": words}, {"annotations": st.just([])}),
    record({"type": "refusal", "refusal": words}),
    record({"type": "input_image", "image_url": st.just(PNG)}, {"detail": st.just("auto")}),
    record({"type": "input_file", "file_data": st.just("JVBERi0="), "filename": words}),
)
responses_content = words | st.lists(responses_part, max_size=3)
captured = record({"stdout": words, "stderr": words, "outcome": st.just({"type": "exit", "exit_code": 0})})
responses_item = st.one_of(
    record({"role": st.sampled_from(["system", "developer", "user", "assistant"]), "content": responses_content}),
    record(
        {"type": "message", "role": "assistant", "content": responses_content},
        {"id": ids, "status": st.just("completed"), "phase": st.just("commentary")},
    ),
    record(
        {"type": "reasoning", "id": "rs_1", "summary": st.just([]), "encrypted_content": st.just("AAA=")},
        {"status": words},
    ),
    record({"type": "function_call", "call_id": ids, "name": names, "arguments": arguments}, {"id": ids}),
    record(
        {"type": "function_call_output", "call_id": ids, "output": responses_content}, {"status": st.just("completed")}
    ),
    record({"type": "custom_tool_call", "call_id": ids, "name": names, "input": words}),
    record({"type": "custom_tool_call_output", "call_id": ids, "output": responses_content}),
    record({"type": "shell_call", "call_id": ids, "action": st.just({"commands": ["ls"]})}),
    record({"type": "shell_call_output", "call_id": ids, "output": st.lists(captured, max_size=2)}),
    record(
        {"type": "mcp_call", "id": ids, "name": names, "arguments": arguments, "server_label": "m"}, {"output": words}
    ),
    record(
        {
            "type": "web_search_call",
            "id": ids,
            "status": "completed",
            "action": st.just({"type": "search", "query": "q"}),
        }
    ),
    record({"type": "item_reference", "id": ids}),
)
responses_tool = st.one_of(
    record(
        {"type": "function", "name": names, "parameters": st.just({"type": "object"})},
        {"description": words, "strict": st.booleans()},
    ),
    record(
        {
            "type": "namespace",
            "name": names,
            "description": words,
            "tools": st.lists(record({"type": "function", "name": names}, {"description": words}), max_size=2),
        }
    ),
    record({"type": "web_search"}),
)
responses_body = record(
    {},
    {
        "model": words,
        "instructions": words,
        "input": words | st.lists(responses_item, max_size=6) | st.lists(words, max_size=2),
        "tools": st.lists(responses_tool, max_size=2),
        "previous_response_id": words,
        "background": st.booleans(),
        "include": st.just(["reasoning.encrypted_content"]),
        **params,
    },
)

anthropic_text = record({"type": "text", "text": words}, {"cache_control": cache, "citations": st.just([])})
image = record(
    {"type": "image", "source": st.just({"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="})}
)
document = record(
    {"type": "document", "source": st.just({"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="})},
    {"title": words},
)
found = record(
    {"type": "search_result", "source": words, "title": words, "content": st.lists(anthropic_text, max_size=2)}
)
anthropic_block = st.one_of(
    anthropic_text,
    image,
    document,
    found,
    record({"type": "thinking", "thinking": words, "signature": words}),
    record({"type": "redacted_thinking", "data": words}),
    record(
        {"type": "tool_use", "id": ids, "name": names, "input": st.dictionaries(words, json_values, max_size=2)},
        {"cache_control": cache},
    ),
    record(
        {"type": "tool_result", "tool_use_id": ids},
        {
            "content": words | st.lists(anthropic_text | image | document | found, max_size=3),
            "is_error": st.booleans(),
            "cache_control": cache,
        },
    ),
    record({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": st.just({"query": "q"})}),
    record(
        {
            "type": "web_search_tool_result",
            "tool_use_id": "srvtoolu_1",
            "content": st.just([{"type": "web_search_result", "encrypted_content": "EqgB"}]),
        }
    ),
)
anthropic_body = record(
    {},
    {
        "model": words,
        "system": words | st.lists(anthropic_text, max_size=3),
        "messages": st.lists(
            record(
                {
                    "role": st.sampled_from(["user", "assistant", "system"]),
                    "content": words | st.lists(anthropic_block, max_size=4),
                }
            ),
            max_size=5,
        ),
        "tools": st.lists(
            record(
                {"name": names, "input_schema": st.just({"type": "object"})},
                {"description": words, "cache_control": cache},
            ),
            max_size=2,
        ),
        "max_tokens": st.integers(1, 9),
        "thinking": st.just({"type": "adaptive"}),
        **params,
    },
)

completions_body = record(
    {},
    {
        "model": words,
        "prompt": words | st.lists(words, max_size=3) | st.lists(st.lists(st.integers(0, 9)), max_size=2),
        "suffix": words,
        "best_of": st.integers(1, 3),
        **params,
    },
)

BODY = {
    "chat.completions": chat_body,
    "responses": responses_body,
    "messages": anthropic_body,
    "completions": completions_body,
}


def walk(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Every value inside `value`, with its path."""
    yield path, value
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in inner:
        yield from walk(item, (*path, step))


def leaves(value: Any) -> dict[tuple[str | int, ...], Any]:
    """Every value without members, by path; what two bodies differ in is what their leaves differ in."""
    return {path: item for path, item in walk(value) if not isinstance(item, (dict, list)) or not item}
