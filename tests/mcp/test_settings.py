from __future__ import annotations

from pathlib import Path

import pytest

from runtape_mcp.settings import read


def test_the_defaults_are_the_working_folder_and_the_caps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    launch = read([], {})
    assert launch.traces == tmp_path / "traces"
    assert launch.project is None
    assert launch.state == tmp_path / ".runtape"
    assert (launch.max_calls, launch.process_calls, launch.ask_above) == (150, 1000, 100)


def test_flags_win_over_the_environment(tmp_path: Path) -> None:
    environment = {
        "RUNTAPE_TRACES": "elsewhere",
        "RUNTAPE_PROJECT": str(tmp_path),
        "RUNTAPE_MODEL_FN": "agent:model",
        "RUNTAPE_JUDGE_FN": "agent:judge",
        "RUNTAPE_BASE_URL": "http://127.0.0.1:1/v1",
        "RUNTAPE_MAX_CALLS": "20",
        "RUNTAPE_SLICE": "7.5",
    }
    launch = read(["--traces", str(tmp_path / "here"), "--max-calls", "30"], environment)
    assert launch.traces == tmp_path / "here"
    assert launch.project == tmp_path
    assert launch.state == tmp_path / ".runtape"
    assert (launch.model_fn, launch.judge_fn) == ("agent:model", "agent:judge")
    assert launch.base_url == "http://127.0.0.1:1/v1"
    assert (launch.max_calls, launch.slice) == (30, 7.5)


def test_the_launch_can_raise_what_the_process_may_spend() -> None:
    assert read(["--max-calls", "5000"], {}).process_calls == 5000


def test_a_limit_in_money_comes_from_the_launch_and_needs_a_model_with_a_price() -> None:
    assert read([], {}).max_usd is None
    launch = read(["--max-usd", "2.5"], {"RUNTAPE_MAX_USD": "9", "RUNTAPE_PRICES": "prices.json"})
    assert (launch.max_usd, launch.prices) == (2.5, "prices.json")
    assert read([], {"RUNTAPE_MAX_USD": "9"}).max_usd == 9
    with pytest.raises(ValueError, match="names no price"):
        read(["--max-usd", "2.5", "--model-fn", "agent:model"], {})
    with pytest.raises(ValueError, match="RUNTAPE_MAX_USD"):
        read([], {"RUNTAPE_MAX_USD": "-1"})


def test_a_slice_is_longer_for_clients_known_to_wait() -> None:
    launch = read([], {})
    assert launch.seconds_for("claude-code") == 600
    assert launch.seconds_for("Claude-Code") == 600
    assert launch.seconds_for("some-editor") == 45
    assert read(["--slice", "2"], {}).seconds_for("claude-code") == 2


@pytest.mark.parametrize("text", ["0", "-1", "many", "1.5"])
def test_a_number_of_calls_that_is_none_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        read([f"--max-calls={text}"], {})
    assert ended.value.code == 2
    assert text in capsys.readouterr().err
    with pytest.raises(ValueError, match="RUNTAPE_MAX_CALLS"):
        read([], {"RUNTAPE_MAX_CALLS": text})


@pytest.mark.parametrize("text", ["0", "-3", "soon", "nan", "inf"])
def test_a_slice_that_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(SystemExit):
        read([f"--slice={text}"], {})
    with pytest.raises(ValueError, match="RUNTAPE_SLICE"):
        read([], {"RUNTAPE_SLICE": text})


def test_a_project_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is not a folder"):
        read(["--project", str(tmp_path / "missing")], {})
