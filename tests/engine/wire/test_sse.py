from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wire_bodies import json_values, law

from runtape.wire.sse import Decoder, decode

events = st.lists(json_values.map(lambda value: {"a": value}), max_size=4)


def spelled(values: list[Any], end: str) -> bytes:
    lines = [line for value in values for line in ("event: message", f"data: {json.dumps(value)}", "id: 7", "")]
    return (end.join([": comment", *lines]) + end).encode()


@law
@given(events, st.sampled_from(["\n", "\r\n", "\r"]), st.data())
def test_events_come_out_however_the_bytes_are_cut(values: list[Any], end: str, data: Any) -> None:
    whole = spelled(values, end)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(whole)))))
    chunks = [whole[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert list(decode(chunks)) == values
    decoder = Decoder()
    assert [value for chunk in chunks for value in decoder.feed(chunk)] + decoder.close() == values


def test_an_event_is_given_as_soon_as_its_blank_line_is_there() -> None:
    decoder = Decoder()
    assert decoder.feed(b'data: {"a":') == []
    assert decoder.feed(b"1}\n") == []
    assert decoder.feed(b'\ndata: {"a": 2}\r\n\r') == [{"a": 1}, {"a": 2}]
    assert decoder.feed(b'\ndata: {"a": 3}\r\r') == [{"a": 3}]
    assert decoder.close() == []


def test_characters_cut_in_the_middle_are_put_together() -> None:
    data = 'data: {"text": "ünï 😀"}\n\n'.encode()
    assert list(decode(data[at : at + 1] for at in range(len(data)))) == [{"text": "ünï 😀"}]


@pytest.mark.parametrize(
    ("stream", "data"),
    [
        (b'\xef\xbb\xbfdata:{"a":1}\n\n', [{"a": 1}]),
        (b'data: {"a":\ndata: 1}\n\n', [{"a": 1}]),
        (b'data: {"a":1}', [{"a": 1}]),
        (b'data: {"a":1}\n', [{"a": 1}]),
        (b'data: {"a":1}\n\ndata: [DONE]\n\n', [{"a": 1}, "[DONE]"]),
        (b'event: ping\n\n: keep-alive\n\nretry: 10\n\ndata: {"a":1}\n\n', [{"a": 1}]),
        (b'data: {"a":1}\n\ndata: {"a": tr', [{"a": 1}, '{"a": tr']),
        (b"data: not json\n\n", ["not json"]),
        (b'data: {"a":NaN,"b":18446744073709551616}\n\n', [{"a": None, "b": 18446744073709551616}]),
        (b'data: {"a":"\xff"}\n\n', [{"a": "\N{REPLACEMENT CHARACTER}"}]),
        (b"data\n\ndata:\n\n", []),
        (b"", []),
        (b"\n\n\r\n\r\r", []),
    ],
)
def test_streams_as_servers_send_them(stream: bytes, data: list[Any]) -> None:
    assert list(decode([stream])) == data
