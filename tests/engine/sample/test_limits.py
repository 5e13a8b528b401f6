from __future__ import annotations

from datetime import datetime, timedelta, timezone
from email.utils import format_datetime

import anyio
import pytest
from sampling import PATIENCE

from runtape.sample.limits import LONGEST_PAUSE, Limits, retry_after

pytestmark = pytest.mark.anyio


def in_(seconds: float) -> str:
    return format_datetime(datetime.now(timezone.utc) + timedelta(seconds=seconds), usegmt=True)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after": "1e9"}, LONGEST_PAUSE),
        ({"retry-after": "inf"}, LONGEST_PAUSE),
        ({"retry-after": "nan"}, None),
        ({"retry-after-ms": "nan", "retry-after": "3"}, 3.0),
        ({"retry-after": "soon"}, None),
        ({}, None),
        ({"retry-after": in_(86400)}, LONGEST_PAUSE),
        ({"retry-after": in_(-86400)}, 0.0),
    ],
)
async def test_a_pause_is_read_in_every_spelling_and_bounded(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


async def test_a_pause_as_a_date_is_the_time_until_then() -> None:
    seconds = retry_after({"retry-after": in_(100)})
    assert seconds is not None
    assert 100 - PATIENCE < seconds <= 100


async def test_a_429_halves_the_requests_in_flight_and_clean_full_rounds_bring_them_back() -> None:
    limits = Limits(16)
    limits.slow_down(None)
    assert limits.slots.total_tokens == 8
    started = anyio.current_time()
    limits.round_over(3, started)
    assert limits.slots.total_tokens == 8, "a round that did not need the room says nothing"
    limits.round_over(8, started)
    assert limits.slots.total_tokens == 16
    limits.round_over(16, started)
    assert limits.slots.total_tokens == 16, "never above what was asked for"


async def test_429s_to_requests_sent_together_are_one_event() -> None:
    limits = Limits(16)
    for _ in range(8):
        limits.slow_down(100.0)
    assert limits.slots.total_tokens == 8


async def test_a_round_with_a_429_does_not_grow() -> None:
    limits = Limits(16)
    started = anyio.current_time()
    limits.slow_down(None)
    limits.round_over(100, started)
    assert limits.slots.total_tokens == 8


async def test_a_pause_holds_every_worker() -> None:
    limits = Limits(4)
    limits.slow_down(0.05)
    asked_at = anyio.current_time()
    left_at: list[float] = []

    async def work() -> None:
        await limits.wait()
        left_at.append(anyio.current_time())

    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(work)
    assert min(left_at) - asked_at >= 0.05
