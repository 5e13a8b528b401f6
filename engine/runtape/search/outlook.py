"""How many samples a search is expected to take."""

from __future__ import annotations

from math import ceil, log2

from .ledger import Ledger

FIXED = 24.0
PER_DOUBLING = 3.5
"""Expected samples of a quick search, by the number of leaves, fitted to simulated searches."""
INTERMITTENT = 2.5
PER_INPUT = 10
"""What proving one more needed leaf takes in full mode."""
PER_OPEN_SLOT = 6
NEXT_ROUND = 6


def planned_samples(ledger: Ledger) -> int:
    """Expected samples of the whole search as far as known now; what was asked for once it has ended."""
    if ledger.ended:
        return ledger.spent
    expected = FIXED + PER_DOUBLING * log2(max(1, ledger.problem.leaves))
    if ledger.base.n and ledger.intermittent:
        expected *= INTERMITTENT
    if ledger.settings.depth == "full":
        expected += PER_INPUT * max(0, len(ledger.proven) - 1)
    at_least = ledger.spent + PER_OPEN_SLOT * len(ledger.open) + NEXT_ROUND
    return min(ledger.settings.budget, max(ceil(expected), at_least))
