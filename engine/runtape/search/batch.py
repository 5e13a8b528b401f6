"""What to ask for in one round, within the budget."""

from __future__ import annotations

from collections.abc import Container, Iterable

from .ledger import RECORDED, Ending, Ledger, Variant
from .protocol import POOL, Search, Want

FRUITLESS = 3
"""Samples that came back without counting after which a variant is not asked for more."""


ROUNDS_WITHOUT_ANSWER = 3
"""Rounds in a row without a counting sample after which the search ends: the model does not answer this context."""


class SearchEnds(Exception):
    """Raised when a batch cannot be asked for any more; the ledger holds all that was found."""

    def __init__(self, ending: Ending) -> None:
        """Keeps why."""
        super().__init__(ending)
        self.ending: Ending = ending


class Batch:
    """Wants of one round, most important first; asking for what is already there adds nothing."""

    def __init__(self, ledger: Ledger) -> None:
        """An empty batch."""
        self._ledger = ledger
        self._wanted: dict[tuple[Variant, str], int] = {}
        self._ahead: dict[tuple[Variant, str], int] = {}

    def __bool__(self) -> bool:
        return bool(self._wanted)

    def asks_only(self, variants: Container[Variant]) -> bool:
        """Whether it wants something, and nothing but some variants."""
        return bool(self) and all(variant in variants for variant, _ in self._wanted)

    def reach(self, variant: Variant, n: int, series: str) -> None:
        """Have at least `n` samples of a variant in a series."""
        key = (variant, series)
        if n > max(self._ledger.record(*key).asked, self._wanted.get(key, 0)):
            self._wanted[key] = n

    def base(self, n: int) -> None:
        """Have at least `n` samples of the context as recorded."""
        self.reach(RECORDED, n, self._ledger.base_series)

    def more(self, variant: Variant, n: int, series: str = POOL) -> None:
        """Have `n` samples more than there are, unless the variant yields none that count."""
        record = self._ledger.record(variant, series)
        if record.last.broken is None and record.asked - record.last.n < FRUITLESS:
            self.reach(variant, max(record.asked, self._wanted.get((variant, series), 0)) + n, series)

    def pools(self, pools: Iterable[Iterable[int]], n: int | None = None) -> None:
        """Have `n` more samples of each pool of units, by default as many as the settings say."""
        for pool in pools:
            self.more(self._ledger.units.leaves(pool), self._ledger.settings.pooling.samples if n is None else n)

    def ahead(self, variant: Variant, n: int, series: str = POOL) -> None:
        """The next batch will most likely want `n` samples of a variant in a series; changes nothing in this one."""
        if self._ledger.eager:
            self._ahead[variant, series] = n

    def ask(self) -> Search[Variant, None]:
        """Asks for the batch and enters the answers in the ledger.

        Where the budget does not allow all of it, wants are left out from the end.

        Raises:
            SearchEnds: not even the first want fits, or nothing counted in the last rounds.
        """
        if self._ledger.fruitless >= ROUNDS_WITHOUT_ANSWER:
            raise SearchEnds("void answers")
        wants: list[Want[Variant]] = []
        left = self._ledger.left
        for (variant, series), n in self._wanted.items():
            left -= n - self._ledger.record(variant, series).asked
            if left < 0:
                break
            wants.append(Want(variant, n, series, self._ahead.pop((variant, series), 0)))
        if not wants:
            raise SearchEnds("budget")
        later = [Want(variant, 0, series, n) for (variant, series), n in self._ahead.items()]
        tallies = yield [*wants, *later]
        self._ledger.enter(wants, tallies[: len(wants)])
