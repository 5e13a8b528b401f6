"""A reply that was put together from a stream can be streamed again."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loopback import Answer, Loopback
from wire_bodies import API, law
from wire_streams import REPLY, STREAM

from runtape.wire.dialects import dialect_for
from runtape.wire.sse import decode, encode

few = settings(max_examples=15, deadline=None)


@pytest.mark.parametrize("api", API)
@law
@given(data=st.data())
def test_what_is_streamed_again_adds_up_to_the_same_reply(api: str, data: Any) -> None:
    dialect = dialect_for(api)
    events, _ = STREAM[api](data.draw, data.draw(REPLY[api]))
    heard = dialect.assemble(events[: data.draw(st.integers(1, len(events)))])
    again = [encode(event) for event in dialect.streamed(heard.body, complete=heard.complete)]
    assert dialect.assemble(decode(again)) == heard


def plain(data: Any, api: str) -> Any:
    """A reply without lone surrogates, at which the SDKs stop."""
    return json.loads(json.dumps(data.draw(REPLY[api]), ensure_ascii=False).replace("\ud83d", "?"))


def streamed(api: str, body: Any) -> Answer:
    return Answer(chunks=[encode(event) for event in dialect_for(api).streamed(body, complete=True)])


@few
@given(data=st.data())
def test_openai_s_sdk_reads_a_chat_streamed_again(data: Any) -> None:
    body = plain(data, "chat.completions")
    for choice in body["choices"]:  # the helper raises in place of giving back an answer that was cut
        choice["finish_reason"] = "stop"
    with (
        Loopback(lambda _: streamed("chat.completions", body)) as server,
        openai.OpenAI(base_url=server.url, api_key="k") as client,
        client.chat.completions.stream(model="m", messages=[]) as stream,
    ):
        theirs = stream.get_final_completion().model_dump()
    chat = dialect_for("chat.completions")
    assert chat.replies(theirs) == chat.replies(body)


@few
@given(data=st.data())
def test_openai_s_sdk_reads_a_responses_answer_streamed_again(data: Any) -> None:
    body = {**plain(data, "responses"), "status": "completed"}  # the helper knows no other end
    with (
        Loopback(lambda _: streamed("responses", body)) as server,
        openai.OpenAI(base_url=server.url, api_key="k") as client,
        client.responses.stream(model="m", input="x") as stream,
    ):
        theirs = stream.get_final_response().model_dump()
    responses = dialect_for("responses")
    assert responses.replies(theirs) == responses.replies(body)


@few
@given(data=st.data())
def test_anthropic_s_sdk_reads_a_message_streamed_again(data: Any) -> None:
    body = plain(data, "messages")
    with (
        Loopback(lambda _: streamed("messages", body)) as server,
        anthropic.Anthropic(base_url=server.url, api_key="k") as client,
        client.messages.stream(model="m", max_tokens=9, messages=[]) as stream,
    ):
        theirs = stream.get_final_message().model_dump()
    messages = dialect_for("messages")
    assert messages.replies(theirs) == messages.replies(body)
