"""Decisions that a fix must not break."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

from ..context.apply import apply
from ..context.edits import Drop, Edit
from ..errors import BadInput, BudgetSpent, EditChangesNothing
from .case import Case, EventInput, TraceInput, open_case
from .judging import Judging

ControlInput: TypeAlias = "str | tuple[TraceInput, EventInput]"
"""`TRACE:EVENT`, `EVENT` of the same run, or (trace, event)."""

Address: TypeAlias = "tuple[str, int | str]"
"""(trace, event)."""

MOST = 4
"""Controls taken from the run itself. Each costs reruns for every candidate, and near decisions tell most."""

_SPELLED = re.compile(r"(?:(?P<trace>(?!tool:).+?):)?(?P<event>[0-9]+|last|tool:.+)", re.DOTALL)
"""A path may hold colons, and a tool's name too."""


@dataclass(frozen=True, slots=True)
class Control:
    """A benign decision under a name for the report."""

    name: str
    case: Case

    @property
    def address(self) -> Address:
        """Where it is found again."""
        moment = self.case.moment
        event = moment.response.id if moment.tool is None else f"tool:{moment.tool}"
        return str(self.case.trace.path.resolve()), event


async def own_controls(case: Case, judging: Judging) -> list[Control]:
    """The nearest other decisions of the same run, in the order of the run; none of them the bad decision again.

    Raises:
        ModelFailed: whether one is the bad decision takes a model, which cannot answer.
    """
    calls = [call for call in case.trace.calls if call.response is not None]
    here = next((at for at, call in enumerate(calls) if call.response == case.moment.response), 0)
    found: list[tuple[int, Control]] = []
    for at in sorted(range(len(calls)), key=lambda at: abs(at - here)):
        response = calls[at].response
        if at == here or response is None:
            continue
        try:
            other = open_case(case.trace, response.id)
        except BadInput:
            continue  # a reply that was cut, or a request that cannot be rebuilt, is no decision to keep
        with suppress(BudgetSpent):  # the search for the cause comes to the same end, and reports it
            await judging.learn([other.reply])
        if judging.settled(other.reply).verdict not in ("same", "unjudged"):
            found.append((at, Control(f"event {response.id}", other)))
        if len(found) == MOST:
            break
    return [control for _, control in sorted(found, key=lambda pair: pair[0])]


def named_controls(case: Case, controls: Iterable[ControlInput]) -> list[Control]:
    """The caller's controls for a decision.

    Raises:
        BadInput: one of them is neither EVENT nor TRACE:EVENT, or is no decision.
    """
    return [_named(case, control) for control in controls]


def applicable(case: Case, edits: frozenset[Edit]) -> frozenset[Edit]:
    """Those of the edits that change this request; what they change in another may not be in it."""
    refs = {piece.ref for piece in case.context.pieces}
    return frozenset(edit for edit in edits if (edit.ref in refs if isinstance(edit, Drop) else _changes(case, edit)))


def _changes(case: Case, edit: Edit) -> bool:
    try:
        apply(case.context, frozenset({edit}))
    except EditChangesNothing:
        return False
    return True


def _named(case: Case, control: ControlInput) -> Control:
    if isinstance(control, str):
        spelled = _SPELLED.fullmatch(control)
        if not spelled:
            raise BadInput(
                f"The control {control!r} is neither EVENT nor TRACE:EVENT, such as 12 or inbox:tool:send_email."
            )
        trace: TraceInput = spelled["trace"] or case.trace
        event: EventInput = spelled["event"]
    else:
        trace, event = control
    benign = open_case(trace, event)
    return Control(f"{benign.trace.name} event {benign.moment.response.id}", benign)
