"""What a run of `fix` did not measure, told to its reader."""

from __future__ import annotations

from collections.abc import Sequence

from ..context.edits import by_place
from ..report.phrases import of
from ..said import Quoted, Said
from .controls import Control
from .forms import Forms
from .proposals import Proposal
from .trial import ALLOWANCE, Trial

_NOT_WIDENED = Said("No candidate came as far as the other forms of the cause: they were not tried.")
_BY_PLACE = "Not tried in the other forms of the cause, since it leaves pieces out by their place: "
_NO_OTHER = Said("This run has no other decision to rerun: what the changes break elsewhere is not known.")
_RESERVE = "Not rerun, since another change passed before their turn: "
_UNCONFIRMED = (
    "Only changes that lead are rerun often enough to pass, while all of them together stay within {} reruns each. "
    "To confirm another one, give it as a candidate of your own: those come first."
)


def coverage(proposals: Sequence[Proposal], trial: Trial, controls: Sequence[Control], forms: Forms) -> list[str]:
    """What was not measured, and why; one note each."""
    return [*_forms(proposals, trial, forms), *_controls(trial, controls), *_race(trial)]


def _forms(proposals: Sequence[Proposal], trial: Trial, forms: Forms) -> list[str]:
    notes: list[str] = [*forms.notes]
    measured = {proposal.name: trial.measured(proposal.name) for proposal in proposals}
    passing = [proposal for proposal in proposals if measured[proposal.name].judgement.verdict == "PASS"]
    if untried := [proposal.name for proposal in passing if by_place(proposal.edits)]:
        notes.append(Said(_BY_PLACE, Quoted(", ".join(untried)), "."))
    if forms.there and not any(found.forms for found in measured.values()):
        notes.append(_NOT_WIDENED)
    for form, base in trial.unworkable():
        told = "its request is refused" if base.broken else f"the decision is made in {of((base.kept, base.n))} reruns"
        notes.append(Said(f"Not measured with the cause {form}: without a change, {told}."))
    return notes


def _controls(trial: Trial, controls: Sequence[Control]) -> list[str]:
    if not controls:
        return [_NO_OTHER]
    if unusable := trial.unusable():
        again = "they are not made again even without a change"
        return [Said(f"Left out as controls, since {again}: ", Quoted(", ".join(unusable)), ".")]
    return []


def _race(trial: Trial) -> list[str]:
    notes: list[str] = [Said(_UNCONFIRMED.format(ALLOWANCE))] if trial.unconfirmed() else []
    if trial.reserve:
        notes.append(Said(_RESERVE, Quoted(", ".join(trial.reserve)), "."))
    return notes
