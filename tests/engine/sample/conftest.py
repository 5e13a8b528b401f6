from __future__ import annotations

from collections.abc import Iterator

import pytest

from runtape.sample.cache import ReplyCache


@pytest.fixture
def memory() -> Iterator[ReplyCache]:
    with ReplyCache(None) as cache:
        yield cache
