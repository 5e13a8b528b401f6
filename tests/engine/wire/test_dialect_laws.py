"""What every dialect promises, held against bodies of all shapes."""

from __future__ import annotations

import contextlib
import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wire_bodies import API, BODY, json_values, law, leaves, walk, words
from wire_streams import REPLY, STREAM

from runtape import canon
from runtape.wire.dialect import UnreadableReply
from runtape.wire.dialects import dialect_for
from runtape.wire.editing import without

every_api = pytest.mark.parametrize("api", API)


def broken(draw: Any, body: Any) -> Any:
    """A copy of `body` with any JSON in place of one of its values."""
    path, _ = draw(st.sampled_from(list(walk(body))))
    changed: Any = {"whole": copy.deepcopy(body)}
    whole = ("whole", *path)
    at(changed, whole[:-1])[whole[-1]] = draw(json_values)
    return changed["whole"]


def at(body: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        body = body[step]
    return body


@every_api
@law
@given(data=st.data())
def test_a_body_taken_apart_and_put_together_is_the_body(api: str, data: Any) -> None:
    dialect, body = dialect_for(api), data.draw(BODY[api] | st.dictionaries(words, json_values))
    assert dialect.join(dialect.split(body)) == body
    assert canon.digest(dialect.join(dialect.split(body))) == canon.digest(body)


@every_api
@pytest.mark.parametrize("key", ["model", "messages", "input", "system", "instructions", "tools"])
@pytest.mark.parametrize("value", [None, [], {}, "", "text", 0, ["text"], ["a", "b"], [None], [{}]])
def test_absent_null_empty_and_odd_values_of_a_part_stay_what_they_are(api: str, key: str, value: Any) -> None:
    dialect = dialect_for(api)
    rest: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "x"}], "temperature": 1}
    without = {k: v for k, v in rest.items() if k != key}
    for body in ({**rest, key: value}, without, {key: value}):
        assert dialect.join(dialect.split(body)) == body


@every_api
@law
@given(data=st.data())
def test_put_back_what_stands_there_and_nothing_changes(api: str, data: Any) -> None:
    dialect, body = dialect_for(api), data.draw(BODY[api])
    for slot in dialect.slots(body):
        if slot.form == "text":
            assert at(body, slot.path) == slot.text
        if slot.form == "json":
            assert canon.loads(slot.text) == at(body, slot.path)
        assert dialect.put(body, slot, slot.text) == body


@every_api
@law
@given(data=st.data(), text=words)
def test_put_changes_one_place_only(api: str, data: Any, text: str) -> None:
    dialect, body = dialect_for(api), data.draw(BODY[api])
    slots = dialect.slots(body)
    assert len({slot.path for slot in slots}) == len(slots)
    for slot in slots:
        if slot.form == "text":
            assert leaves(dialect.put(body, slot, text)) == {**leaves(body), slot.path: text}
        elif slot.form == "json":
            changed = dialect.put(body, slot, canon.dumps({text: 1}).decode())
            assert at(changed, slot.path) == {text: 1}
            assert without(changed, [slot.path]) == without(body, [slot.path])


@every_api
@law
@given(data=st.data())
def test_what_is_left_out_is_gone_and_nothing_else(api: str, data: Any) -> None:
    dialect, body = dialect_for(api), data.draw(BODY[api])
    slots = [slot for slot in dialect.slots(body) if slot.kind == "tool_definition" or slot.form == "reasoning"]
    some = data.draw(st.lists(st.sampled_from(slots), unique_by=lambda slot: slot.path)) if slots else []
    left = without(body, [slot.path for slot in some])
    removed = [slot.path for slot in some]
    kept = [value for path, value in leaves(body).items() if not any(path[: len(gone)] == gone for gone in removed)]
    empty = ([], {})
    assert [value for value in leaves(left).values() if value not in empty] == [
        value for value in kept if value not in empty
    ]


@every_api
@law
@given(data=st.data())
def test_a_slot_names_the_message_it_stands_in(api: str, data: Any) -> None:
    dialect, body = dialect_for(api), data.draw(BODY[api])
    messages = dialect.split(body).messages
    order = []
    for slot in dialect.slots(body):
        if slot.message >= 0:
            # The path goes through the message: key of the messages, index, and on.
            assert at(messages[slot.message], slot.path[2:]) == at(body, slot.path)
        order.append((slot.kind == "tool_definition", slot.message))
    assert order == sorted(order), "system first, then messages in order, then tool definitions"


@every_api
@law
@given(data=st.data(), text=words)
def test_the_system_prompt_set_is_the_system_prompt_read(api: str, data: Any, text: str) -> None:
    dialect, body = dialect_for(api), data.draw(BODY[api])
    if api == "completions":
        return  # it has no system prompt
    changed = dialect.with_system(body, text)
    assert dialect.system_text(changed) == text
    if dialect.system_text(body) is not None:
        kept = [slot for slot in dialect.slots(body) if slot.kind != "system"]
        assert [slot for slot in dialect.slots(changed) if slot.kind != "system"] == kept


@every_api
@law
@given(data=st.data())
def test_a_rerun_leaves_out_transport_keys_alone_and_names_them(api: str, data: Any) -> None:
    dialect, body = dialect_for(api), data.draw(BODY[api])
    again, dropped = dialect.for_rerun(body)
    assert {**again, **{key: body[key] for key in dropped}} == body
    assert set(dropped) == {"stream", "stream_options", "seed", *(["background"] if api == "responses" else [])} & set(
        body
    )


@every_api
@law
@given(data=st.data())
def test_no_argument_is_ever_edited(api: str, data: Any) -> None:
    dialect, body = dialect_for(api), data.draw(BODY[api])
    before = copy.deepcopy(body)
    parts = dialect.split(body)
    parts.messages.append("more")
    parts.params["more"] = 1
    dialect.join(parts)["more"] = 1
    for slot in dialect.slots(body):
        with contextlib.suppress(ValueError):  # reasoning is not to be changed
            dialect.put(body, slot, '{"new": 1}')
    dialect.with_system(body, "new")
    dialect.with_samples(body, 3)
    dialect.for_rerun(body)[0]["more"] = 1
    reply = data.draw(REPLY[api])
    events, _ = STREAM[api](data.draw, reply)
    events_before, reply_before = copy.deepcopy(events), copy.deepcopy(reply)
    dialect.assemble(events)
    dialect.replies(reply)
    assert (body, events, reply) == (before, events_before, reply_before)


@every_api
@law
@given(data=st.data())
def test_a_stream_adds_up_to_the_reply_it_streams(api: str, data: Any) -> None:
    dialect, body = dialect_for(api), data.draw(REPLY[api])
    events, _ = STREAM[api](data.draw, body)
    assembled = dialect.assemble(events)
    assert assembled.complete
    assert dialect.replies(assembled.body) == dialect.replies(body)
    if api != "chat.completions":  # whose stream leaves out what is null or empty
        assert assembled.body == body


@every_api
@law
@given(data=st.data())
def test_a_stream_cut_anywhere_gives_what_came(api: str, data: Any) -> None:
    dialect, body = dialect_for(api), data.draw(REPLY[api])
    events, needed = STREAM[api](data.draw, body)
    cut = data.draw(st.integers(0, len(events)))
    assembled = dialect.assemble(events[:cut])
    assert assembled.complete == (cut >= needed)
    try:
        replies = dialect.replies(assembled.body)
    except UnreadableReply:
        assert cut == 0 or not body.get("content", True)
        return
    for part, whole in zip(replies, dialect.replies(body), strict=False):
        assert (whole.text or "").startswith(part.text or "")
        assert [call.name for call in part.tool_calls] == [call.name for call in whole.tool_calls][
            : len(part.tool_calls)
        ]
        for mine, theirs in zip(part.tool_calls, whole.tool_calls, strict=False):
            assert mine.id == theirs.id
            assert cut < needed or mine == theirs


@every_api
@law
@given(data=st.data())
def test_replies_of_any_json_are_replies_or_unreadable(api: str, data: Any) -> None:
    dialect = dialect_for(api)
    body = data.draw(json_values) if data.draw(st.booleans()) else broken(data.draw, data.draw(REPLY[api]))
    with contextlib.suppress(UnreadableReply):
        assert dialect.replies(body)


@every_api
@law
@given(data=st.data())
def test_no_request_is_too_odd_to_be_taken_apart(api: str, data: Any) -> None:
    dialect, body = dialect_for(api), data.draw(BODY[api])
    odd = broken(data.draw, body)
    if isinstance(odd, dict):
        assert dialect.join(dialect.split(odd)) == odd
        for slot in dialect.slots(odd):
            assert dialect.put(odd, slot, slot.text) == odd
        dialect.system_text(odd)
        dialect.for_rerun(odd)


@every_api
@law
@given(data=st.data())
def test_no_stream_is_too_odd_to_be_put_together(api: str, data: Any) -> None:
    dialect = dialect_for(api)
    events, _ = STREAM[api](data.draw, data.draw(REPLY[api]))
    odd = broken(data.draw, events)
    canon.dumps(dialect.assemble(odd if isinstance(odd, list) else [odd]).body)


@every_api
def test_text_put_where_there_is_none_is_refused(api: str) -> None:
    dialect = dialect_for(api)
    body: Any = {"system": "s", "input": "i", "prompt": "p", "messages": [{"role": "user", "content": "c"}]}
    slot = next(slot for slot in dialect.slots(body) if slot.kind == "user")
    with pytest.raises(ValueError, match="the request has no text at"):
        dialect.put({"messages": [], "input": [], "prompt": []}, slot, "new")


@every_api
@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        "text",
        3,
        {},
        {"error": {"message": "no such model", "type": "x"}},
        {"error": "bad"},
        {"type": "error", "error": {"message": "overloaded"}},
    ],
)
def test_an_error_or_nothing_is_no_reply(api: str, body: Any) -> None:
    with pytest.raises(UnreadableReply):
        dialect_for(api).replies(body)


@every_api
def test_an_unreadable_reply_says_what_the_provider_said(api: str) -> None:
    with pytest.raises(UnreadableReply, match="no such model"):
        dialect_for(api).replies({"error": {"message": "no such model", "type": "invalid_request_error"}})
