"""Answers and histories that other recorders lost or bent, through the real SDKs: kept, read right, and rebuilt."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from anthropic import Anthropic
from loopback import Answer, Loopback, Received, sse
from openai import OpenAI
from provider import CHAT, MESSAGES, RESPONSES, bodies, chat_chunks, events, named_events, the_reply
from sdk_http import only_new

import runtape
from runtape.record import record


def untyped(client: Any) -> Any:
    """A client that takes what its types forbid and providers take."""
    return client


QUESTION: list[Any] = [{"role": "user", "content": "go"}]


def chat(folder: Path, answer: Answer, *, stream: bool = False, **more: Any) -> Path:
    """The trace of one chat call that is answered so."""
    with Loopback(lambda _: answer) as server, record(folder / "t.jsonl") as rec:
        with OpenAI(base_url=server.url, api_key="k", max_retries=0) as client:
            got = untyped(rec.wrap(client)).chat.completions.create(
                model="m", **{"messages": QUESTION, **more}, **({"stream": True} if stream else {})
            )
            if stream:
                list(got)
        assert bodies(rec.path) == [request.body for request in server.requests]
        assert "stream_options" not in server.requests[0].body
    return rec.path


def chunk(delta: Any, reason: str | None = None, **more: Any) -> dict[str, Any]:
    choices = [{"index": 0, "delta": delta, "finish_reason": reason}]
    return {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices, **more}


def called(name: str | None, arguments: str, **more: Any) -> dict[str, Any]:
    function = {"arguments": arguments} if name is None else {"arguments": arguments, "name": name}
    kind: dict[str, Any] = {"type": "function"} if name else {}
    return {**more, **kind, "function": function}


END = chunk({}, "tool_calls")
NOTHING: dict[str, Any] = {}


@pytest.mark.parametrize(
    ("deltas", "found"),
    [
        (
            [
                [called("get_a", "", id="a")],
                [called(None, '{"x":1}')],
                [called("get_b", "", id="b")],
                [called(None, '{"y":2}')],
            ],
            [("a", "get_a", {"x": 1}), ("b", "get_b", {"y": 2})],
        ),
        (
            [
                [called("get_a", "", id="a", index=0)],
                [called(None, '{"x":1}', index=0)],
                [called("get_b", "", id="b")],
                [called(None, '{"y":2}')],
            ],
            [("a", "get_a", {"x": 1}), ("b", "get_b", {"y": 2})],
        ),
        (
            [
                [called("f", "", id="a", index=0), called(None, '{"k"', index=0)],
                [called(None, ":1}", index=0)],
            ],
            [("a", "f", {"k": 1})],
        ),
        (
            [[called("f", "{}", id="", index=0)], [called("g", "{}", id="", index=1)]],
            [("runtape:0", "f", NOTHING), ("runtape:1", "g", NOTHING)],
        ),
        (
            [[called("f", '{"n":1}', id="dup", index=0)], [called("g", '{"n":2}', id="dup", index=1)]],
            [("dup", "f", {"n": 1}), ("dup", "g", {"n": 2})],
        ),
    ],
    ids=["without an index", "mixed", "two entries of one index", "empty ids", "the same id"],
)
def test_streamed_calls_come_out_whole(tmp_path: Path, deltas: list[Any], found: list[Any]) -> None:
    # The stream is read as raw lines: some of these the SDK itself cannot read.
    said = [chunk({"content": "two "}), chunk({"content": "calls"})]
    answer = Answer(chunks=sse(*said, *(chunk({"tool_calls": entries}) for entries in deltas), END))
    with (
        Loopback(lambda _: answer) as server,
        record(tmp_path / "t.jsonl") as rec,
        OpenAI(base_url=server.url, api_key="k", max_retries=0) as client,
    ):
        sdk = untyped(rec.wrap(client))
        with sdk.chat.completions.with_streaming_response.create(model="m", messages=QUESTION, stream=True) as got:
            list(got.iter_lines())
    reply = the_reply(rec.path)
    calls: Any = reply.payload["tool_calls"]
    assert [(call["id"], call["name"], call["arguments"]) for call in calls] == found
    assert (reply.payload["text"], reply.payload["stop_reason"]) == ("two calls", "tool_calls")


@pytest.mark.parametrize(
    ("last", "tokens"),
    [
        ([chunk({}, choices=[], usage={"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4})], (3, 1)),
        ([chunk({}, usage={"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4})], (3, 1)),
        ([], None),
    ],
    ids=["without choices", "with a choice", "none"],
)
def test_usage_is_read_wherever_it_stands(tmp_path: Path, last: list[Any], tokens: Any) -> None:
    reply = the_reply(chat(tmp_path, Answer(chunks=sse(*chat_chunks("one"), *last)), stream=True))
    assert (reply.payload["text"], reply.payload["stop_reason"]) == ("one", "stop")
    known: Any = reply.meta.get("tokens")
    assert known is None if tokens is None else (known["input"], known["output"]) == tokens


def refused(message: dict[str, Any]) -> dict[str, Any]:
    return {**CHAT, "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **message}}]}


@pytest.mark.parametrize("stream", [False, True])
def test_a_refusal_of_a_chat_is_a_refusal(tmp_path: Path, stream: bool) -> None:
    deltas = [chunk({"refusal": "I cannot "}), chunk({"refusal": "help."}), chunk({}, "stop")]
    whole = Answer(refused({"content": None, "refusal": "I cannot help."}))
    reply = the_reply(chat(tmp_path, Answer(chunks=sse(*deltas)) if stream else whole, stream=stream))
    assert reply.payload["refusal"] == "I cannot help."


def test_a_refusal_of_a_response_is_a_refusal(tmp_path: Path) -> None:
    part = {"type": "refusal", "refusal": "I cannot help."}
    output = [{"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": [part]}]
    with (
        Loopback(lambda _: Answer({**RESPONSES, "output": output})) as server,
        record(tmp_path / "t.jsonl") as rec,
        OpenAI(base_url=server.url, api_key="k") as client,
    ):
        untyped(rec.wrap(client)).responses.create(model="m", input="go")
    assert the_reply(rec.path).payload["refusal"] == "I cannot help."


ODD = ["", "   ", '{"p": "x', "[1,2]", '"text"', "null", "3", '{"a":1}{"a":2}', '{"a":1,"a":2}']


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("text", ODD)
def test_arguments_that_are_no_object_stay_the_text_that_came(tmp_path: Path, text: str, stream: bool) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": text}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    body = {**CHAT, "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}
    deltas = [chunk({"role": "assistant", "tool_calls": [{"index": 0, **call}]}), END]
    history = [*QUESTION, message, {"role": "tool", "tool_call_id": "c1", "content": "done"}]
    answer = Answer(chunks=sse(*deltas)) if stream else Answer(body)
    with (
        Loopback(lambda _: answer) as server,
        record(tmp_path / "t.jsonl") as rec,
        OpenAI(base_url=server.url, api_key="k", max_retries=0) as client,
    ):
        sdk = untyped(rec.wrap(client))
        for messages in (QUESTION, history):
            got: Any = sdk.chat.completions.create(model="m", messages=messages, stream=stream)
            if stream:
                list(got)

        @rec.tool
        def f(p: str = "") -> str:
            return p

        f()
        assert bodies(rec.path)[1]["messages"] == history
    first: Any = events(rec.path, "llm_response")[0].payload
    assert first["raw"]["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] == text
    # A tool run after two equal replies answers the latest.
    (run,) = events(rec.path, "tool_call")
    assert run.meta["requested_by"] == events(rec.path, "llm_response")[-1].id


def test_results_of_calls_that_share_an_id_stay_as_sent(tmp_path: Path) -> None:
    calls = [
        {"id": "dup", "type": "function", "function": {"name": name, "arguments": "{}"}} for name in ("first", "second")
    ]
    results = [{"role": "tool", "tool_call_id": "dup", "content": text} for text in ("one", "two")]
    history = [*QUESTION, {"role": "assistant", "content": "text first", "tool_calls": calls}, *results]
    trace = runtape.load(chat(tmp_path, Answer(CHAT), messages=history))
    assert trace.request(trace.calls[0].request).body["messages"] == history


THINKING: list[dict[str, Any]] = [
    {"type": "thinking", "thinking": "A", "signature": "c2lnMQ=="},
    {"type": "redacted_thinking", "data": "ZGF0YQ=="},
    {"type": "thinking", "thinking": "B", "signature": "c2lnMg=="},
    {"type": "tool_use", "id": "t1", "name": "f", "input": {}},
]


def thought(received: Received) -> Answer:
    body = {**MESSAGES, "content": THINKING, "stop_reason": "tool_use"}
    if not received.body.get("stream"):
        return Answer(body)
    found: list[dict[str, Any]] = [{"type": "message_start", "message": {**body, "content": [], "stop_reason": None}}]
    for index, block in enumerate(THINKING):
        begun = {**block, "thinking": "", "signature": ""} if block["type"] == "thinking" else block
        found.append({"type": "content_block_start", "index": index, "content_block": begun})
        if block["type"] == "thinking":
            for kind, key in (("thinking_delta", "thinking"), ("signature_delta", "signature")):
                delta = {"type": kind, key: block[key]}
                found.append({"type": "content_block_delta", "index": index, "delta": delta})
        found.append({"type": "content_block_stop", "index": index})
    ended = {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 1}}
    return Answer(chunks=named_events(*found, ended, {"type": "message_stop"}))


@pytest.mark.parametrize("stream", [False, True])
def test_thinking_comes_and_goes_back_as_it_was(tmp_path: Path, stream: bool) -> None:
    with Loopback(thought) as server, record(tmp_path / "t.jsonl") as rec:
        with Anthropic(base_url=server.root, api_key="k") as client:
            sdk = untyped(rec.wrap(client))
            if stream:
                with sdk.messages.stream(model="m", max_tokens=9, messages=QUESTION) as got:
                    content: Any = [block.model_dump(exclude_none=True) for block in got.get_final_message().content]
            else:
                first = sdk.messages.create(model="m", max_tokens=9, messages=QUESTION)
                content = [block.model_dump(exclude_none=True) for block in first.content]
            result = {"type": "tool_result", "tool_use_id": "t1", "content": "x", "x_new": 1}
            turns: Any = [*QUESTION, {"role": "assistant", "content": content}, {"role": "user", "content": [result]}]
            sdk.messages.create(model="m", max_tokens=9, messages=turns)
        assert bodies(rec.path) == [request.body for request in server.requests]
    raw: Any = events(rec.path, "llm_response")[0].payload["raw"]
    assert raw["content"] == THINKING


def test_cache_marks_and_unknown_keys_are_kept(tmp_path: Path) -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    with Loopback(lambda _: Answer(MESSAGES)) as server, record(tmp_path / "t.jsonl") as rec:
        with Anthropic(base_url=server.root, api_key="k") as client:
            sdk = untyped(rec.wrap(client))
            sdk.messages.create(
                model="m",
                max_tokens=9,
                system=[{"type": "text", "text": "s", **mark, "x_new": 1}],
                tools=[{"name": "f", "input_schema": {"type": "object"}, **mark}],
                messages=[
                    {
                        "role": "user",
                        "content": [
                            {
                                "type": "tool_result",
                                "tool_use_id": "t",
                                "content": [{"type": "text", "text": "r", **mark}],
                            }
                        ],
                    }
                ],
                extra_body={"x_top": {"y": None}},
            )
        assert bodies(rec.path) == [server.requests[0].body]
    assert "x_top" in bodies(rec.path)[0]


PNG = "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgAA" * 300_000


def test_images_are_exact_and_stored_once(tmp_path: Path) -> None:
    image = [
        {"type": "image_url", "image_url": {"url": PNG}},
        {"type": "image_url", "image_url": {"url": f"{PNG}AA=="}},
    ]
    messages: list[Any] = [{"role": "user", "content": [*image, {"type": "text", "text": "which?"}]}]
    with Loopback(lambda _: Answer(CHAT)) as server, record(tmp_path / "t.jsonl") as rec:
        with OpenAI(base_url=server.url, api_key="k") as client:
            sdk = untyped(rec.wrap(client))
            for turn in range(3):
                messages.append({"role": "user", "content": [{"type": "text", "text": f"{turn}"}]})
                sdk.chat.completions.create(model="m", messages=messages)
            # A history made anew, as a program does that takes out what is old.
            sdk.chat.completions.create(model="m", messages=[messages[0], messages[-1]])
        assert bodies(rec.path) == [request.body for request in server.requests]
    assert rec.path.stat().st_size < 2.1 * len(PNG)


def documents(sdk: Any) -> None:
    pdf = {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0xLjQK"}
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "r"}, image]}
    turns = [{"role": "user", "content": [{"type": "document", "source": pdf}, result]}]
    sdk.messages.create(model="m", max_tokens=9, messages=turns)


def files(sdk: Any) -> None:
    content = [{"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0xLjQK"}]
    sdk.responses.create(model="m", input=[{"role": "user", "content": content}])


@pytest.mark.parametrize("program", [documents, files])
def test_documents_are_exact(tmp_path: Path, program: Callable[[Any], None]) -> None:
    def answer(received: Received) -> Answer:
        return Answer(MESSAGES if received.path.endswith("/messages") else RESPONSES)

    with Loopback(answer) as server, record(tmp_path / "t.jsonl") as rec:
        with (
            Anthropic(base_url=server.root, api_key="k") as anthropic,
            OpenAI(base_url=server.url, api_key="k") as openai,
        ):
            program(rec.wrap(anthropic if program is documents else openai))
        assert bodies(rec.path) == [server.requests[0].body]


def test_items_of_a_response_go_back_as_they_came(tmp_path: Path) -> None:
    output: list[Any] = [
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "AAA=", "status": "completed"},
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{}", "status": "completed"},
    ]
    with Loopback(lambda _: Answer({**RESPONSES, "output": output})) as server, record(tmp_path / "t.jsonl") as rec:
        with OpenAI(base_url=server.url, api_key="k") as client:
            sdk = untyped(rec.wrap(client))
            more: Any = {"model": "m", "store": False, "include": ["reasoning.encrypted_content"]}
            sdk.responses.create(input="go", **more)
            result = {"type": "function_call_output", "call_id": "c1", "output": "x"}
            sdk.responses.create(input=[*QUESTION, *output, result], **more)
        assert bodies(rec.path) == [request.body for request in server.requests]
    raw: Any = events(rec.path, "llm_response")[0].payload["raw"]
    assert raw["output"] == output


SURROGATE = "ab\ud83d"


def test_text_that_is_no_utf8_is_recorded_and_reads_back_equal(tmp_path: Path) -> None:
    with record(tmp_path / "t.jsonl") as rec:

        @rec.tool
        def read(name: str) -> dict[str, str]:
            return {"\udc88": SURROGATE, "name": name}

        read("\udcff")
        number = rec.log_llm_request(
            provider="p", api="chat.completions", model="m", messages=[{"role": "user", "content": SURROGATE}]
        )
        rec.log_llm_response(number, SURROGATE)
    for line in rec.path.read_bytes().splitlines():
        json.loads(line.decode("utf-8", "strict"))
    found = events(rec.path)
    assert [event.id for event in found] == list(range(len(found)))
    (result,) = events(rec.path, "tool_result")
    assert result.payload["result"] == {"\udc88": SURROGATE, "name": "\udcff"}
    assert bodies(rec.path)[0]["messages"] == [{"role": "user", "content": SURROGATE}]
    assert the_reply(rec.path).payload["text"] == SURROGATE


@only_new
def test_a_wire_body_with_a_lone_surrogate_is_rebuilt(tmp_path: Path) -> None:
    raw = b'{"model": "m", "messages": [{"role": "user", "content": "ab\\ud83d"}]}'
    with (
        Loopback(lambda _: Answer(CHAT)) as server,
        record(tmp_path / "t.jsonl") as rec,
        OpenAI(base_url=server.url, api_key="k") as client,
    ):
        sdk = untyped(rec.wrap(client))
        sdk.post("/chat/completions", cast_to=object, content=raw, options={"headers": {"x": "1"}})
    assert bodies(rec.path) == [json.loads(raw)]
