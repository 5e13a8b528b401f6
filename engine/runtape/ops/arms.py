"""What a trial reruns, and what the reruns have shown of one candidate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ..context.edits import Edit
from ..stats.tally import Tally
from .guard import AnyGuard
from .holding import FormPair
from .verdicts import ControlPair, Judgement


@dataclass(frozen=True, slots=True)
class Arm:
    """One recorded decision, rerun with one change."""

    case: int
    """0 for the bad decision, then the controls, then the other forms of its cause."""
    edits: frozenset[Edit] = frozenset()
    guard: AnyGuard | None = None
    """A check on the replies. It sends nothing, so its arm shares the samples of the arm without it."""


Sized: TypeAlias = tuple[Arm, int]
"""An arm and how many of its reruns were asked for."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One candidate with its evidence so far."""

    fixed: Tally
    controls: tuple[ControlPair, ...]
    judgement: Judgement
    forms: tuple[FormPair, ...] = ()
    """The other forms of the cause; none where the candidate was not tried in them."""
