from __future__ import annotations

import pytest
from inbox_run import record_run


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A recorded run in a folder of its own, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RUNTAPE_DIR", raising=False)
    return record_run(tmp_path / "traces" / "inbox.jsonl")
