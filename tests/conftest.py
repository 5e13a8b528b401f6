"""What every test shares."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# Time limits make a suite flake on a busy machine; how long things take is measured elsewhere.
settings.register_profile("runtape", deadline=None)
settings.load_profile("runtape")

# What a shell or a CI service sets and a test's child processes would print or send differently for.
SURROUNDINGS = {
    "CI", "BUILD_NUMBER", "GITHUB_ACTIONS", "PYTEST_ADDOPTS",
    "COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "CLICOLOR_FORCE", "PY_COLORS", "TTY_COMPATIBLE",
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
    "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL",
}  # fmt: skip


@pytest.fixture(scope="session", autouse=True)
def the_same_surroundings_everywhere() -> Iterator[None]:
    """Tests see neither the caller's keys, proxies and colours nor that they run in CI or in the background."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell lets what it starts with & ignore it
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.upper() in SURROUNDINGS or (name.startswith("RUNTAPE_") and not name.startswith("RUNTAPE_TEST_")):
                patch.delenv(name)
        yield


@pytest.fixture
def anyio_backend() -> str:
    """The loop that tests which are coroutines run on."""
    return "asyncio"


@pytest.fixture(scope="module")
def inbox_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one recorded run of the inbox example."""
    folder = tmp_path_factory.mktemp("inbox")
    agent = Path(__file__).parent.parent / "examples" / "inbox_agent.py"
    subprocess.run([sys.executable, agent], cwd=folder, check=True, capture_output=True)
    return folder


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
