"""What the end of a run says."""

from __future__ import annotations

from pathlib import Path

import pytest

from runtape import record


def test_a_run_without_a_model_call_says_so_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with record(tmp_path / "forgotten.jsonl") as rec:
        rec.note("the client was never wrapped")
    rec.close()
    said = capsys.readouterr()
    assert said.err.count("holds no model call") == 1
    assert "rec.wrap" in said.err
    assert not said.out


def test_a_run_with_a_model_call_says_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with record(tmp_path / "run.jsonl") as rec:
        rec.log_llm_request(provider="p", api="chat.completions", model="m", messages=[])
    assert not capsys.readouterr().err
