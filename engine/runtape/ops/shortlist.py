"""Measured proposals as candidates of a report, and the best of them."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from ..context.edits import by_place
from ..report.results import Candidate
from .controls import Address, Control
from .proposals import Proposal
from .trial import Trial
from .verdicts import ENOUGH, ControlPair


def shortlist(proposals: Sequence[Proposal], trial: Trial, controls: Sequence[Control] = ()) -> list[Candidate]:
    """Every proposal that was measured, with its evidence, in the same order."""
    addresses = {control.name: control.address for control in controls}
    return [
        _candidate(proposal, trial, addresses)
        for proposal in proposals
        if (fixed := trial.measured(proposal.name).fixed).n or fixed.broken
    ]


def race_order(proposals: Sequence[Proposal], own: Container[str]) -> list[str]:
    """The names in the order in which they are confirmed.

    The caller's `own` come first, as they were given. Then the shortest change; leaving the source out comes last.
    """

    def place(proposal: Proposal) -> tuple[bool, bool, int]:
        if proposal.name in own:
            return False, False, 0
        return True, by_place(proposal.edits), len(proposal.words)

    return [proposal.name for proposal in sorted(proposals, key=place)]


def best_of(candidates: Sequence[Candidate]) -> str | None:
    """Name of the best candidate that passes: the rarest bad decision, the fewest lost controls, the shortest change.

    A change that a test can hold on to comes before a guard: that is code of the user, and no rerun tests it. Leaving
    the source out comes after every other change: it shows where the cause is, not what an agent could do about it.
    """
    passing = [candidate for candidate in candidates if candidate.verdict == "PASS"]
    return min(passing, key=_order).name if passing else None


def _candidate(proposal: Proposal, trial: Trial, addresses: Mapping[str, Address]) -> Candidate:
    found = trial.measured(proposal.name)
    measured = [pair.fixed for pair in found.controls if pair.fixed.n]
    return Candidate(
        name=proposal.name,
        edit=proposal.words,
        kept=found.fixed.kept,
        n=found.fixed.n,
        p=found.judgement.p,
        controls=(sum(tally.kept for tally in measured), sum(tally.n for tally in measured)),
        verdict=found.judgement.verdict,
        reason=found.judgement.reason,
        instead=list(found.fixed.instead),
        edits=tuple(sorted(proposal.edits, key=repr)),
        wanted=tuple(addresses[pair.name] for pair in found.controls if pair.name in addresses and _is_steady(pair)),
        forms=[form.held for form in found.forms],
    )


def _is_steady(pair: ControlPair) -> bool:
    """Whether a benign decision was made in every rerun, without and with the change, so that a test can rest on it."""
    return pair.touched and pair.fixed.n >= ENOUGH and not pair.fixed.flips and not pair.base.flips


def _order(candidate: Candidate) -> tuple[bool, bool, float, int, int]:
    kept, n = candidate.controls
    return not candidate.edits, by_place(candidate.edits), candidate.kept / candidate.n, n - kept, len(candidate.edit)
