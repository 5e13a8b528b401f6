"""A recording begins, ends and is kept as promised."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from provider import bodies, events

from runtape.record import record


def child(program: str, *, cwd: Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_run_begins_and_ends_in_its_file(tmp_path: Path) -> None:
    with record(tmp_path / "t.jsonl", name="invoices", tags={"try": 3}) as rec:
        rec.state("plan", ["a", "b"])
        rec.note("looked", at=2)
    begin, state, note, end = events(rec.path)
    assert [event.id for event in events(rec.path)] == [0, 1, 2, 3]
    assert (begin.type, begin.payload["name"], begin.payload["tags"]) == ("run_start", "invoices", {"try": 3})
    assert (begin.payload["format"], begin.payload["version"]) == ("runtape", 2)
    assert (state.type, state.payload) == ("state", {"key": "plan", "value": ["a", "b"]})
    assert (note.type, note.payload) == ("log", {"message": "looked", "at": 2})
    assert (end.type, end.payload["status"]) == ("run_end", "ok")


def test_a_run_that_raises_ends_with_the_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError), record(tmp_path / "t.jsonl") as rec:
        raise KeyError("who")
    error, end = events(rec.path)[1:]
    assert (error.type, error.payload["type"], error.payload["message"]) == ("error", "KeyError", "'who'")
    assert end.payload["status"] == "error"


def test_closing_twice_ends_once_and_what_follows_is_ignored(tmp_path: Path) -> None:
    rec = record(tmp_path / "t.jsonl")
    rec.close("gave up")
    rec.close()
    assert rec.note("late") < 0
    assert [event.payload.get("status") for event in events(rec.path)] == [None, "gave up"]


def test_files_are_new_and_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNTAPE_DIR", str(tmp_path / "a" / "traces"))
    before = os.umask(0o022)
    try:
        with record(name="My run / 7") as rec:
            pass
    finally:
        os.umask(before)
    assert rec.path.parent == tmp_path / "a" / "traces"
    assert rec.path.name.startswith("My-run-7-")
    assert stat.S_IMODE(rec.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(rec.path.parent.stat().st_mode) == 0o700
    with record(dir=tmp_path / "b") as other:
        assert other.path.parent == tmp_path / "b"


def test_an_earlier_run_is_never_written_over(tmp_path: Path) -> None:
    with record(tmp_path / "t.jsonl") as first:
        first.note("one")
    with record(tmp_path / "t.jsonl") as second:
        second.note("two")
    assert first.path != second.path
    assert events(first.path, "log")[0].payload["message"] == "one"
    assert events(second.path, "log")[0].payload["message"] == "two"


def test_calls_logged_by_hand_are_stored_as_deltas(tmp_path: Path) -> None:
    class Turn:
        """No JSON."""

    first: list[Any] = [{"role": "user", "content": "a"}]
    with record(tmp_path / "t.jsonl") as rec:
        request = rec.log_llm_request(
            provider="anthropic",
            api="messages",
            model="m",
            messages=first,
            system="S",
            tools=[{"name": "f"}],
            params={"max_tokens": 3},
        )
        first.append({"role": "user", "content": "b"})
        later = rec.log_llm_request(
            provider="anthropic", api="messages", model="m", messages=first, system="S", params={"x": Turn()}
        )
        reply = rec.log_llm_response(
            request, text="hi", tool_calls=[{"id": "1", "name": "f", "arguments": {}}], latency_ms=2.5
        )
    found = {event.id: event for event in events(rec.path)}
    assert found[later].payload["base"] == request
    assert found[later].payload["messages_append"] == [{"role": "user", "content": "b"}]
    assert (found[reply].parent, found[reply].meta) == (request, {"latency_ms": 2.5})
    assert bodies(rec.path)[0] == {
        "model": "m",
        "system": "S",
        "messages": [{"role": "user", "content": "a"}],
        "tools": [{"name": "f"}],
        "max_tokens": 3,
    }
    assert bodies(rec.path)[1]["messages"] == first


def test_any_value_can_be_recorded(tmp_path: Path) -> None:
    loop: list[Any] = []
    loop.append(loop)
    with record(tmp_path / "t.jsonl") as rec:
        rec.state("odd", {"nan": float("nan"), "bytes": b"\x00\xff", "lone": "ab\ud83d", "loop": loop, 1: {2}})
        rec.note("ok", **{"\udc88": os.fsdecode(b"\xff")})
    odd: Any = events(rec.path, "state")[0].payload["value"]
    assert (odd["lone"], odd["1"]) == ("ab\ud83d", [2])
    for line in rec.path.read_text(encoding="ascii").splitlines():
        json.loads(line, parse_constant=pytest.fail)


def test_eight_threads_lose_nothing_and_keep_the_order(tmp_path: Path) -> None:
    with record(tmp_path / "t.jsonl") as rec:

        @rec.tool
        def step(x: int) -> int:
            return x

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda _: [step(i) for i in range(100)], range(8)))
    found = events(rec.path)
    assert [event.id for event in found] == list(range(1602))
    assert len(events(rec.path, "tool_result")) == 800


@pytest.mark.parametrize(
    ("how", "code", "status"),
    [
        ("import os; os._exit(3)", 3, None),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM, None),
        ("raise ValueError('boom')", 1, "error"),
        ("pass", 0, "ok"),
    ],
)
def test_a_program_that_ends_without_closing(tmp_path: Path, how: str, code: int, status: str | None) -> None:
    done = child(
        f"""
        from runtape.record import record
        rec = record("t.jsonl")
        print(rec.note("acknowledged"), flush=True)
        {how}
        """,
        cwd=tmp_path,
    )
    assert (done.returncode, done.stdout) == (code, "1\n")
    assert done.stderr.count("Traceback") == (how.startswith("raise"))
    found = events(tmp_path / "t.jsonl")
    assert found[1].payload["message"] == "acknowledged"
    assert next((event.payload["status"] for event in found if event.type == "run_end"), None) == status
    assert any(event.type == "error" for event in found) == (status == "error")


def test_threads_and_handlers_that_record_while_the_interpreter_ends_are_left_in_peace(tmp_path: Path) -> None:
    done = child(
        """
        import atexit, sys, threading
        from runtape.record import record

        def late():  # registered before the recorder, so it runs after the end of the run
            print(rec.note("late"), step(2))

        atexit.register(late)
        rec = record("t.jsonl")
        step = rec.tool(lambda x: x + 1)
        begun = threading.Event()

        def busy():
            while True:
                step(1)
                rec.note("busy")
                begun.set()

        for _ in range(2):
            threading.Thread(target=busy, daemon=True).start()
        begun.wait()
        sys.exit(3)
        """,
        cwd=tmp_path,
    )
    assert (done.returncode, done.stdout) == (3, "-1 3\n")
    assert "Traceback" not in done.stderr
    assert all("holds no model call" in line for line in done.stderr.splitlines())
    found = events(tmp_path / "t.jsonl")
    assert found[-1].type == "run_end"
    assert [event.id for event in found] == list(range(len(found)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_that_records_nothing_leaves_the_run_to_its_parent(tmp_path: Path) -> None:
    done = child(
        """
        import os, sys, httpx2
        from runtape.record import record

        class Body(httpx2.SyncByteStream):
            def __iter__(self):
                yield b"{}"

        rec = record("t.jsonl")
        client = rec.wrap(httpx2.Client(transport=httpx2.MockTransport(lambda _: httpx2.Response(200, stream=Body()))))
        request = client.build_request("POST", "http://127.0.0.1/v1/messages", json={})
        still_read = client.send(request, stream=True)
        if os.fork() == 0:
            sys.exit(0)
        os.wait()
        rec.note("parent")
        """,
        cwd=tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert [entry.name for entry in tmp_path.iterdir()] == ["t.jsonl"]
    kinds = [event.type for event in events(tmp_path / "t.jsonl")]
    assert kinds == ["run_start", "llm_request", "log", "llm_response", "run_end"]


def test_recording_switched_off_writes_nothing_and_changes_nothing(tmp_path: Path) -> None:
    done = child(
        """
        import sys
        before = set(sys.modules)
        from runtape.record import record
        def f(x): return x
        class Client: pass
        client = Client()
        with record("t.jsonl", capture=True, strict=True) as rec:
            assert rec.wrap(client) is client and rec.tool(f) is f and rec.tool(name="g")(f) is f
            request = rec.log_llm_request(provider="p", api="messages", model="m", messages=[])
            rec.log_llm_response(request); rec.note("x"); rec.state("k", 1); rec.error(ValueError()); rec.close()
            print(rec.path)
        """,
        cwd=tmp_path,
        env={"RUNTAPE_DISABLED": "1"},
    )
    assert (done.stdout, done.stderr, done.returncode) == (f"{tmp_path / 't.jsonl'}\n", "", 0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "how", ["import runtape.record", "from runtape.record import record; record('t.jsonl').close()"]
)
def test_recording_loads_nothing_heavy(tmp_path: Path, how: str) -> None:
    heavy = (
        "openai",
        "anthropic",
        "httpx",
        "httpx2",
        "numpy",
        "scipy",
        "mcp",
        "asyncio",
        "anyio",
        "pydantic",
        "typer",
        "rich",
    )
    done = child(f"import sys; {how}; print([name for name in {heavy!r} if name in sys.modules])", cwd=tmp_path)
    assert done.stdout == "[]\n"
