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

from runtape.cli.main import run
from runtape.report.trace_fields import HELD

EXAMPLES = Path(__file__).parents[3] / "examples"
MODEL = ["--model-fn", str(EXAMPLES / "stand_ins.py:inbox")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one recorded run."""
    folder = tmp_path_factory.mktemp("viewer")
    subprocess.run([sys.executable, EXAMPLES / "inbox_agent.py"], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """The address that a running `runtape view` printed; it is ended as a person would."""
    command = [sys.executable, "-m", "runtape.cli", "view", "--no-open"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
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
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
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


def test_a_file_of_a_long_run_says_which_contexts_it_does_not_hold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = []
    for number in range(0, 2 * HELD + 4, 2):
        messages = [{"role": "user", "content": f"Number {number}."}]
        request = {"api": "chat.completions", "model": "m", "messages": messages, "params": {}}
        reply = {"text": "Yes.", "tool_calls": []}
        for at, (kind, payload, parent) in enumerate((("llm_request", request, None), ("llm_response", reply, number))):
            event = {"id": number + at, "ts": 1.0, "type": kind, "payload": payload, "meta": {}, "parent": parent}
            lines.append(json.dumps(event))
    (tmp_path / "long.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert run(["view", str(tmp_path / "long.jsonl"), "--out", str(tmp_path / "long.html")]) == 0
    page = (tmp_path / "long.html").read_text(encoding="utf-8")
    [data] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page)
    held = json.loads(data)
    left = [name for name, part in held.items() if name.startswith("context/") and part.get("problem")]
    assert left == ["context/1", "context/3"]
    assert "last 300 of 302 decisions" in held["context/1"]["problem"]


def test_a_file_that_cannot_be_written_is_bad_input_and_leaves_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    before = sorted(folder.iterdir())
    assert run(["view", "last", "--out", "nowhere/run.html"]) == 2
    assert "nowhere/run.html" in capsys.readouterr().err
    assert run(["view", "last", "--out", "."]) == 2
    assert sorted(folder.iterdir()) == before


def test_a_port_that_is_taken_is_bad_input(
    address: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert run(["view", "last", "--no-open", "--port", str(urlsplit(address).port)]) == 2
    assert "--port" in capsys.readouterr().err
