"""`runtape view`: who may read the page that is served, and what the file holds."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import runtape
from runtape.cli.main import run
from runtape.report.trace_fields import whole_fields
from runtape.trace.trace import Trace

EXAMPLES = Path(__file__).parents[3] / "examples"
MODEL = ["--model-fn", str(EXAMPLES / "stand_ins.py:inbox")]


@pytest.fixture(scope="module")
def address(inbox_folder: Path) -> Iterator[str]:
    """The address that a running `runtape view` printed; it is ended as a person would."""
    command = [sys.executable, "-m", "runtape.cli", "view", "--no-open"]
    with subprocess.Popen(command, cwd=inbox_folder, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        assert process.wait(20) == 0


def ask(address: str, part: str = "", method: str = "GET", **headers: str) -> http.client.HTTPResponse:
    where = urlsplit(address)
    connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=20)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, where.path + part, headers=sent)
    response = connection.getresponse()
    response.read_whole = response.read()  # type: ignore[attr-defined]
    connection.close()
    return response


def fields(address: str, part: str) -> Any:
    response = ask(address, part)
    assert response.status == 200
    return json.loads(response.read_whole)  # type: ignore[attr-defined]


def test_the_page_and_its_parts_are_there_for_who_knows_the_address(address: str) -> None:
    page = ask(address)
    assert (page.status, page.headers.get_content_type()) == (200, "text/html")
    assert page.headers["cache-control"] == "no-store"
    assert len(fields(address, "timeline")["rows"]) == 32
    assert [row[0] for row in fields(address, "rows/30")["rows"]] == [30, 31]
    assert "northwind-clearing" in fields(address, "event/12")["text"]
    assert fields(address, "context/22")["request"] == 21
    first = fields(address, "search?term=NORTHWIND-clearing")["found"][0]
    assert (first["event"], first["writer"]) == (12, "the tool read_email as its result")


@pytest.mark.parametrize("part", ["event/999", "event/x", "context/-1", "../", "nothing", "search?term="])
def test_a_part_that_is_not_there_is_not_found(address: str, part: str) -> None:
    assert ask(address, part).status == 404


def test_a_decision_without_a_context_says_why(address: str) -> None:
    assert "no reply of a model" in fields(address, "context/12")["problem"]


@pytest.mark.parametrize(
    ("headers", "method", "status"),
    [
        ({"Host": "attacker.example"}, "GET", 403),
        ({"Host": "localhost"}, "GET", 403),
        ({"Origin": "http://attacker.example"}, "GET", 403),
        ({"Origin": "null"}, "GET", 403),
        ({"Sec_Fetch_Site": "cross-site"}, "GET", 403),
        ({"Sec_Fetch_Site": "same-site"}, "GET", 403),
        ({"Sec_Fetch_Site": "same-origin"}, "GET", 200),
        ({}, "POST", 405),
    ],
)
def test_other_sites_and_names_are_refused(address: str, headers: dict[str, str], method: str, status: int) -> None:
    for part in ("", "timeline"):
        assert ask(address, part, method, **headers).status == status


def test_without_the_token_there_is_nothing(address: str) -> None:
    where = urlsplit(address)
    for path in ("/", "/timeline", "/x" + where.path[2:], where.path[:-2] + "/"):
        assert ask(f"http://{where.netloc}{path}").status == 404
    assert len(where.path) > 30


def test_a_file_holds_the_whole_run_and_asks_for_nothing(
    inbox_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(inbox_folder)
    assert run(["view", "last", "--out", "run.html", "--why", "tool:forward_email", *MODEL]) == 0
    assert "run.html" in capsys.readouterr().err
    page = Path("run.html").read_text(encoding="utf-8")
    assert len(page) < 400_000
    assert Path("run.html").stat().st_mode & 0o077 == 0
    assert "connect-src 'none'" in page
    assert page.count("<script") == 2
    assert not re.findall(r"(?:src|href)=", page)
    [data] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page)
    held = json.loads(data)
    assert held["timeline"]["explained"] == [22]
    assert {f"event/{number}" for number in range(32)} <= held.keys()
    states = {piece["state"] for message in held["messages"] for piece in message["pieces"]}
    assert {"proven", "cleared", "held", "plain"} <= states


def contexts_in(held: dict[str, Any], decision: int) -> list[str]:
    """The texts of a context in a file, put together as the page does."""

    def places(event: int) -> list[int]:
        other, same, rest = held[f"context/{event}"]["messages"]
        return [*(places(other)[:same] if other is not None else []), *rest]

    pieces = [held["messages"][place]["pieces"] for place in places(decision)]
    return ["".join(piece["before"] + piece["text"] for piece in told) for told in pieces]


def talk(path: Path, turns: int) -> Trace:
    """A conversation that grows by two messages each turn."""
    with runtape.record(path) as rec:
        messages: list[dict[str, Any]] = [{"role": "user", "content": "Count."}]
        for turn in range(turns):
            asked = rec.log_llm_request(provider="p", api="chat.completions", model="m", messages=messages)
            rec.log_llm_response(asked, text=f"Number {turn}.")
            messages += [
                {"role": "assistant", "content": f"Number {turn}."},
                {"role": "user", "content": f"On, {turn}."},
            ]
    return Trace.load(path)


def test_a_file_holds_every_context_whole_and_each_message_once(tmp_path: Path) -> None:
    trace = talk(tmp_path / "run.jsonl", 30)
    held = whole_fields(trace, {})
    assert held["left_out"] == 0
    assert len(held["messages"]) == 59
    for call in trace.calls:
        assert call.response is not None
        said = [message["content"] for message in trace.context(call.request).messages]  # type: ignore[index, call-overload]
        assert contexts_in(held, call.response.id) == said
    assert len(json.dumps(held)) < 60_000


def test_a_file_without_room_holds_the_last_contexts_and_counts_the_others(tmp_path: Path) -> None:
    trace = talk(tmp_path / "run.jsonl", 6)
    decisions = [call.response.id for call in trace.calls if call.response]
    held = whole_fields(trace, {}, most=30)
    assert held["left_out"] == 4
    problems = {event: held[f"context/{event}"].get("problem", "") for event in decisions}  # type: ignore[union-attr, call-overload]
    assert [bool(problem) for problem in problems.values()] == [True] * 4 + [False] * 2
    assert "room for the contexts of 2 of 6 decisions" in problems[decisions[0]]


def test_a_file_that_cannot_be_written_is_bad_input_and_leaves_nothing(
    inbox_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(inbox_folder)
    before = sorted(inbox_folder.iterdir())
    assert run(["view", "last", "--out", "nowhere/run.html"]) == 2
    assert "nowhere/run.html" in capsys.readouterr().err
    assert run(["view", "last", "--out", "."]) == 2
    assert sorted(inbox_folder.iterdir()) == before


def test_a_port_that_is_taken_is_bad_input(
    address: str, inbox_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(inbox_folder)
    assert run(["view", "last", "--no-open", "--port", str(urlsplit(address).port)]) == 2
    assert "--port" in capsys.readouterr().err
