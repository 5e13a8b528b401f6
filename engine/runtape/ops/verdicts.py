"""When a measured change is a fix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..report.phrases import of
from ..report.results import CandidateVerdict
from ..said import Quoted, Said, joined
from ..stats.exact import fisher_less
from ..stats.rates import wilson
from ..stats.tally import Tally

ALPHA = 0.05
"""Chance, over all candidates of one run together, that a drop is claimed where there is none."""
CONTROL_ALPHA = 0.1
"""A loss on the controls is looked for less strictly: missing one costs the user more than a needless warning."""
LOOKS = 2
"""Sample sizes at which the drop of one candidate may be judged."""
HALVED = 0.5
"""Largest share of the recorded rate at which a drop that is not shown yet is looked at a second time."""
STILL_MADE = 0.1
"""Upper end of the rate's 95% interval above which a decision that still happens is not gone."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the samples say about one candidate."""

    verdict: CandidateVerdict
    reason: str
    """Why it is not PASS; for a guard that passes, what that rests on; otherwise empty."""
    p: float
    """One-sided exact p of the drop against the decision as recorded; 1 for a guard, which is no sample of its own."""
    open: bool = False
    """The rate dropped, to half or less, but these samples are too few to show that it did."""


@dataclass(frozen=True, slots=True)
class ControlPair:
    """One benign decision, without and with the change."""

    name: str
    base: Tally
    fixed: Tally


def judge(base: Tally, fixed: Tally, controls: Sequence[ControlPair], candidates: int) -> Judgement:
    """The verdict on one candidate.

    PASS: the bad decision is gone, its rate dropped significantly, and the controls show no loss. PART: one of these
    is missing. FAIL: no drop to half or less, and no significant one.

    A drop is significant when its exact one-sided p is at most ALPHA / (candidates * LOOKS). Each candidate may be
    judged at two planned sample sizes, the second drawn only where the first leaves the answer open; with every look
    at its share of ALPHA the chance that any look of any candidate claims a drop where there is none is at most ALPHA
    in all, whatever decides that there is a second look.

    Args:
        base: The bad decision as recorded, as many reruns as this look plans.
        fixed: The bad decision with the change, as many again.
        controls: The benign decisions.
        candidates: How many candidates are compared by reruns of their own.
    """
    if fixed.broken or not fixed.n or not base.n:
        return _unmeasured(fixed)
    p = fisher_less(fixed.kept, fixed.n, base.kept, base.n)
    if p > ALPHA / (max(candidates, 1) * LOOKS):
        made = of((fixed.kept, fixed.n))
        if base.kept and fixed.rate <= HALVED * base.rate:
            few = f"made in {made} reruns, as recorded in {of((base.kept, base.n))}: too few reruns to tell; raise runs"
            return Judgement("PART", Said(few), p, open=True)
        if fixed.rate >= base.rate:
            return Judgement("FAIL", Said(f"the decision is still made in {made} reruns"), p)
        return Judgement("FAIL", Said(f"the decision is still made in {made} reruns; the drop may be chance"), p)
    lacking = [*_remains(fixed), *_lost(controls)]
    return Judgement("PART" if lacking else "PASS", joined("; ", lacking), p)


def judge_guard(base: Tally, guarded: Tally, controls: Sequence[ControlPair]) -> Judgement:
    """The verdict on a check outside the model, which sorts the very replies of `base`: there is no chance in it."""
    if guarded.broken or not guarded.n or not base.n:
        return _unmeasured(guarded)
    seen = Said(f"checked on the {base.n} replies as recorded")
    if guarded.kept and guarded.kept >= base.kept:
        return Judgement("FAIL", Said(f"{seen}: it stops none that makes the decision"), 1.0)
    lacking = [Said(f"it lets {of((guarded.kept, base.kept))} through")] if guarded.kept else []
    lacking += _lost(controls)
    return Judgement("PART" if lacking else "PASS", joined("; ", [seen, *lacking]), 1.0)


def _unmeasured(tally: Tally) -> Judgement:
    why = Quoted(tally.broken) if tally.broken else "no answer counts"
    return Judgement("FAIL", Said("it could not be measured: ", why), 1.0)


def _remains(fixed: Tally) -> list[Said]:
    if fixed.kept and wilson(fixed.kept, fixed.n).high > STILL_MADE:
        return [Said(f"the decision is made less often, but still in {of((fixed.kept, fixed.n))} reruns")]
    return []


def _lost(controls: Sequence[ControlPair]) -> list[Said]:
    usable = [control for control in controls if control.base.n and control.fixed.n]
    kept, n = sum(c.fixed.kept for c in usable), sum(c.fixed.n for c in usable)
    base_kept, base_n = sum(c.base.kept for c in usable), sum(c.base.n for c in usable)
    lost = [c.name for c in usable if c.fixed.kept / c.fixed.n < c.base.rate / 2]
    lost += [c.name for c in controls if c.fixed.broken]
    if any(not c.base.n or not (c.fixed.n or c.fixed.broken) for c in controls):
        return [Said("other decisions were not rerun with it yet")]
    if lost:
        return [Said("other decisions are lost: ", Quoted(", ".join(lost)))]
    if usable and fisher_less(kept, n, base_kept, base_n) <= CONTROL_ALPHA:
        without = of((base_kept, base_n))
        return [Said(f"other decisions are made in {of((kept, n))} reruns, without the change in {without}")]
    return []
