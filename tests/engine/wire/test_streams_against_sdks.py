"""The providers' own SDKs read the streams that the other tests draw, and come to the same replies."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import openai
from hypothesis import given, settings
from hypothesis import strategies as st
from loopback import Answer, Loopback, sse
from wire_streams import REPLY, STREAM

from runtape.wire.dialects import dialect_for
from runtape.wire.sse import decode

few = settings(max_examples=15, deadline=None)


def drawn_reply(data: Any, api: str) -> Any:
    """A reply without lone surrogates, at which the SDKs stop."""
    return json.loads(json.dumps(data.draw(REPLY[api]), ensure_ascii=False).replace("\ud83d", "?"))


def openai_chunks(events: list[Any]) -> list[bytes]:
    return sse(*[event for event in events if event != "[DONE]"], done="[DONE]" in events)


def anthropic_chunks(events: list[Any]) -> list[bytes]:
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events]


@few
@given(data=st.data())
def test_openai_s_own_reading_of_a_chat_stream_is_ours(data: Any) -> None:
    body = drawn_reply(data, "chat.completions")
    for choice in body["choices"]:  # the helper raises in place of giving back an answer that was cut
        choice["finish_reason"] = "stop"
    events, _ = STREAM["chat.completions"](data.draw, body)
    chunks = openai_chunks(events)
    with (
        Loopback(lambda _: Answer(chunks=chunks)) as server,
        openai.OpenAI(base_url=server.url, api_key="k") as client,
        client.chat.completions.stream(model="m", messages=[]) as stream,
    ):
        theirs = stream.get_final_completion().model_dump()
    chat = dialect_for("chat.completions")
    assert chat.replies(chat.assemble(decode(chunks)).body) == chat.replies(theirs)


@few
@given(data=st.data())
def test_openai_s_own_reading_of_a_responses_stream_is_ours(data: Any) -> None:
    events, _ = STREAM["responses"](data.draw, drawn_reply(data, "responses"))
    chunks = openai_chunks(events)
    with (
        Loopback(lambda _: Answer(chunks=chunks)) as server,
        openai.OpenAI(base_url=server.url, api_key="k") as client,
        client.responses.stream(model="m", input="x") as stream,
    ):
        last: Any = list(stream)[-1]
    responses = dialect_for("responses")
    assert responses.replies(responses.assemble(decode(chunks)).body) == responses.replies(last.response.model_dump())


@few
@given(data=st.data())
def test_anthropic_s_own_reading_of_a_stream_is_ours(data: Any) -> None:
    events, _ = STREAM["messages"](data.draw, drawn_reply(data, "messages"))
    chunks = anthropic_chunks(events)
    with (
        Loopback(lambda _: Answer(chunks=chunks)) as server,
        anthropic.Anthropic(base_url=server.root, api_key="k") as client,
        client.messages.stream(model="m", max_tokens=9, messages=[]) as stream,
    ):
        theirs = stream.get_final_message().model_dump()
    messages = dialect_for("messages")
    assert messages.replies(messages.assemble(decode(chunks)).body) == messages.replies(theirs)
