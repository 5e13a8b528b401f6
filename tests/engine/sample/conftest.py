from __future__ import annotations

from collections.abc import Iterator

import pytest

from runtape.sample.cache import ReplyCache


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def memory() -> Iterator[ReplyCache]:
    with ReplyCache(None) as cache:
        yield cache


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a developer's shell says about providers is no part of a test."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "RUNTAPE_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
