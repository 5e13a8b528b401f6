"""How many requests may be on their way to one endpoint, moved by what the endpoint says.

A 429 halves the number and, with Retry-After, pauses every worker at once; a round that used the whole number without
a 429 lets it grow again. Replies from the cache say nothing. Waits use the event loop's monotonic clock.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

import anyio

LONGEST_PAUSE = 120.0
"""Seconds. A server that asks for more is obeyed for this long and then asked again."""

ONE_EVENT = 1.0
"""Seconds within which several 429s are one event: they answer requests that were sent together."""


class Limits:
    """The requests in flight to one endpoint."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.slots = anyio.CapacityLimiter(most)
        """Hold one while a request is on its way."""
        self._resume_at = -math.inf
        self._slowed_at = -math.inf

    async def wait(self) -> None:
        """Wait out the pause the server asked for, if there is one."""
        while (left := self._resume_at - anyio.current_time()) > 0:  # noqa: ASYNC110 - the clock ends it, and it may move
            await anyio.sleep(left)

    def slow_down(self, wait: float | None) -> None:
        """Take a 429 into account; `wait` is the pause it asked for, in seconds."""
        now = anyio.current_time()
        if now - self._slowed_at > ONE_EVENT and now > self._resume_at:
            self.slots.total_tokens = max(1, self.slots.total_tokens // 2)
            self._slowed_at = now
        self._resume_at = max(self._resume_at, now + (wait or 0.0))

    def slowed_since(self, started: float) -> bool:
        """True when the endpoint asked for fewer requests or a pause after that time of the event loop's clock."""
        return self._slowed_at >= started or self._resume_at >= started

    def hold_at(self, most: int) -> None:
        """Send no more than that at a time from now on."""
        self.most = min(self.most, most)
        self.slots.total_tokens = min(self.slots.total_tokens, self.most)

    def round_over(self, requests: int, started: float) -> None:
        """Take a finished round into account: its requests, and when it started on the event loop's clock."""
        full = requests >= self.slots.total_tokens
        if full and self._slowed_at < started:
            self.slots.total_tokens = min(self.most, self.slots.total_tokens * 2)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait that response headers ask for, 0 to LONGEST_PAUSE; None when they ask for nothing readable.

    `retry-after-ms`, then `retry-after` as seconds, then as a date. A date is compared with this machine's clock, which
    may be wrong; hence the ceiling.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) * unit
        except (KeyError, ValueError):
            continue
        if not math.isnan(seconds):
            return _within(seconds)
    try:
        return _within(parsedate_to_datetime(headers["retry-after"]).timestamp() - time.time())
    except (KeyError, ValueError, OverflowError):
        return None


def _within(seconds: float) -> float:
    return min(max(seconds, 0.0), LONGEST_PAUSE)
