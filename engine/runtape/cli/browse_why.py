"""`why` in the middle of a walk: what it will cost, whether to go on, and the report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast, get_args

from ..errors import BadInput
from ..report.document import Document, Paragraph
from ..report.results import WhyReport
from ..report.why_page import why_page
from ..trace.trace import Trace
from . import console, options, typed

_Depth: TypeAlias = Literal["quick", "full", "upstream"]
_YES = frozenset({"y", "yes"})


@dataclass(frozen=True, slots=True)
class BrowseWhy:
    """Explains decisions of one run; nothing is sent before the cost was told and agreed to."""

    trace: Trace
    ask: Callable[[str], str]
    """Puts a question to whoever walks; gives the line that answers it."""
    budget: int
    reruns: options.RerunFlags

    def __call__(self, event: int, depth: str) -> Document:
        """The report on the decision of an event, a partial one after Ctrl-C.

        Raises:
            RuntapeError: as `why` does, or `depth` is none.
        """
        if depth not in get_args(_Depth):
            raise BadInput(f"{depth[:40]!r} is no depth of why; give quick, full or upstream.")
        # numpy and the search are only needed once there is something to explain.
        from ..ops import explain
        from ..ops.ending import stopped
        from ..ops.investigation import Inquiry
        from ..ops.sync import run

        case = options.open_decision(self.trace, str(event), options.DecisionFlags())
        inquiry = Inquiry(case, depth=cast("_Depth", depth), budget=self.budget)
        asking = self.reruns.asking(self.budget)
        spell = typed.speller(str(self.trace.path), event)
        plan = run(explain.plan(inquiry, asking))
        if plan.planned:
            cost = console.plan(plan)
            if self.ask(f"That takes {cost}. Send them? [y/N] ").strip().lower() not in _YES:
                return (Paragraph((f"Nothing was sent. It would take {cost}; answer y to go on.",)),)
        with console.watching() as watch:
            try:
                report = run(explain.explain(inquiry, asking, watch))
            except KeyboardInterrupt:
                if watch.latest is not None and isinstance(watch.latest.partial, WhyReport):
                    return why_page(stopped(watch.latest.partial), spell)
                console.stopped_too_early()
                raise
        return why_page(report, spell)
