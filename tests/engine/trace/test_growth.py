"""Bodies that go on from one before are stored like bodies that were parsed whole, whatever stands in them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rebuilt_requests import expand

from runtape import canon
from runtape.trace.encoder import Encoder
from runtape.trace.events import Event
from runtape.trace.growth import head_of
from runtape.wire.dialects import dialect_for

CHAT = dialect_for("chat.completions")

texts = st.sampled_from(['"messages":[', "],", "[{", "\\", 'a"b', "é\u2028", "\ud83d", "{}", ""]) | st.text(max_size=4)
message = st.fixed_dictionaries({"role": st.sampled_from(["user", "tool"]), "content": texts}) | texts
others = st.dictionaries(
    st.sampled_from(["model", "tools", "metadata", "input"]), texts | st.lists(message, max_size=2), max_size=3
)


def spelled(body: Any, style: int) -> bytes:
    match style:
        case 0:
            return canon.dumps(body)
        case 1:
            return json.dumps(body).encode()
        case _:
            return json.dumps(body, indent=1, ensure_ascii=False).encode("utf-8", "surrogatepass")


def stored(bodies: list[bytes]) -> list[Any]:
    encoder, events = Encoder(), [Event(0, 0.0, "run_start", {})]
    for number, body in enumerate(bodies, 1):
        delta = encoder.encode_body("openai", CHAT, body)
        payload = {"provider": "openai", **delta.fields}
        events.append(Event(number, 0.0, "llm_request", payload))
        encoder.remember(number, delta, payload)
    return [CHAT.join(expand(events, number)) for number in range(1, len(events))]


@given(
    st.lists(st.tuples(st.lists(message, min_size=1, max_size=3), others, others, st.integers(0, 9)), max_size=6),
    st.integers(0, 2),
)
def test_any_sequence_of_bodies_is_stored_as_it_was_sent(turns: Any, style: int) -> None:
    history: list[Any] = []
    bodies: list[bytes] = []
    for new, before, behind, drop in turns:
        history = [*(history[drop:] if drop < 3 else history), *new]
        body = {**before, "messages": history, **{key: item for key, item in behind.items() if key not in before}}
        bodies.append(spelled(body, style))
    found = stored(bodies)
    assert [canon.dumps(body) for body in map(sorted_keys, found)] == [
        canon.dumps(sorted_keys(canon.loads(body))) for body in bodies
    ]


def sorted_keys(body: Any) -> Any:
    return dict(sorted(body.items()))


USER = '{"role": "user", "content": "a"}'


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ('{"messages": [%s]}', '{"messages": [%s, %s], "messages": [1]}'),
        ('{"messages": [%s]}', '{"messages": [%s, %s], "mess\\u0061ges": [1]}'),
        (
            '{"metadata": {"messages": [%s]}, "messages": [%s]}',
            '{"metadata": {"messages": [%s, 5]}, "messages": [%s, 6]}',
        ),
        (
            '{"metadata": "\\"messages\\": [", "messages": [%s]}',
            '{"metadata": "\\"messages\\": [", "messages": [%s,%s]}',
        ),
        ('{"messages": [%s]}', '{"messages": [%s    , 2 ]}'),
        ('{"messages": [%s]}', '{"messages": [%s]  , "x": 3}'),
        ('{"messages": [1]}', '{"messages": [12]}'),
        ('{"messages": [1]}', '{"messages": [1.5]}'),
        (
            '{"messages": [{"a": 123456789012345678901234567890}]}',
            '{"messages": [{"a": 123456789012345678901234567890}, 1e400]}',
        ),
    ],
)
def test_bodies_that_only_look_alike_are_told_apart(first: str, second: str) -> None:
    bodies = [text.replace("%s", USER).encode() for text in (first, second)]
    assert stored(bodies) == [canon.loads(body) for body in bodies]


def test_a_body_that_goes_on_is_known_by_its_bytes() -> None:
    body = {"messages": [{"content": "x"}] * 3, "model": "m"}
    raw = canon.dumps(body)  # type: ignore[arg-type]
    head = head_of(raw, body, "messages", body["messages"])  # type: ignore[arg-type]
    assert head is not None
    longer = canon.dumps({"messages": [*body["messages"], {"content": "y"}], "model": "n"})  # type: ignore[misc,list-item]
    assert head.rest(longer) == {"messages": [{"content": "y"}], "model": "n"}
    assert head.rest(raw) == {"messages": [], "model": "m"}


def test_a_changed_message_in_the_middle_stores_only_itself() -> None:
    encoder = Encoder()
    history = [{"role": "user", "content": str(number)} for number in range(50)]
    first = encoder.encode_body("openai", CHAT, canon.dumps({"messages": history}))  # type: ignore[dict-item]
    encoder.remember(1, first, {"provider": "openai", **first.fields})
    changed = [*history[:7], {"role": "user", "content": "new"}, *history[8:], {"role": "user", "content": "last"}]
    second = encoder.encode_body("openai", CHAT, canon.dumps({"messages": changed}))  # type: ignore[dict-item]
    assert second.fields["base"] == 1
    assert second.fields["messages_parts"] == [
        {"keep": [0, 7]},
        {"new": [changed[7]]},
        {"keep": [8, 50]},
        {"new": [changed[50]]},
    ]
