from __future__ import annotations

import subprocess
import sys

import pytest

import runtape
import runtape.aio

HEAVY = ("anthropic", "httpx", "httpx2", "mcp", "numpy", "openai", "rich", "scipy", "typer")


def in_a_new_process(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_public_names_are_these():
    verbs = ["fix", "load", "record", "replay", "rerun", "why", "write_test"]
    assert runtape.__all__ == ["RecordedToolError", "Recorder", "ReplayDiverged", "Replayer", "Trace", "aio", *verbs]
    assert runtape.aio.__all__ == ["fix", "rerun", "why"]


def test_every_public_name_is_there():
    for name in runtape.__all__:
        assert getattr(runtape, name) is not None


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        runtape.nothing  # noqa: B018


def test_dir_lists_the_public_names():
    assert dir(runtape) == runtape.__all__


def test_importing_the_package_loads_nothing_heavy():
    loaded = in_a_new_process(f"import sys, runtape; print([name for name in {HEAVY!r} if name in sys.modules])")

    assert loaded == "[]"


def test_record_is_the_function_whatever_is_imported_first():
    for first in ("import runtape.record.recorder", "import runtape.record", "import runtape.ops.waiting"):
        assert in_a_new_process(f"{first}; import runtape; print(callable(runtape.record))") == "True"


def test_the_verbs_can_be_imported_by_name():
    assert in_a_new_process("from runtape import aio, fix, rerun, why, write_test; print(why.__name__)") == "why"
