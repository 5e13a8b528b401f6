"""Which parts of a context caused a decision: the search as a whole.

The design, and what a new pass must keep, is in docs/design/attribution.md.
"""

from __future__ import annotations

from .batch import SearchEnds
from .finding import Claim, Finding
from .gate import nothing_else_matters, nothing_read_matters
from .headline import has_headline, settle_headline
from .keep_only import suffices
from .ledger import Ledger, Variant
from .members import prove_members
from .needed import SUSPECT_CARE, WEAK_CARE, find_needed
from .opening import open_search
from .orders import try_orders
from .problem import Problem
from .protocol import Search
from .ranking import ranked_claims
from .sets import find_set, try_sets
from .settings import Settings
from .summary import summarise
from .top_up import top_up
from .unexplained import by_suspicion, explain_flips

NO_SET = 0.4
"""Chance that no set of the context matters, before searching for one."""


class Attribution:
    """One search; `run` is the generator that does it, `finding` what is known at any moment of it."""

    def __init__(self, problem: Problem, settings: Settings | None = None) -> None:
        """A search that has asked for nothing yet."""
        self._ledger = Ledger(problem, settings or Settings())

    def run(self) -> Search[Variant, Finding]:
        """Yields batches of wants until the search is done or the budget is spent, and returns the finding.

        Run it once. The same problem, settings and tallies give the same batches and the same finding, so an
        interrupted search resumes by being run again over the samples that exist.
        """
        try:
            yield from self._passes()
            yield from top_up(self._ledger)
            self._ledger.ended = "done"
        except SearchEnds as end:
            self._ledger.ended = end.ending
        return self.finding()

    def finding(self, *, stopped: bool = False) -> Finding:
        """What is proven, suspected and cleared so far; valid at any moment.

        Args:
            stopped: Somebody stopped the search before it was done.
        """
        return summarise(self._ledger, stopped=stopped)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What slots have proven so far, headline first; `finding` leaves out what later reruns contradict."""
        return ranked_claims(self._ledger)

    def _passes(self) -> Search[Variant, None]:
        """The recipe: the base, suspects, needed units, then what is proven about them."""
        ledger = self._ledger
        sweeps = yield from open_search(ledger)
        if ledger.answer:
            return
        if ledger.problem.together:
            yield from try_sets(ledger)
        if ledger.units.suspects:
            yield from find_needed(ledger, care=SUSPECT_CARE)
        if not self._is_satisfied():
            yield from find_needed(ledger, sweeps)
        if not self._is_satisfied():
            yield from self._widen()
        if not ledger.answer:
            yield from prove_members(ledger)
            yield from settle_headline(ledger, check=True)

    def _widen(self) -> Search[Variant, None]:
        """What the first search left: pinned units, unexplained flips, sets, causes that are weak."""
        ledger = self._ledger
        if ledger.hold:
            ledger.hold = frozenset()
            yield from find_needed(ledger, ("pinned",))
        yield from settle_headline(ledger)
        yield from explain_flips(ledger)
        if not ledger.proven:
            if (yield from nothing_read_matters(ledger)):
                yield from try_orders(ledger)
                if not ledger.proven:
                    ledger.answer = "nothing read matters"
                return
            yield from find_needed(ledger, care=WEAK_CARE)
        if not has_headline(ledger) and not (yield from nothing_else_matters(ledger)):
            rest = frozenset(range(len(ledger.units))) - ledger.proven_units
            yield from find_set(ledger, by_suspicion(ledger, rest), NO_SET)
        if ledger.settings.depth == "full":
            yield from settle_headline(ledger, check=True)
            if not suffices(ledger):
                yield from find_needed(ledger, care=WEAK_CARE)

    def _is_satisfied(self) -> bool:
        """Whether a quick search has what it came for."""
        return self._ledger.settings.depth == "quick" and has_headline(self._ledger)
