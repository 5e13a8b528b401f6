"""Whatever the program hands to the recorder: no exception, and an event that tells what it was."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from provider import events

from runtape.cli.main import run
from runtape.record import Recorder, record
from runtape.trace.reader import read
from runtape.trace.store import Store


class Hostile:
    """Raises whatever is done with it."""

    def __str__(self) -> str:
        raise RuntimeError

    __repr__ = __iter__ = __len__ = __fspath__ = keys = items = __str__


ODD: list[Any] = [
    None,
    3,
    -1,
    True,
    1.5,
    float("nan"),
    b"x",
    "x",
    [],
    [[1]],
    {1: 2},
    {"a": object()},
    object(),
    Hostile(),
    iter([1]),
    int,
    2**80,
    ValueError("x"),
    "\ud800",
]


def test_a_change_of_the_working_directory_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    for begin in (lambda: record("t.jsonl"), lambda: record(name="n", dir="d"), lambda: record(name="n")):
        os.chdir(tmp_path)
        with begin() as rec:
            assert rec.path.is_absolute()
            os.chdir(tmp_path / "elsewhere")
            rec.note("after")
            if hasattr(os, "fork") and rec.path.name == "t.jsonl":
                child = os.fork()
                if child == 0:
                    rec.note("child")
                    os._exit(0)
                os.waitpid(child, 0)
                assert [path.name for path in tmp_path.glob("t.*.jsonl")] == [f"t.{child}.jsonl"]
        assert [event.type for event in events(rec.path)][-2:] == ["log", "run_end"]
    assert not list((tmp_path / "elsewhere").rglob("*"))
    assert capsys.readouterr().err.count("\n") == 3  # that there was no model call; nothing else


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
@pytest.mark.parametrize("argument", ["path", "name", "dir", "tags", "redact", "capture", "strict"])
def test_no_argument_of_record_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argument: str, odd: Any) -> None:
    monkeypatch.chdir(tmp_path)
    if argument == "strict" and odd in (True, "x"):
        pass
    with record(**{argument: odd}) as rec:
        rec.note("x")
    assert isinstance(rec.path, Path)


@pytest.mark.parametrize(
    "path", ["a\0b.jsonl", "x" * 300 + ".jsonl", "d/" * 3000, "", "."], ids=["nul", "long", "deep", "empty", "folder"]
)
def test_a_path_that_no_system_has_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], path: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with record(path) as rec:
        assert rec.note("x") == -1
    told = capsys.readouterr().err
    assert told.startswith("runtape: ")
    assert told.count("\n") == 1
    with pytest.raises((OSError, ValueError)):
        record(path, strict=True)


@pytest.mark.parametrize("argv", [None, [], [None], [""], ["\0"], 3, ["-c"]], ids=str)
def test_a_program_without_arguments_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argv: Any) -> None:
    monkeypatch.setattr(sys, "argv", argv)
    with record(dir=tmp_path) as rec:
        rec.note("x")
    assert [event.type for event in events(rec.path)] == ["run_start", "log", "run_end"]


def test_a_working_directory_that_is_gone_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with record("t.jsonl") as rec:
        rec.note("x")
    assert "not recorded" in capsys.readouterr().err


@given(
    name=st.text(max_size=40)
    | st.sampled_from(["eval..3", "...", "a..b..c", "x" * 300, "last", "-", ".hidden", "~root", "C:x", "a/b", "a\\b"])
)
def test_what_is_recorded_under_any_name_is_listed_and_found(
    tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    folder = tmp_path_factory.mktemp("traces")
    with record(name=name, dir=folder) as rec:
        rec.note("x")
    (row,) = Store(folder).listing()
    assert Store(folder).find(row.name) == rec.path


@pytest.mark.skipif(os.name != "posix", reason="these names hold what other systems refuse")
@pytest.mark.parametrize("name", ["a..b", "C:x", "~x", "a\\b", "a b", "last", "\x1b[31m", "é\u202e"])
def test_every_trace_that_is_listed_can_be_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    with record(tmp_path / f"{name}.jsonl") as rec:
        rec.note("found it")
    monkeypatch.setenv("RUNTAPE_DIR", str(tmp_path))
    (row,) = Store(tmp_path).listing()
    assert run(["show", row.name]) == 0
    assert "found it" in capsys.readouterr().out


def test_a_name_too_long_for_a_file_is_a_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RUNTAPE_DIR", str(tmp_path))
    for name in ("x" * 300, str(tmp_path / ("x" * 300)), "x" * 5000):
        assert run(["show", name]) == 2
        said = capsys.readouterr()
        assert "there is no trace" in said.err
        assert "Traceback" not in said.err


CALLS: list[Callable[[Recorder, Any], Any]] = [
    lambda rec, odd: rec.note(odd),
    lambda rec, odd: rec.note("x", fact=odd),
    lambda rec, odd: rec.state(odd, odd),
    lambda rec, odd: rec.error(odd),
    lambda rec, odd: rec.log_llm_request(provider=odd, api="chat.completions", model="m", messages=[]),
    lambda rec, odd: rec.log_llm_request(provider="p", api=odd, model="m", messages=[]),
    lambda rec, odd: rec.log_llm_request(provider="p", api="chat.completions", model=odd, messages=[]),
    lambda rec, odd: rec.log_llm_request(provider="p", api="chat.completions", model="m", messages=odd),
    lambda rec, odd: rec.log_llm_request(
        provider="p", api="messages", model="m", messages=[odd], system=odd, tools=odd, params=odd, endpoint=odd
    ),
    lambda rec, odd: rec.log_llm_response(odd, "text"),
    lambda rec, odd: rec.log_llm_response(1, odd),
    lambda rec, odd: rec.log_llm_response(1, tool_calls=odd),
    lambda rec, odd: rec.log_llm_response(1, tool_calls=[odd], stop_reason=odd, raw=odd, latency_ms=odd),
]


def test_no_event_by_hand_raises_or_is_lost(tmp_path: Path) -> None:
    with record(tmp_path / "t.jsonl") as rec:
        numbers = [call(rec, odd) for call in CALLS for odd in ODD]
    found = {event.id: event for event in read(rec.path).events}
    assert sorted(numbers) == sorted(found.keys() - {0, max(found)})
    assert "failures" not in found[max(found)].payload


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
def test_any_end_of_a_run_is_written(tmp_path: Path, odd: Any) -> None:
    rec = record(tmp_path / "t.jsonl")
    rec.close(odd)
    assert [event.type for event in events(rec.path)] == ["run_start", "run_end"]


def test_messages_that_end_in_an_error_are_kept_as_far_as_they_came(tmp_path: Path) -> None:
    def messages() -> Iterator[Any]:
        yield {"role": "user", "content": "a"}
        raise OSError

    with record(tmp_path / "t.jsonl") as rec:
        rec.log_llm_request(provider="p", api="chat.completions", model="m", messages=messages())
    (request,) = events(rec.path, "llm_request")
    assert request.payload["messages"] == [
        {"role": "user", "content": "a"},
        "<the rest could not be read: OSError>",
    ]
