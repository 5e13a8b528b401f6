"""The decisions that a written test holds on to because they were wanted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..context.edits import Edit
from ..errors import BadInput
from .case import Case
from .controls import Control, ControlInput, applicable, named_controls
from .rendering import Wanted


@dataclass(frozen=True, slots=True)
class WantedDecisions:
    """What a test says about them, and the traces that it needs beside its own."""

    groups: tuple[Wanted, ...]
    traces: tuple[Path, ...]


def wanted_by(
    case: Case, edits: frozenset[Edit], controls: Sequence[ControlInput], *, named: bool, always: bool
) -> WantedDecisions:
    """The controls of a test, in groups that are changed alike.

    Args:
        case: The decision that must not come back.
        edits: The change.
        controls: Decisions that were wanted.
        named: The caller named them, so that one of them that is none is refused.
        always: The test also uses code of the user, which may change any request.

    Raises:
        BadInput: a control is no decision, is the one that must not come back, or the change does not touch it.
    """
    own = case.trace.path.resolve()
    numbers: dict[Path, int] = {own: 0}
    groups: dict[frozenset[Edit], list[tuple[int, int | str]]] = {}
    for control in named_controls(case, controls):
        path, (_, event) = control.case.trace.path.resolve(), control.address
        if (path, control.case.moment.response.id) == (own, case.moment.response.id):
            raise BadInput(f"The control {control.name!r} is the decision that must not come back. Name another one.")
        touching = applicable(control.case, edits)
        if touching or always:
            number = numbers.setdefault(path, len(numbers))
            groups.setdefault(touching, []).append((number, event))
        elif named:
            raise BadInput(_untouched(control))
    found = tuple(Wanted(tuple(dict.fromkeys(decisions)), touching) for touching, decisions in groups.items())
    return WantedDecisions(found, tuple(path for path, number in numbers.items() if number))


def _untouched(control: Control) -> str:
    return (
        f"The change alters nothing that is sent for the control {control.name!r}, so nothing can be lost there. Leave "
        "it out."
    )
