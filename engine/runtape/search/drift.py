"""Notices a model that changes while it is asked.

The bound on false claims is about samples of one model. A provider that puts another model behind the same name between
the base and the confirming reruns makes a drop that is real and means nothing.
"""

from __future__ import annotations

from ..stats.exact import fisher_less
from ..stats.tally import Provenance, Tally
from .batch import Batch, SearchEnds
from .ledger import RECORDED, Ledger, Variant
from .protocol import Search
from .slot import FREQUENT

STEADY = 600.0
"""Seconds for which the base is trusted."""
CHECKED = 4
"""Reruns of the context as recorded that check it."""
CHANGED = 0.02
"""p below which those show another rate than the base, lower or higher."""
MOST_RESTARTS = 2
SILENT = 2
"""Rounds without one repeat of a frequent decision after which the base is checked."""


def check_drift(ledger: Ledger) -> Search[Variant, None]:
    """Reruns the context as recorded where open slots may be of another model than the base.

    That is so where much time or another served model lies between, or where the decision was not made once since.

    If the new reruns differ from the base, the base begins anew and the open slots are void: what they had is of
    another model. Claims that were proven before keep the base that they were compared with.

    Raises:
        SearchEnds: the model changed again and again, or to one that never makes the decision.
    """
    apart = _fades(ledger) or any(_apart(ledger, ledger.fresh(slot).source) for slot in ledger.open)
    if not (apart or _is_silent(ledger)):
        return
    check = yield from _check(ledger, at_once=apart or ledger.eager)
    if not apart and check.kept and check.n < CHECKED:
        return
    kept, n = _later(ledger)
    first = _first(ledger)
    if not (_differ(first, check.kept, check.n) or _differ(first, kept + check.kept, n + check.n)):
        ledger.kept_in = ledger.rounds
        ledger.vouched.append(_joined(check.source, *(ledger.fresh(slot).source for slot in ledger.open)))
        return
    if ledger.restarts == MOST_RESTARTS:
        raise SearchEnds("drift")
    asked = ledger.record(RECORDED, ledger.base_series).asked
    ledger.restart()
    batch = Batch(ledger)
    batch.base(asked)
    yield from batch.ask()
    if not ledger.base.kept:
        raise SearchEnds("drift")


def _check(ledger: Ledger, *, at_once: bool) -> Search[Variant, Tally]:
    """New reruns as recorded; where silence alone is the reason, one that repeats the decision is enough."""
    series = _series(ledger)
    ledger.checks += 1
    for n in (CHECKED,) if at_once else (1, CHECKED):
        batch = Batch(ledger)
        batch.reach(RECORDED, n, series)
        yield from batch.ask()
        if ledger.tally(RECORDED, series).kept:
            break
    return ledger.tally(RECORDED, series)


def _first(ledger: Ledger) -> Tally:
    """The reruns that the base began with; later ones are drawn beside those of slots."""
    return ledger.record(RECORDED, ledger.base_series).tallies[0]


def _later(ledger: Ledger) -> tuple[int, int]:
    """Repeats and samples among the reruns as recorded that came after the first ones."""
    first = _first(ledger)
    return ledger.base.kept - first.kept, ledger.base.n - first.n


def _fades(ledger: Ledger) -> bool:
    """Whether a frequent decision was mostly not made when it was rerun as recorded later; until a check."""
    kept, n = _later(ledger)
    return _first(ledger).rate >= FREQUENT and not ledger.vouched and 2 * kept < n


def _is_silent(ledger: Ledger) -> bool:
    """Whether a frequent decision was not made once, in any context, since a slot was opened or for some rounds."""
    if _first(ledger).rate < FREQUENT:
        return False
    opened = [slot.opened for slot in ledger.open if ledger.fresh(slot).n]
    return ledger.kept_in <= max([ledger.rounds - SILENT, *opened])


def expect_check(ledger: Ledger, batch: Batch) -> None:
    """Adds what saves a wait for a check: for a round in which nothing else is likely to lead to the decision."""
    if ledger.eager:
        batch.ahead(RECORDED, CHECKED, _series(ledger))
    else:
        batch.reach(RECORDED, 1, _series(ledger))
        ledger.checks += 1


def _series(ledger: Ledger) -> str:
    return f"base:check:{ledger.checks}"


def _joined(*sources: Provenance) -> Provenance:
    """What a passed check vouches for: the names seen until now, and the time from now on."""
    times = [source.until for source in sources if source.until is not None]
    return Provenance(max(times, default=None), None, frozenset[str]().union(*(source.served for source in sources)))


def _apart(ledger: Ledger, fresh: Provenance) -> bool:
    """Whether some fresh reruns lie far from the base, and from every check of it."""
    known = [_first(ledger).source, *ledger.vouched]
    served = frozenset[str]().union(*(source.served for source in known))
    if served and not fresh.served <= served:
        return True
    since = max((source.since for source in known if source.since is not None), default=None)
    return since is not None and fresh.until is not None and fresh.until - since > STEADY


def _differ(first: Tally, kept: int, n: int) -> bool:
    """Whether two groups of reruns of the same context have different rates, by Fisher's test on either side."""
    if not first.n or not n:
        return False
    lower = fisher_less(kept, n, first.kept, first.n)
    higher = fisher_less(first.kept, first.n, kept, n)
    return min(lower, higher) < CHANGED
