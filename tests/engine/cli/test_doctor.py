"""`runtape doctor` says whether recording works here and proves that secrets stay out of traces."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtape.ops.canary import canaries, leaks


def doctor(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("RUNTAPE_")}
    return subprocess.run(
        [sys.executable, "-m", "runtape.cli", "doctor", *arguments],
        cwd=folder, env={**inherited, **environment}, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def test_a_healthy_installation_is_said_to_be_and_nothing_is_left_behind(tmp_path: Path) -> None:
    done = doctor(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["ok"] * 4
    assert list(tmp_path.iterdir()) == []


def test_a_secret_of_the_user_s_own_is_found_and_their_function_mends_it(tmp_path: Path) -> None:
    card = "4111 1111 1111 1111"
    found = json.loads(doctor(tmp_path, "--canary", card, "--json").stdout)
    assert {check["name"]: check["ok"] for check in found["checks"]}["redaction"] is False
    (tmp_path / "mine.py").write_text(
        f"import json\ndef redact(event):\n    return json.loads(json.dumps(event).replace({card!r}, '[card]'))\n",
        encoding="utf-8",
    )
    assert doctor(tmp_path, "--canary", card, "--redact", "mine.py:redact").returncode == 0


def test_a_redact_function_that_raises_leaks_nothing(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def redact(event):\n    raise ValueError(event)\n", encoding="utf-8")
    done = doctor(tmp_path, "--canary", "my own secret", "--redact", "mine:redact")
    assert done.returncode == 0, done.stdout


def test_recording_switched_off_is_a_problem_and_redaction_is_proven_all_the_same(tmp_path: Path) -> None:
    done = doctor(tmp_path, RUNTAPE_DISABLED="1")
    assert done.returncode == 1
    assert "RUNTAPE_DISABLED is set" in done.stdout
    assert "ok       redaction" in done.stdout


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX systems")
def test_traces_that_others_can_read_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "traces"
    folder.mkdir()
    (folder / "open.jsonl").write_text("{}\n", encoding="utf-8")
    (folder / "open.jsonl").chmod(0o644)
    done = doctor(tmp_path)
    assert done.returncode == 1
    assert "open.jsonl" in done.stdout
    assert "chmod 600" in done.stdout


@pytest.mark.parametrize("arguments", [["--redact", "nothing.py:f"], ["--redact", "os:sep"], ["--canary", " "]])
def test_bad_input_is_one_message(tmp_path: Path, arguments: list[str]) -> None:
    done = doctor(tmp_path, *arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


@settings(max_examples=5, deadline=None)
@given(st.data())
def test_new_secrets_of_every_kind_stay_out_and_text_of_no_kind_is_found(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    own = data.draw(st.text("abcdefghij ", min_size=12, max_size=20).filter(lambda text: text.strip() == text))
    found = leaks(canaries([own]), tmp_path_factory.mktemp("canary"))
    assert [leak.kind for leak in found] == ["own"]
