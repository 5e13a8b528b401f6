"""Does the order of the tools decide?

Models lean towards tools by their place in the list, and where nothing that the agent read matters, and nothing pinned,
that is an answer people need. Several orders are tried, since a single one may also be a bad one.
"""

from __future__ import annotations

from ..stats.tally import Tally
from .batch import Batch
from .confirm import settle_open
from .ledger import Ledger, Variant
from .protocol import Search
from .slot import LARGEST_SHARE_LEFT

ORDER = "order"
"""Series of the reruns that nominate an order."""
SAMPLES, SAMPLES_INTERMITTENT = 3, 8


def try_orders(ledger: Ledger) -> Search[Variant, None]:
    """Reruns the context with its tools in other orders, and puts those that flip it to the test."""
    orders = _orders(ledger)
    batch = Batch(ledger)
    for order in orders:
        batch.more(order, SAMPLES_INTERMITTENT if ledger.intermittent else SAMPLES, ORDER)
    if not batch:
        return
    yield from batch.ask()
    for order in orders:
        seen = ledger.tally(order, ORDER)
        if seen.n and seen.rate <= LARGEST_SHARE_LEFT * ledger.base_rate:
            ledger.open_slot((), order)
    yield from settle_open(ledger)


def orders_tried(ledger: Ledger) -> tuple[Tally, ...]:
    """What each order that was tried showed."""
    tried = (ledger.tally(order, ORDER) for order in _orders(ledger))
    return tuple(tally for tally in tried if tally.n)


def _orders(ledger: Ledger) -> list[Variant]:
    return [frozenset({ledger.problem.leaves + order}) for order in range(ledger.problem.reorderings)]
