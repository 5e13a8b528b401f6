"""What requests will use at most, and what they did use.

Before an answer it is an estimate: input from the size of the body, output from the limit in it. The size says little
until a server has told how many tokens it makes of how many bytes; until then a byte counts as a token, which no
tokenizer exceeds. The recorded call tells a rate as well. Where a body limits no output, a longer answer than any that
was foreseen can pass the limit by what it is longer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .. import canon
from ..said import Said
from ..wire.dialects import dialect_for
from ..wire.values import Request, Usage
from .amount import NOTHING, Amount
from .model import Answer
from .prices import Prices

OUTPUT_LIMITS = ("max_completion_tokens", "max_output_tokens", "max_tokens")

UNLIMITED = 4096
"""Tokens set aside for an answer to a request that sets no limit, until answers were seen."""

LONGER, LEAST = 4, 1024
"""From then on: times the longest answer so far, and tokens at least."""

MARGIN = 1.25
"""Times the tokens that the largest rate so far gives, for texts that make more tokens of their bytes."""


class Meter:
    """What the requests to one model use."""

    def __init__(self, prices: Prices, *, limited: bool) -> None:
        """`limited`: somebody wants to know the most that a request can use, which costs time to find out."""
        self.prices = prices
        self.usage = Usage(0, 0, 0)
        """Tokens of all answers that told theirs."""
        self.used = NOTHING
        """The same as one amount; its price is 0 where no price is known."""
        self.silent = 0
        """Answered requests whose usage the server did not tell."""
        self.limited = limited
        self._rate: float | None = None
        """Tokens for each byte, at most."""
        self._longest = 0
        self._sources: dict[str, None] = {}

    def worst(self, request: Request, n: int) -> Amount:
        """The most that a request for n samples is expected to use."""
        size = _size(request)
        fresh = size if self._rate is None else min(size, math.ceil(size * self._rate * MARGIN))
        usage = Usage(fresh, n * self._answer(request), 0)
        tariff = self.prices.of(request)
        return Amount((usage.input or 0) + (usage.output or 0), tariff.usd(usage) if tariff else 0.0)

    def take(self, request: Request, answers: Sequence[Answer]) -> Amount | None:
        """Count what an answered request used; None when the server did not tell."""
        usage = next((answer.reply.usage for answer in answers if answer.reply is not None), Usage())
        # No request has no input: some servers send zeros in place of what they do not count.
        if not usage.input or usage.output is None:
            self.silent += 1
            return None
        self.usage = Usage(
            (self.usage.input or 0) + usage.input,
            (self.usage.output or 0) + usage.output,
            (self.usage.cached or 0) + min(usage.cached or 0, usage.input),
        )
        self.learn(request, usage, len(answers))
        tariff = self.prices.of(request)
        if tariff is not None:
            self._sources[tariff.source] = None
        amount = Amount(usage.input + usage.output, tariff.usd(usage) if tariff else 0.0)
        self.used += amount
        return amount

    def learn(self, request: Request, usage: Usage, answers: int) -> None:
        """Take an answered request as a measure for those to come."""
        if self.limited and usage.input:
            self._rate = max(self._rate or 0.0, usage.input / _size(request))
        if self.limited and usage.output:
            self._longest = max(self._longest, math.ceil(usage.output / answers))

    @property
    def notes(self) -> list[Said]:
        """What was used, for whoever asked for prices or set a limit."""
        if not (self.limited or self.prices.given) or not self.used.tokens + self.silent:
            return []
        notes = [Said(f"Used: {self._told()}.")]
        if self.silent:
            notes.append(Said(f"The server did not say what {self.silent} of the requests used."))
        return notes

    def _told(self) -> str:
        cached = f" ({self.usage.cached:,} of them from the prompt cache)" if self.usage.cached else ""
        tokens = f"{self.usage.input:,} tokens of input{cached} and {self.usage.output:,} of output"
        if not self._sources:
            return tokens
        return f"{tokens}, ${self.used.usd:.4f} by the prices of {' and '.join(self._sources)}"

    def _answer(self, request: Request) -> int:
        """Tokens that one answer may have."""
        for name in OUTPUT_LIMITS:
            limit = request.body.get(name)
            if isinstance(limit, int) and limit > 0:
                return limit
        return max(LEAST, LONGER * self._longest) if self._longest else UNLIMITED


def _size(request: Request) -> int:
    body, _left_out = dialect_for(request.api).for_rerun(request.body)
    return max(1, len(canon.dumps(body)))
