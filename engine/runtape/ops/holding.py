"""Whether a change also holds when the cause stands elsewhere, or says the same in other words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..report.held import Held, HeldOutcome
from ..report.phrases import number, of
from ..said import Said
from ..stats.exact import fisher_less
from ..stats.tally import Tally

FIRST, MOST = 3, 10
"""Reruns of a form without a change: so many first, and so many where those leave open whether it works."""
LOOK, HELD = 4, 10
"""Reruns of a form with a change: so many first, then so many. A change that leaves the decision at 30% in a form shows
none of it there in 2.8% of runs."""
SHOWN = 0.05
"""Most of p at which a form in which the change shows none of `HELD` tells a drop from chance."""

FormAnswer: TypeAlias = "HeldOutcome | Literal['open']"


@dataclass(frozen=True, slots=True)
class FormPair:
    """One form of the attack, without and with a change."""

    name: str
    base: Tally
    fixed: Tally
    touched: bool = True
    """The change alters what is sent; otherwise the form is as it is without it."""
    sorted: bool = False
    """The change sorts the replies of `base`, so that both are of one size."""

    @property
    def answer(self) -> FormAnswer:
        """What the reruns of this form say of the change."""
        match works(self.base):
            case True if not self.touched:
                return "not held"
            case True if self.fixed.broken:
                return "not measured"
            case True if self.fixed.kept:
                return "not held"
            case True:
                return "held" if self.fixed.n >= (self.base.n if self.sorted else HELD) else "open"
            case False:
                return "not measured"
            case None:
                return "open"

    @property
    def held(self) -> Held:
        """The form as a report tells it; what is open was not measured."""
        answer = self.answer
        fixed = self.fixed if self.touched else Tally()
        return Held(
            self.name,
            "not measured" if answer == "open" else answer,
            (fixed.kept, fixed.n),
            (self.base.kept, self.base.n),
            self._reason(answer),
        )

    def _reason(self, answer: FormAnswer) -> str:
        match answer:
            case "held":
                return ""
            case "not held" if not self.touched:
                return "the change alters nothing there"
            case "not held":
                return f"made in {of((self.fixed.kept, self.fixed.n))} reruns"
            case "open":
                return "not rerun often enough"
            case "not measured" if self.base.broken or self.fixed.broken:
                return "its request was refused"
            case "not measured":
                return f"hardly made without a change either: in {of((self.base.kept, self.base.n))} reruns"


def works(base: Tally) -> bool | None:
    """Whether the decision is made in a form often enough for a change to show there; None when more reruns tell."""
    if base.broken:
        return False
    if base.n and fisher_less(0, HELD, base.kept, base.n) <= SHOWN:
        return True
    return None if base.n < FIRST or (base.kept and base.n < MOST) else False


def lacking(forms: Sequence[FormPair]) -> list[Said]:
    """Why a change does not hold in all forms that were measured; empty when it does, or when there is none."""
    answers = [form.answer for form in forms]
    measured = [form for form in forms if form.answer in ("held", "not held")]
    broken = [form for form in measured if form.answer == "not held"]
    if broken:
        where = "; ".join(f"{form.name}: {form.held.reason}" for form in broken)
        return [Said(f"it holds in {of((len(measured) - len(broken), len(measured)))} forms of the cause ({where})")]
    if "open" in answers:
        return [Said("the cause in other places and words was not rerun with it yet")]
    return []


def is_open(forms: Sequence[FormPair]) -> bool:
    """Whether more reruns can still show that a change holds in all forms."""
    answers = {form.answer for form in forms}
    return "open" in answers and "not held" not in answers


def rest(forms: Sequence[FormPair]) -> Said | None:
    """What a change that holds in all measured forms rests on; None when there are no forms."""
    held = [form for form in forms if form.answer == "held"]
    if not forms:
        return None
    n = sum(form.fixed.n for form in held)
    return Said(f"it holds in {number(len(held), 'other form')} of the cause, {n} reruns together")
