"""What is read out of files that are whole, torn, corrupt or no traces at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trace_files import START, chat, line, user, write

from runtape.errors import TraceNotFound, TraceUnreadable
from runtape.trace.reader import Reading, read

FIRST = line(0, "run_start", START)
NOTE = line(1, "log", {"message": "a"})
LATER = line(9, "log", {"message": "z"})


def numbers(reading: Reading) -> list[int]:
    return [event.id for event in reading.events]


def only(reading: Reading) -> str:
    assert len(reading.problems) == 1, reading.problems
    return reading.problems[0].reason


def test_a_whole_file_is_read_without_a_problem(tmp_path: Path) -> None:
    reading = read(write(tmp_path / "t.jsonl", FIRST, NOTE))
    assert numbers(reading) == [0, 1]
    assert (reading.problems, reading.truncated) == ([], False)
    assert (reading.events[1].type, reading.events[1].payload, reading.events[1].ts) == (
        "log",
        {"message": "a"},
        NOTE["ts"],
    )


def test_a_torn_tail_is_told_and_the_rest_is_kept(tmp_path: Path) -> None:
    reading = read(write(tmp_path / "t.jsonl", FIRST, NOTE, json.dumps(LATER)[:25], end=""))
    assert numbers(reading) == [0, 1]
    assert reading.truncated
    assert "cut off" in only(reading)
    assert reading.problems[0].line == 3
    assert reading.problems[0].offset == len(json.dumps(FIRST)) + len(json.dumps(NOTE)) + 2


def test_a_torn_line_with_good_lines_behind_it_costs_only_itself(tmp_path: Path) -> None:
    reading = read(write(tmp_path / "t.jsonl", FIRST, json.dumps(NOTE)[:25], LATER))
    assert numbers(reading) == [0, 9]
    assert not reading.truncated
    assert reading.problems[0].line == 2
    assert "not JSON" in only(reading)


@pytest.mark.parametrize("tail", [b"\0" * 4096, json.dumps(NOTE).encode()[:20] + b"\0" * 4096])
def test_a_tail_of_zero_bytes_is_a_torn_tail(tmp_path: Path, tail: bytes) -> None:
    reading = read(write(tmp_path / "t.jsonl", FIRST, NOTE, tail, end=""))
    assert numbers(reading) == [0, 1]
    assert reading.truncated
    assert len(reading.problems) == 1


def test_an_event_behind_zero_bytes_is_read(tmp_path: Path) -> None:
    reading = read(write(tmp_path / "t.jsonl", FIRST, b"\0" * 512 + json.dumps(NOTE).encode()))
    assert numbers(reading) == [0, 1]


def test_byte_order_mark_crlf_blank_lines_and_a_missing_last_line_end_are_no_problem(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(
        b"\xef\xbb\xbf" + b"\r\n".join([json.dumps(FIRST).encode(), b"", b"  ", json.dumps(NOTE).encode()])
    )
    reading = read(path)
    assert numbers(reading) == [0, 1]
    assert (reading.problems, reading.truncated) == ([], False)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("[1, 2]", "a list"),
        ("null", "null"),
        ('"text"', "text"),
        ("3", "a number"),
        ("true", "a boolean"),
        ("{}", "no `id`"),
        ({**NOTE, "id": None}, "no `id`"),
        ({**NOTE, "id": "1"}, "`id` is text"),
        ({**NOTE, "id": 1.5}, "`id` is a number, not a whole number"),
        ({**NOTE, "id": True}, "`id` is a boolean"),
        ({**NOTE, "id": -1}, "`id` is not between"),
        ({**NOTE, "id": 2**80}, "`id` is not between"),
        ({**NOTE, "type": 7}, "`type` is a number"),
        ({**NOTE, "ts": "noon"}, "`ts` is text"),
        ({**NOTE, "payload": [1]}, "`payload` is a list"),
        ({**NOTE, "meta": "m"}, "`meta` is text"),
        ({**NOTE, "parent": "0"}, "`parent` is text"),
        ({**NOTE, "id": 0}, "a second event with the number 0"),
        ("[" * 100_000, "nested too deeply"),
        (json.dumps(NOTE)[:-1] + ',"x":' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deeply"),
        (b'{"id": 1, "type": "\xff"}', ""),
        ("{'id': 1}", ""),
    ],
)
def test_a_line_that_is_no_event_is_set_aside_with_a_reason(tmp_path: Path, bad: Any, reason: str) -> None:
    reading = read(write(tmp_path / "t.jsonl", FIRST, bad, LATER))
    assert numbers(reading) == [0, 9]
    assert reason in only(reading)
    assert reading.problems[0].line == 2


def test_missing_time_payload_meta_and_parent_are_filled_in(tmp_path: Path) -> None:
    event = read(write(tmp_path / "t.jsonl", '{"id": 4, "type": "note"}')).events[0]
    assert (event.ts, event.payload, event.meta, event.parent) == (0.0, {}, {}, None)


def test_a_kind_of_event_that_is_not_known_is_kept(tmp_path: Path) -> None:
    reading = read(write(tmp_path / "t.jsonl", FIRST, line(1, "checkpoint", {"n": 1})))
    assert reading.events[1].type == "checkpoint"
    assert not reading.problems


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400", "-1E+999"])
def test_numbers_that_json_cannot_hold_are_null_with_a_note(tmp_path: Path, number: str) -> None:
    reading = read(write(tmp_path / "t.jsonl", f'{{"id": 0, "type": "log", "payload": {{"x": {number}}}}}'))
    assert reading.events[0].payload == {"x": None}
    assert "read as null" in only(reading)


def test_words_and_exponents_that_only_look_like_them_bring_no_note(tmp_path: Path) -> None:
    payload = {"x": "NaN, Infinity, 1e999", "y": 1e-300, "z": 12e100}
    reading = read(write(tmp_path / "t.jsonl", line(0, "log", payload)))
    assert reading.events[0].payload == payload
    assert not reading.problems


def test_large_integers_are_exact_or_text(tmp_path: Path) -> None:
    digits = "9" * 5000
    text = f'{{"id": 0, "type": "log", "payload": {{"a": 18446744073709551616, "b": {digits}}}}}'
    payload = read(write(tmp_path / "t.jsonl", text)).events[0].payload
    assert payload["a"] == 2**64
    assert payload["b"] in (digits, 10**5000 - 1)


@pytest.mark.parametrize(
    ("request_line", "reason"),
    [
        (chat(3, base=2, messages_append=[]), "builds on"),
        (chat(3, base=3, messages_append=[]), "builds on"),
        (chat(3, base=7, messages_append=[]), "builds on"),
        (chat(3, base=[1], messages_append=[]), "builds on"),
        (chat(3, base=1), "no list of `messages_append`"),
        (chat(3), "no list of `messages`"),
        (chat(3, messages="hi"), "no list of `messages`"),
        (line(3, "llm_request", {"dropped": "x"}), "left out when recorded"),
    ],
)
def test_a_request_that_cannot_be_put_together_is_told(tmp_path: Path, request_line: Any, reason: str) -> None:
    reading = read(write(tmp_path / "t.jsonl", FIRST, chat(1, messages=[user("a")]), NOTE | {"id": 2}, request_line))
    assert numbers(reading) == [0, 1, 2, 3]
    assert "event 3 is kept but cannot be rerun" in only(reading)
    assert reason in only(reading)


@pytest.mark.parametrize("parent", [1, 5, 99])
def test_a_parent_that_does_not_stand_before_its_child_is_told(tmp_path: Path, parent: int) -> None:
    reading = read(write(tmp_path / "t.jsonl", FIRST, line(1, "tool_result", parent=parent), line(5, "log", parent=0)))
    assert numbers(reading) == [0, 1, 5]
    assert f"its parent {parent}" in only(reading)


def test_problems_without_end_are_counted(tmp_path: Path) -> None:
    reading = read(write(tmp_path / "t.jsonl", FIRST, *["?"] * 1500))
    assert len(reading.problems) == 1001
    assert "500 more problems" in reading.problems[-1].reason


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "empty"),
        (b"\n\n \n", "only blanks"),
        (b"\0" * 5000, "zero bytes"),
        (b"\x1f\x8b\x08\x00rest", "gunzip"),
        (b"PK\x03\x04rest", "unzip"),
        (b"SQLite format 3\0", "SQLite"),
        ('{"id": 0}'.encode("utf-16"), "UTF-16"),
        (b"<html></html>", "not a file of JSON lines"),
        (b"\x7fELF\0\0\0\0", "not a file of JSON lines"),
        (b'{"resourceSpans": []}\n', "runtape import"),
        (b'[\n{"role": "user"}\n]', "runtape import"),
        (b"dear diary\n", "no line is JSON"),
        (json.dumps(FIRST).encode()[:30], "runtape import"),
    ],
)
def test_a_file_without_an_event_is_told_for_what_it_is(tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_bytes(content)
    with pytest.raises(TraceUnreadable, match=told) as error:
        read(path)
    assert "odd.jsonl" in str(error.value)


def test_a_missing_file_and_a_path_that_no_system_has_are_not_found(tmp_path: Path) -> None:
    with pytest.raises(TraceNotFound, match="runtape ls"):
        read(tmp_path / "none.jsonl")
    with pytest.raises(TraceNotFound):
        read(tmp_path / "a\0b.jsonl")


def test_a_directory_is_told_as_one(tmp_path: Path) -> None:
    with pytest.raises(TraceUnreadable, match="is a directory"):
        read(tmp_path)


@given(st.binary(max_size=400), st.integers(0, 3))
def test_no_bytes_bring_anything_but_a_reading_or_a_clear_error(
    tmp_path_factory: pytest.TempPathFactory, junk: bytes, at: int
) -> None:
    path = tmp_path_factory.mktemp("junk") / "t.jsonl"
    lines = [json.dumps(event).encode() for event in (FIRST, NOTE, LATER)]
    lines.insert(at, junk.replace(b"\n", b""))
    path.write_bytes(b"\n".join(lines))
    # The junk may swallow a neighbour when it stands first or last, never more.
    assert set(numbers(read(path))) >= {0, 1, 9} - ({9} if at == 3 else set())
