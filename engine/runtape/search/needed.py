"""Finds needed units: pool, decode, nominate, prove."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf, log

import numpy as np

from .batch import Batch
from .beliefs import beliefs, doubts
from .confirm import settle_open, take_looks, want_looks
from .decode import USUAL, WEAK, Chances, Levels, hit_ratio
from .drift import check_drift, expect_check
from .fragile import guard_cap
from .headline import has_headline, settle_headline
from .ledger import Ledger, Variant
from .opening import BASE_SAMPLES, sweep
from .pools import EVEN_ODDS, zoom
from .protocol import Search
from .settings import Sweep

ROUNDS = 30
NOMINATIONS = 4
"""Slots opened in one round at most: the decode is overconfident before pools have crossed."""
SINGLES = 3
UNDECIDED = 0.35
"""Units above this chance, not yet nominated, are rerun alone: cheaper than another pool around them."""
PATIENT = 3
"""Rounds for which the last reruns as recorded wait for a slot to be drawn beside: pools are read by their rate too."""
EAGER_NOMINATIONS, EAGER_NOMINATE = 3, 0.25
"""Slots in place of such reruns where further samples of one context cost little: they save the round between."""
UNRESOLVED = 5
"""Slots, open or given up, beyond which a search is not eager any more: those left are for what is likely."""
EVEN = 0.5
"""Chance that every open slot holds, from which a sign that the model still decides so is asked for beside them."""
FORETOLD = 0.85
"""Chance that some open slot holds, above which pools beside it would tell what nobody asks for any more."""


@dataclass(frozen=True, slots=True)
class Care:
    """When a unit is put to the test, and when pooling ends."""

    levels: Levels
    nominate: float
    """Chance from which a unit gets a slot."""
    stop: float
    """Expected number of needed units left at which pooling ends."""

    @property
    def pools(self) -> bool:
        """Whether pooling ever begins."""
        return self.stop < inf


USUAL_CARE = Care(USUAL, 0.85, 0.20)
WEAK_CARE = Care(WEAK, 0.70, 0.10)
"""For what is left when the proven leaves do not suffice: causes that leave a third of the rate behind."""

SUSPECT_CARE = Care(USUAL, 0.70, inf)
"""For named suspects after one rerun each: those that flipped are tested, and nothing is pooled."""


def find_needed(ledger: Ledger, sweeps: Sequence[Sweep] = (), care: Care = USUAL_CARE) -> Search[Variant, None]:
    """Pools and proves until nothing is left to doubt, or until the headline stands in quick mode.

    Args:
        ledger: The state of the search.
        sweeps: Partitions to ask for first, one per round.
        care: Thresholds.
    """
    waiting = list(sweeps)
    for turn in range(ROUNDS):
        if ledger.settings.depth == "quick":
            if (yield from headline_stands(ledger)):
                return
        elif care.pools and ledger.hold and has_headline(ledger):
            ledger.hold = frozenset()
            if "contiguous" not in waiting:
                waiting.append("pinned")
        chances = beliefs(ledger, care.levels)
        _nominate(ledger, chances, care, eagerly=ledger.eager and not waiting)
        batch = Batch(ledger)
        want_looks(ledger, batch)
        if waiting:
            batch.pools(sweep(ledger, waiting.pop(0)))
        elif not _is_foretold(ledger, chances):
            if turn >= PATIENT:
                batch.base(BASE_SAMPLES)
            _pool(ledger, batch, doubts(ledger, chances), care)
        if batch.asks_only({slot.leaves for slot in ledger.open}) and _all_hold(ledger, chances) >= EVEN:
            expect_check(ledger, batch)
        if not batch:
            return
        yield from batch.ask()
        yield from check_drift(ledger)
        take_looks(ledger)


def headline_stands(ledger: Ledger) -> Search[Variant, bool]:
    """Whether a cause that makes the agent act differently is proven and survives its last reruns."""
    if not has_headline(ledger):
        return False
    if ledger.problem.forced:
        # Every flip looks like another action, so the first proof need not be the cause that matters most.
        yield from settle_open(ledger)
    yield from settle_headline(ledger)
    return has_headline(ledger)


def _nominate(ledger: Ledger, chances: Chances, care: Care, *, eagerly: bool) -> None:
    """Opens slots for the likeliest units that never had one."""
    likely = doubts(ledger, chances)
    for place, unit in enumerate(np.argsort(-likely, kind="stable")[:NOMINATIONS].tolist()):
        unresolved = len(ledger.slots) - len(ledger.proven)
        eager = eagerly and place < EAGER_NOMINATIONS and unresolved < UNRESOLVED
        if likely[unit] >= (EAGER_NOMINATE if eager else care.nominate) and ledger.open_slot([unit]) is None:
            return


def _is_foretold(ledger: Ledger, chances: Chances) -> bool:
    """Whether a quick search will most likely end with a slot that is open now."""
    if not ledger.eager or ledger.settings.depth != "quick":
        return False
    likely = [unit for slot in ledger.unrefuted for unit in slot.units]
    return 1 - float(np.prod(1 - chances[likely])) >= FORETOLD


def _all_hold(ledger: Ledger, chances: Chances) -> float:
    """The chance that every slot that is open now holds, so that their reruns all flip."""
    return float(np.prod(chances[[unit for slot in ledger.open for unit in slot.units]]))


def _pool(ledger: Ledger, batch: Batch, rest: Chances, care: Care) -> None:
    """Adds single reruns of undecided units, and pools over the others, while enough is in doubt."""
    guard_cap(ledger, rest)
    # A rare decision spends most of the budget on proof, so pools wait until the open slots are settled.
    if float(rest.sum()) <= care.stop or (ledger.intermittent and ledger.open):
        return
    likeliest = np.argsort(-rest, kind="stable")[:SINGLES].tolist()
    singles = [unit for unit in likeliest if rest[unit] > UNDECIDED]
    batch.pools([(unit,) for unit in singles], 1)
    rest = np.array(rest, dtype=np.float64)
    rest[singles] = 0.0
    count = ledger.pools_a_round - len(singles)
    # A small context holds few pools: asking the same ones again and again would spend the budget on nothing.
    count = min(count, _pools_to_clear(ledger, rest, care) * (2 if ledger.settings.fast else 1))
    if count or not singles:
        among = np.flatnonzero(rest).tolist()
        batch.pools(zoom(ledger.units, rest, among, count=max(1, count), cap=ledger.cap, rng=ledger.rng))


def _pools_to_clear(ledger: Ledger, rest: Chances, care: Care) -> int:
    """Pools after which pooling would end if none of them flipped.

    More would ask what the next round may already know; fewer would only add rounds.
    """
    doubt = float(rest.sum())
    if doubt <= care.stop:
        return 0
    by_one_pool = -log(hit_ratio(ledger.settings.pooling.samples, 0, ledger.base_rate, care.levels))
    times_covered = log(doubt / care.stop) / by_one_pool
    return ceil(times_covered * doubt / min(EVEN_ODDS, doubt / 2))
