from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from runtape.record.recorder import Recorder, record


@pytest.fixture
def rec(tmp_path: Path) -> Iterator[Recorder]:
    with record(tmp_path / "t.jsonl") as recorder:
        yield recorder
