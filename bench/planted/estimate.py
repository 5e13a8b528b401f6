"""What a run on a real model will take, said before it starts."""

from __future__ import annotations

import json
from collections.abc import Sequence

from runtape.errors import BadInput
from runtape.sample.prices import PUBLIC, Prices
from runtape.wire.values import Request, Usage

from .kept import MOST
from .suites import Planted

COUNTS = 0.5
"""Share of the cases that count, about."""
CONTEXTS, REPLIES = 40, 400
"""Different requests, and replies to them, of a case that counts, with every method and every check; about."""
SCREENING = 2 * 10
TOKENS_OF_A_REPLY = 15


def estimate(cases: Sequence[Planted], model: str, endpoint: str, *, many: bool) -> str:
    """Calls, tokens and, where a price is known, dollars. `many`: a context is paid once for up to 16 replies."""
    counting = round(COUNTS * len(cases))
    replies = SCREENING * len(cases) + REPLIES * counting
    sent = (2 * len(cases) + (CONTEXTS + REPLIES // MOST) * counting) if many else replies
    context = sum(len(json.dumps(case.body())) for case in cases) // (4 * max(1, len(cases)))
    usage = Usage(sent * context, replies * TOKENS_OF_A_REPLY)
    price = _price(cases[0], model, endpoint, usage) if cases else None
    told = f"about ${price:.2f}" if price is not None else "the price of this model is not known"
    return (
        f"{len(cases)} cases, of which about {counting} will count: about {replies:,} replies in {sent:,} requests of "
        f"{context} tokens, {usage.input or 0:,} tokens in and {usage.output or 0:,} out; {told}."
    )


def _price(case: Planted, model: str, endpoint: str, usage: Usage) -> float | None:
    try:
        tariff = Prices(PUBLIC).of(Request("openai", "chat.completions", endpoint, {**case.body(), "model": model}))
    except BadInput:
        return None  # the table of prices is an extra
    return None if tariff is None else tariff.usd(usage)
