"""When a measured change is a fix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..report.phrases import of
from ..report.results import CandidateVerdict
from ..said import Quoted, Said, joined
from ..stats.exact import fisher_less
from ..stats.keeping import KeepAnswer, KeepTest
from ..stats.tally import Tally
from .holding import FormPair, is_open, lacking

ALPHA = 0.05
"""Chance, over all candidates of one run together, that a drop is claimed where there is none."""
LOOKS = 2
"""Numbers of reruns as recorded that the drop of one candidate may be compared with."""
GONE = 34
"""Reruns, none with the decision, after which it is called gone: one that is left at 10% gets there in 2.8% of runs."""
HALVED = 0.5
"""Largest share of the recorded rate at which the decision is called rarer."""
ENOUGH = 4
"""Reruns of one control from which its own loss is judged; fewer say too little."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the samples say about one candidate."""

    verdict: CandidateVerdict
    reason: str
    """Why it is not PASS; for a guard that passes, what that rests on; otherwise empty."""
    p: float
    """One-sided exact p of the drop against the decision as recorded; 1 for a guard, which is no sample of its own."""
    open: bool = False
    """More reruns can still make it a PASS."""


@dataclass(frozen=True, slots=True)
class ControlPair:
    """One benign decision, without and with the change."""

    name: str
    base: Tally
    fixed: Tally
    touched: bool = True
    """The change alters what is sent for it; otherwise there is nothing to lose."""


def verdict_on(
    base: Tally, fixed: Tally, controls: Sequence[ControlPair], candidates: int, forms: Sequence[FormPair] = ()
) -> Judgement:
    """The verdict on one candidate.

    PASS: no bad decision in `GONE` reruns, significantly fewer than as recorded, the controls are shown to be kept
    (`KeepTest`), and it is gone in every other form of the cause in which it is made without the change (`FormPair`).
    PART: the decision is rarer, and one of these is missing. FAIL: it is not rarer.

    A drop is significant when its exact one-sided p is at most ALPHA / (candidates * LOOKS): the decision with the
    change is compared at one planned size, with one of two sizes as recorded, and whatever ends the reruns of a
    candidate earlier only claims less.

    Args:
        base: The bad decision as recorded.
        fixed: The bad decision with the change.
        controls: The benign decisions.
        candidates: How many candidates are compared by reruns of their own.
        forms: The other forms of the cause.
    """
    if fixed.broken or not fixed.n or not base.n:
        return _unmeasured(fixed)
    p = fisher_less(fixed.kept, fixed.n, base.kept, base.n)
    shown = p <= ALPHA / (max(candidates, 1) * LOOKS)
    made, recorded = of((fixed.kept, fixed.n)), of((base.kept, base.n))
    if not base.kept:
        return Judgement("FAIL", Said(f"the decision is made in {made} reruns, as recorded in {recorded}"), p)
    if fixed.kept:
        if shown:
            rest = joined(
                "; ", [Said(f"the decision is made less often, but still in {made} reruns"), *_harm(controls)]
            )
            return Judgement("PART", rest, p)
        if fixed.rate <= HALVED * base.rate:
            few = f"made in {made} reruns, as recorded in {recorded}: not gone, and too few reruns to tell a drop"
            return Judgement("PART", Said(few), p)
        chance = "" if fixed.rate >= base.rate else "; the drop may be chance"
        return Judgement("FAIL", Said(f"the decision is still made in {made} reruns{chance}"), p)
    if fixed.n < GONE:
        few = f"made in {made} reruns, which is too few to call it gone: that takes {GONE}"
        return Judgement("PART", Said(few), p, open=True)
    if not shown:
        few = f"made in {made} reruns, as recorded in {recorded}: too few reruns to tell; raise runs"
        return Judgement("PART", Said(few), p)
    missing = _harm(controls)
    if missing:
        return Judgement("PART", joined("; ", missing), p, open=undecided(controls))
    missing = lacking(forms)
    return Judgement("PART" if missing else "PASS", joined("; ", missing), p, open=is_open(forms))


def verdict_on_guard(
    base: Tally, guarded: Tally, controls: Sequence[ControlPair], forms: Sequence[FormPair] = ()
) -> Judgement:
    """The verdict on a check outside the model, which sorts the very replies of `base`: there is no chance in it."""
    if guarded.broken or not guarded.n or not base.n:
        return _unmeasured(guarded)
    seen = Said(f"checked on the {base.n} replies as recorded")
    if guarded.kept and guarded.kept >= base.kept:
        return Judgement("FAIL", Said(f"{seen}: it stops none that makes the decision"), 1.0)
    missing = [Said(f"it lets {of((guarded.kept, base.kept))} through")] if guarded.kept else []
    wanted, through = sum(pair.base.kept for pair in controls), sum(pair.fixed.kept for pair in controls)
    if any(pair.base.n != pair.fixed.n for pair in controls):
        missing.append(_NOT_YET)
    elif through < wanted:
        names = ", ".join(pair.name for pair in controls if pair.fixed.kept < pair.base.kept)
        missing.append(Said(f"it blocks {of((wanted - through, wanted))} wanted replies: ", Quoted(names)))
    may_pass = not missing
    missing += lacking(forms) if may_pass else []
    verdict: CandidateVerdict = "PART" if missing else "PASS"
    return Judgement(verdict, joined("; ", [seen, *missing]), 1.0, open=may_pass and is_open(forms))


def undecided(controls: Sequence[ControlPair]) -> bool:
    """Whether more reruns of the controls can still show that they are kept."""
    return not _lost(controls) and _kept(controls) == "open"


def still_needed(controls: Sequence[ControlPair]) -> int:
    """Further reruns of the controls together that show that they are kept, if none of them is a loss."""
    kept, n = _counts(controls)
    return _test(controls).needed(kept, n)


def _unmeasured(tally: Tally) -> Judgement:
    why = Quoted(tally.broken) if tally.broken else "no answer counts"
    return Judgement("FAIL", Said("it could not be measured: ", why), 1.0)


_NOT_YET = Said("other decisions were not rerun with it yet")


def _harm(controls: Sequence[ControlPair]) -> list[Said]:
    """Why the controls do not show that nothing is lost; empty when they do, or when there is none to lose."""
    if lost := _lost(controls):
        return [Said("other decisions are lost: ", Quoted(", ".join(lost)))]
    if any(pair.touched and not pair.fixed.n for pair in controls):
        return [_NOT_YET]
    (kept, n), (base_kept, base_n) = _counts(controls), _counts(controls, of_base=True)
    told = f"other decisions are made in {of((kept, n))} reruns, without the change in {of((base_kept, base_n))}"
    match _kept(controls):
        case "kept":
            return []
        case "lost":
            return [Said(told)]
        case "open":
            return [Said(f"{told}: too few to tell that none is lost")]


def _lost(controls: Sequence[ControlPair]) -> list[str]:
    """Controls that the change alone breaks."""
    return [
        pair.name
        for pair in controls
        if pair.fixed.broken
        or (pair.touched and pair.base.n and pair.fixed.n >= ENOUGH and pair.fixed.rate < pair.base.rate / 2)
    ]


def _kept(controls: Sequence[ControlPair]) -> KeepAnswer:
    if not any(pair.touched for pair in controls):
        return "kept"
    return _test(controls).answer(*_counts(controls))


def _test(controls: Sequence[ControlPair]) -> KeepTest:
    kept, n = _counts(controls, of_base=True)
    return KeepTest(kept / n if n else 1.0)


def _counts(controls: Sequence[ControlPair], *, of_base: bool = False) -> tuple[int, int]:
    """Kept and all reruns of the controls that the change touches."""
    tallies = [pair.base if of_base else pair.fixed for pair in controls if pair.touched]
    return sum(tally.kept for tally in tallies), sum(tally.n for tally in tallies)
