"""What every test shares."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

# Time limits make a suite flake on a busy machine; how long things take is measured elsewhere.
settings.register_profile("runtape", deadline=None)
settings.load_profile("runtape")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless chromium; tests with it are skipped where there is none."""
    api = pytest.importorskip("playwright.sync_api", reason="the extra `browser` is not installed")
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("there is no chromium")
    with api.sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
        started = playwright.chromium.launch(executable_path=program, args=flags)
        yield started
        started.close()
