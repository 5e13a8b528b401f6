"""`runtape cache`: replies that were paid for are shown, pruned, and handed to others."""

from __future__ import annotations

import json
import sqlite3
import stat
from pathlib import Path

import anyio
import pytest

from runtape.cli.main import run
from runtape.sample.asks import Ask
from runtape.sample.budget import Budget
from runtape.sample.cache import ReplyCache
from runtape.sample.model import Answer
from runtape.sample.sampler import Sampler
from runtape.testing.models import ScriptedModel
from runtape.wire.values import Request

IDENTITY = "chat.completions http://me:secret@127.0.0.1:1/v1"


def request(text: str, model: str = "m") -> Request:
    return Request(
        "openai", "chat.completions", None, {"model": model, "messages": [{"role": "user", "content": text}]}
    )


def draw(folder: Path, texts: list[str], model: str = "m") -> tuple[list[Answer], int]:
    """The answers to some requests, two each, and how many requests were sent for them."""

    async def drawn() -> list[Answer]:
        with ReplyCache(folder) as cache:
            sampler = Sampler(asked, cache, Budget(None))
            got = await sampler.draw([Ask(request(text, model), "pool", 2) for text in texts])
        return [answer for one in got for answer in one.answers]

    asked = ScriptedModel(lambda _: f"reply {len(asked.asked)}", identity=IDENTITY)
    return anyio.run(drawn), len(asked.asked)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_cache_shows_whose_replies_it_holds_and_no_credentials(here: Path, capsys) -> None:
    draw(here / ".runtape", ["a", "b"])
    draw(here / ".runtape", ["c"], model="m2")

    assert run(["cache", "show", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [(group["model"], group["replies"]) for group in shown["groups"]] == [("m", 4), ("m2", 2)]
    assert {group["asked"] for group in shown["groups"]} == {"chat.completions http://127.0.0.1:1/v1"}
    assert shown["size"] > 0
    assert run(["cache"]) == 0
    assert "secret" not in capsys.readouterr().out


def test_what_one_exports_another_scores_without_paying(here: Path, capsys) -> None:
    first, paid = draw(here / ".runtape", ["a", "b"])
    assert run(["cache", "export", "replies.jsonl"]) == 0
    assert stat.S_IMODE((here / "replies.jsonl").stat().st_mode) == 0o600
    assert "secret" not in (here / "replies.jsonl").read_text(encoding="utf-8")

    assert run(["cache", "import", "replies.jsonl", "--dir", "elsewhere"]) == 0
    assert "4 replies added, 0 known" in capsys.readouterr().out
    assert (here / "elsewhere" / ".gitignore").exists()
    second, paid_again = draw(here / "elsewhere", ["a", "b"])
    assert (paid, paid_again) == (4, 0)
    assert first == second

    assert run(["cache", "import", "replies.jsonl", "--dir", "elsewhere"]) == 0
    assert "0 replies added, 4 known" in capsys.readouterr().out
    assert run(["cache", "export", "again.jsonl", "--dir", "elsewhere"]) == 0
    assert (here / "again.jsonl").read_bytes() == (here / "replies.jsonl").read_bytes()


def test_lines_that_hold_no_reply_are_counted_and_told(here: Path, capsys) -> None:
    draw(here / ".runtape", ["a"])
    run(["cache", "export", "replies.jsonl"])
    good = (here / "replies.jsonl").read_text(encoding="utf-8").splitlines()
    fields = json.loads(good[0])
    wrong = [
        {**fields, "format": 99},
        {**fields, "answer": 3},
        {**fields, "sample": "1"},
        {**fields, "sample": -1},
        [],
        3,
    ]
    lines = [*good, "", "{", "[" * 50_000, "\u0000", *map(json.dumps, wrong)]
    (here / "spoilt.jsonl").write_text("\n".join(lines), encoding="utf-8")
    capsys.readouterr()

    assert run(["cache", "import", "spoilt.jsonl", "--dir", "elsewhere"]) == 0
    said = capsys.readouterr()
    assert "2 replies added" in said.out
    assert f"{len(lines) - 2} lines of 'spoilt.jsonl' held no reply" in said.err


def test_an_export_never_writes_over_a_file(here: Path, capsys) -> None:
    draw(here / ".runtape", ["a"])
    (here / "mine.txt").write_text("mine", encoding="utf-8")
    assert run(["cache", "export", "mine.txt"]) == 2
    assert (here / "mine.txt").read_text(encoding="utf-8") == "mine"


def test_pruning_forgets_the_oldest_first_and_makes_the_file_smaller(here: Path, capsys) -> None:
    folder = here / ".runtape"
    draw(folder, [f"{number} {'x' * 2000}" for number in range(30)])
    db = sqlite3.connect(folder / "replies.sqlite")
    db.execute("UPDATE replies SET at = at - 86400 * 40 WHERE sample = 0")
    db.commit()
    db.close()
    assert run(["cache", "prune", "--older-than", "30"]) == 0
    assert "30 replies forgotten" in capsys.readouterr().out
    assert run(["cache", "prune", "--keep-mb", "0"]) == 0
    assert "30 replies forgotten" in capsys.readouterr().out
    assert run(["cache", "show", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["groups"] == []
    assert draw(folder, ["a"])[1] == 2, "and the cache goes on working"


def test_what_cannot_be_done_is_said(here: Path, capsys) -> None:
    for command in (["cache", "prune"], ["cache", "export", "x"], ["cache", "import", "nowhere.jsonl"]):
        assert run(command) == 2
        assert "Traceback" not in capsys.readouterr().err
    (here / ".runtape").mkdir(exist_ok=True)
    (here / ".runtape" / "replies.sqlite").write_bytes(b"no database at all" * 100)
    assert run(["cache", "show"]) == 2
    assert "cannot be opened" in capsys.readouterr().err
