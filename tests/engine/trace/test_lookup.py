from __future__ import annotations

from pathlib import Path

import pytest

from runtape.errors import TraceNotFound
from runtape.trace.lookup import find_trace, trace_folder


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RUNTAPE_DIR", raising=False)
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "inbox.jsonl").write_text("{}\n")
    (tmp_path / "here.jsonl").write_text("{}\n")


@pytest.mark.parametrize(
    ("written", "file"),
    [
        ("last", "traces/inbox.jsonl"),
        ("inbox", "traces/inbox.jsonl"),
        ("inbox.jsonl", "traces/inbox.jsonl"),
        ("traces/inbox.jsonl", "traces/inbox.jsonl"),
        ("here.jsonl", "here.jsonl"),
        ("./here.jsonl", "here.jsonl"),
        (Path("here.jsonl"), "here.jsonl"),
    ],
)
def test_a_trace_is_meant_by_path_by_name_or_as_the_last(written, file):
    assert find_trace(written) == Path(file)


def test_the_folder_comes_from_the_environment(tmp_path, monkeypatch):
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine.jsonl").write_text("{}\n")
    monkeypatch.setenv("RUNTAPE_DIR", str(other))

    assert trace_folder() == other
    assert find_trace("mine") == other / "mine.jsonl"


@pytest.mark.parametrize("written", ["traces/none.jsonl", "../inbox", "/nowhere/inbox.jsonl", "a\0/b"])
def test_a_missing_file_given_by_path_is_said_to_be_missing(written):
    with pytest.raises(TraceNotFound, match=r"there is no trace at .*runtape ls"):
        find_trace(written)


def test_a_missing_name_has_its_nearest_names_said():
    with pytest.raises(TraceNotFound, match="inbox"):
        find_trace("inbx")
