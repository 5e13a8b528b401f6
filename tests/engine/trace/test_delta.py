"""Requests stored as deltas come back as they were sent, whatever was sent in between."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rebuilt_requests import expand
from trace_files import START, chat, line, load, user

from runtape import canon
from runtape.errors import BrokenRequest
from runtape.trace.encoder import Encoder
from runtape.trace.events import Event
from runtape.wire.dialects import dialect_for
from runtape.wire.values import Json, JsonObject, Parts

scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.0, 1.0, -0.0]) | st.text(max_size=3)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)
messages = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant"]), "content": st.sampled_from(["a", "b"]) | values}
    )
    | values,
    max_size=5,
)
prompts = st.none() | st.sampled_from(["S1", "S2", [{"type": "text", "text": "S3"}], ""])
tools = st.none() | st.sampled_from([[], [{"name": "f"}], [{"name": "f", "x": 1}], [{"name": "f", "x": 1.0}]])
parts = st.builds(
    Parts,
    model=st.none() | st.just("m"),
    system=prompts,
    messages=messages,
    tools=tools,
    params=st.dictionaries(st.sampled_from(["temperature", "n", "stream"]), values, max_size=2),
)
grown = st.lists(st.tuples(st.sampled_from(["openai", "anthropic"]), parts, st.booleans()), max_size=12)


def log(sent: list[tuple[str, Parts]]) -> list[Event]:
    encoder, events = Encoder(), [Event(0, 0.0, "run_start", dict(START))]
    for number, (provider, request) in enumerate(sent, 1):
        delta = encoder.encode(provider, request)
        payload: JsonObject = {"provider": provider, **delta.fields}
        events.append(Event(number, 0.0, "llm_request", payload))
        encoder.remember(number, delta, payload)
    return events


def json_of(value: Any) -> bytes:
    return canon.dumps(value)


def same(found: Parts, sent: Parts) -> bool:
    """Equal as JSON text: 1, 1.0 and true are three values."""
    return all(
        json_of(getattr(found, name)) == json_of(getattr(sent, name))
        for name in ("model", "system", "messages", "tools", "params")
    )


@given(grown)
def test_any_sequence_of_requests_comes_back_as_sent(sent: list[tuple[str, Parts, bool]]) -> None:
    conversation: list[tuple[str, Parts]] = []
    for provider, request, goes_on in sent:
        before = conversation[-1][1].messages if goes_on and conversation else []
        whole = Parts(request.model, request.system, before + request.messages, request.tools, request.params)
        conversation.append((provider, whole))
    events = log(conversation)
    for number, (_, request) in enumerate(conversation, 1):
        assert same(expand(events, number), request)


bodies = st.fixed_dictionaries(
    {"model": st.just("m")},
    optional={
        "messages": st.none()
        | st.lists(st.fixed_dictionaries({"role": st.just("user"), "content": st.text(max_size=2)}), max_size=3),
        "system": prompts,
        "tools": tools,
        "instructions": st.none() | st.just("I"),
        "input": st.none() | st.just("hi") | st.just(["hi"]) | st.just([{"role": "user", "content": "x"}]),
        "temperature": st.sampled_from([None, 0, 0.0, 1]),
    },
)


@given(st.sampled_from(["chat.completions", "responses", "messages"]), st.lists(bodies, max_size=6))
def test_any_sequence_of_bodies_is_rebuilt_with_absent_null_and_empty_told_apart(
    api: str, sent: list[dict[str, Json]]
) -> None:
    dialect = dialect_for(api)
    events = log([("p", dialect.split(body)) for body in sent])
    for number, body in enumerate(sent, 1):
        rebuilt = dialect.join(expand(events, number))
        assert canon.digest(rebuilt) == canon.digest(body)


def conversation(turns: int) -> list[tuple[str, Parts]]:
    history: list[Json] = [user(f"turn {turn} " + "x" * 2000) for turn in range(turns)]
    return [("openai", Parts("m", "S", history[: turn + 1], [{"name": "f"}], {})) for turn in range(turns)]


def test_a_growing_conversation_stores_each_message_once() -> None:
    events = log(conversation(40))
    assert events[1].payload["messages"]
    assert all(len(event.payload["messages_append"]) == 1 for event in events[2:])  # type: ignore[arg-type]  # a list
    assert all("system" not in event.payload and "tools" not in event.payload for event in events[2:])
    assert [event.payload.get("base") for event in events[2:5]] == [1, 2, 3]
    sizes = [len(canon.dumps(event.payload)) for event in events[2:]]
    assert max(sizes) - min(sizes) < 10


def test_two_conversations_at_once_each_go_on_from_their_own_last_request() -> None:
    one = [("openai", Parts("m", "A", [user(f"a{i}") for i in range(n)], None, {})) for n in (1, 2, 3)]
    two = [("openai", Parts("m", "B", [user(f"b{i}") for i in range(n)], None, {})) for n in (1, 2, 3)]
    sent = [request for pair in zip(one, two, strict=True) for request in pair]
    events = log(sent)
    assert [event.payload.get("base") for event in events[1:]] == [None, None, 1, 2, 3, 4]
    # A reader takes the system prompt from the request before in the file, so each change is written.
    assert [event.payload.get("system") for event in events[1:]] == ["A", "B", "A", "B", "A", "B"]


def test_a_branch_starts_from_the_longest_common_beginning() -> None:
    a, b, c, d = (user(name) for name in "abcd")
    events = log([("p", Parts("m", None, list(sent), None, {})) for sent in ([a], [a, b], [a, b, c], [a, b, d])])
    assert events[4].payload["base"] == 2
    assert events[4].payload["messages_append"] == [d]


def test_a_prompt_taken_away_is_written_as_null() -> None:
    events = log([("p", Parts("m", system, [], None, {})) for system in ("S", "S", None, None)])
    assert [event.payload.get("system", "absent") for event in events[1:]] == ["S", "absent", None, "absent"]


def test_a_request_that_was_not_written_is_no_base() -> None:
    encoder = Encoder()
    first = Parts("m", "S", [user("a")], None, {})
    encoder.encode("p", first)
    after = encoder.encode("p", Parts("m", "S", [user("a"), user("b")], None, {}))
    assert "base" not in after.fields
    assert after.fields["system"] == "S"


@pytest.mark.parametrize(
    "redacted",
    [
        {"provider": "p", "tools": [], "params": {}, "model": "m"},
        {"provider": "p", "tools": [], "params": {}, "model": "m", "system": "S", "messages": []},
        {"provider": "p", "params": {}, "model": "m", "system": "S", "messages": [user("x")]},
        {"provider": "other", "tools": [], "params": {}, "model": "m", "system": "S", "messages": [user("x")]},
    ],
)
def test_a_request_that_redaction_took_something_from_is_no_base(redacted: JsonObject) -> None:
    encoder = Encoder()
    first = Parts("m", "S", [user("a")], [{"name": "f"}], {})
    encoder.remember(1, encoder.encode("p", first), redacted)
    second = Parts("m", "S", [user("a"), user("b")], [{"name": "f"}], {})
    delta = encoder.encode("p", second)
    events = [Event(1, 0.0, "llm_request", redacted), Event(2, 0.0, "llm_request", {"provider": "p", **delta.fields})]
    assert expand(events, 2) == second


def test_a_request_with_its_words_replaced_is_still_a_base() -> None:
    encoder = Encoder()
    sent = Parts("m", None, [user("my key")], None, {})
    delta = encoder.encode("p", sent)
    encoder.remember(1, delta, {"provider": "p", **delta.fields, "messages": [user("[redacted]")]})
    assert encoder.encode("p", Parts("m", None, [user("my key"), user("b")], None, {})).fields["base"] == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_child_writes_its_first_request_whole() -> None:
    encoder = Encoder()
    sent = Parts("m", "S", [user("a")], None, {})
    delta = encoder.encode("p", sent)
    encoder.remember(1, delta, {"provider": "p", **delta.fields})
    child = os.fork()
    if child == 0:  # pragma: no cover -- in the child
        fields = encoder.encode("p", sent).fields
        os._exit(0 if fields.get("messages") == sent.messages and fields.get("system") == "S" else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert encoder.encode("p", sent).fields["base"] == 1


def test_a_long_conversation_is_expanded_without_recursion_and_in_linear_time() -> None:
    events = [Event(1, 0.0, "llm_request", {"provider": "p", "messages": [user("0")]})]
    events += [
        Event(n, 0.0, "llm_request", {"provider": "p", "base": n - 1, "messages_append": [user(str(n - 1))]})
        for n in range(2, 5001)
    ]
    started = time.process_time()
    assert expand(events, 5000).messages == [user(str(n)) for n in range(5000)]
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([chat(5, base=9, messages_append=[])], "event 9, on which event 5 builds, is not in this trace"),
        ([chat(5, base=5, messages_append=[])], "event 5 cannot be put together: it builds on itself"),
        (
            [chat(3, base=5, messages_append=[]), chat(5, base=3, messages_append=[])],
            "builds on itself, by way of event 5",
        ),
        ([chat(5, base="1", messages_append=[])], "event 5: `base` is not an event number"),
        ([chat(5, base=3), chat(3, messages=[])], "event 5: `messages_append` is not a list"),
        ([chat(5, messages={"a": 1})], "event 5: `messages` is not a list"),
        ([chat(5, messages=[], params=[1])], "event 5: `model` must be text and `params` an object"),
        ([chat(5, messages=[], model=7)], "event 5: `model` must be text"),
        ([line(5, "log")], "event 5 is not in this trace as a request"),
        ([line(5, "llm_request", {"dropped": "redaction failed"})], "event 5 is not in this trace as a request"),
        (
            [chat(5, base=3, messages_append=[]), line(3, "llm_request", {"dropped": "x"})],
            "event 3, on which event 5 builds",
        ),
    ],
)
def test_what_cannot_be_put_together_is_an_error_with_the_events_number(
    lines: list[Any], told: str, tmp_path: Path
) -> None:
    events = load(tmp_path / "t.jsonl", *lines).events
    with pytest.raises(BrokenRequest) as error:
        expand(events, 5)
    assert told in str(error.value)
