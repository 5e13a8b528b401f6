"""When a measured change is a fix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..report.phrases import of
from ..report.results import CandidateVerdict
from ..stats.exact import fisher_less
from ..stats.rates import wilson
from ..stats.tally import Tally

ALPHA = 0.05
"""Chance, over all candidates of one run together, that a drop is claimed where there is none."""
CONTROL_ALPHA = 0.1
"""A loss on the controls is looked for less strictly: missing one costs the user more than a needless warning."""
STILL_MADE = 0.1
"""Upper end of the rate's 95% interval above which a decision that still happens is not gone."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the samples say about one candidate."""

    verdict: CandidateVerdict
    reason: str
    """Why it is not PASS; empty for PASS."""
    p: float
    """One-sided exact p of the drop against the decision as recorded."""


@dataclass(frozen=True, slots=True)
class ControlPair:
    """One benign decision, without and with the change."""

    name: str
    base: Tally
    fixed: Tally


def judge(base: Tally, fixed: Tally, controls: Sequence[ControlPair], candidates: int) -> Judgement:
    """The verdict on one candidate.

    PASS: the bad decision is gone, its rate dropped significantly, and the controls show no loss. PART: one of these
    is missing. FAIL: no significant drop.

    Args:
        base: The bad decision as recorded.
        fixed: The bad decision with the change.
        controls: The benign decisions.
        candidates: How many candidates are compared in this run; the significance of the drop is shared among them.
    """
    if fixed.broken or not fixed.n or not base.n:
        return Judgement("FAIL", f"it could not be measured: {fixed.broken or 'no answer counts'}", 1.0)
    p = fisher_less(fixed.kept, fixed.n, base.kept, base.n)
    if p > ALPHA / max(candidates, 1):
        made = of((fixed.kept, fixed.n))
        if fixed.kept / fixed.n >= base.rate:
            return Judgement("FAIL", f"the decision is still made in {made} reruns", p)
        return Judgement("FAIL", f"the decision is still made in {made} reruns; the drop may be chance", p)
    lacking = [*_remains(fixed), *_lost(controls)]
    return Judgement("PART" if lacking else "PASS", "; ".join(lacking), p)


def _remains(fixed: Tally) -> list[str]:
    if fixed.kept and wilson(fixed.kept, fixed.n).high > STILL_MADE:
        return [f"the decision is made less often, but still in {of((fixed.kept, fixed.n))} reruns"]
    return []


def _lost(controls: Sequence[ControlPair]) -> list[str]:
    usable = [control for control in controls if control.base.n and control.fixed.n]
    kept, n = sum(c.fixed.kept for c in usable), sum(c.fixed.n for c in usable)
    base_kept, base_n = sum(c.base.kept for c in usable), sum(c.base.n for c in usable)
    lost = [c.name for c in usable if c.fixed.kept / c.fixed.n < c.base.rate / 2]
    lost += [c.name for c in controls if c.fixed.broken]
    if any(not c.base.n or not (c.fixed.n or c.fixed.broken) for c in controls):
        return ["other decisions were not rerun with it yet"]
    if lost:
        return [f"other decisions are lost: {', '.join(lost)}"]
    if usable and fisher_less(kept, n, base_kept, base_n) <= CONTROL_ALPHA:
        return [f"other decisions are made in {of((kept, n))} reruns, without the change in {of((base_kept, base_n))}"]
    return []
