"""What the verbs return: plain values, nothing rendered."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp
from typing import Literal

from ..context.edits import Edit
from ..search.finding import Finding, Kind
from .distribution import Distribution, Seen, StoppedBy
from .held import Held
from .places import Place
from .python_call import PythonCall

__all__ = [
    "Candidate",
    "CandidateVerdict",
    "Cause",
    "Count",
    "Distribution",
    "Fetch",
    "FixReport",
    "Held",
    "Hint",
    "Progress",
    "Seen",
    "Source",
    "SourceKind",
    "StoppedBy",
    "Strength",
    "WhyReport",
]

Strength = Literal["strong", "clear", "weak"]
"""What is left of the rate without a cause. strong: up to a fifth. clear: up to 0.35. weak: up to a half; the drop is
proven, but a search finds only some causes as weak as that."""

Count = tuple[int, int]
"""(kept, n): samples in which the decision happened again, and samples."""

STRONG, CLEAR = 0.2, 0.35

CandidateVerdict = Literal["PASS", "PART", "FAIL"]


@dataclass(frozen=True, slots=True)
class Cause:
    """One proven dependence, in the words of the trace."""

    refs: list[str]
    texts: list[str]
    """The text of each piece, exactly as recorded."""
    kind: Kind
    with_: Count
    without: Count
    p: float
    interval: tuple[float, float]
    """Newcombe's 95% interval for the drop of the rate."""
    instead: list[tuple[str, int]]
    """What the agent does without it, most frequent first."""
    events: list[int | None]
    """The event that brought each piece into the run."""
    tools: list[str | None]
    """The tool that returned each piece, for tool results."""
    places: list[Place] = field(default_factory=list[Place])
    """What part of the request each piece belongs to."""

    @property
    def ratio(self) -> float:
        """The rate without it as a share of the rate with it, as the reruns show both."""
        (kept, n), (kept_without, n_without) = self.with_, self.without
        return (kept_without / n_without) / (kept / n) if kept and n_without else 0.0

    @property
    def strength(self) -> Strength:
        """How much of the rate it leaves, in a word."""
        return "strong" if self.ratio <= STRONG else "clear" if self.ratio <= CLEAR else "weak"


@dataclass(frozen=True, slots=True)
class Hint:
    """What reruns without some pieces showed, as it is: it proves nothing."""

    refs: list[str]
    texts: list[str]
    without: Count


@dataclass(frozen=True, slots=True)
class Fetch:
    """The tool call that brought a text."""

    tool: str | None
    arguments: str | None
    """As the agent sent them; None when the request does not tell."""
    event: int | None
    """The event of the tool's run; None when it was not recorded."""
    asked: int | None
    """The reply that asked for the call."""


SourceKind = Literal["system", "user", "tool", "tools", "agent"]


@dataclass(frozen=True, slots=True)
class Source:
    """Where the text of a leading cause came from."""

    kind: SourceKind
    """`agent`: it wrote the text itself. `tool`: a tool returned it. `tools`: the definitions of the tools."""
    ref: str
    """The piece that is meant; of a cause of several texts, the one that was followed."""
    event: int | None
    """The reply that wrote it, where the agent did and one is recorded; else the event that brought it into the run."""
    tool: str | None = None
    """The tool that returned it; where the agent wrote it, the tool in whose arguments, None for its text."""
    fetch: Fetch | None = None
    """The call that returned it; also where the agent wrote it first and a tool gave it back."""


@dataclass(frozen=True, slots=True)
class WhyReport:
    """Why one recorded decision was made."""

    trace: str
    event: int
    """The `llm_response` event of the decision."""
    decision: str
    base: Count
    headline: list[str]
    """Texts of the leading cause; empty when none was proven."""
    causes: list[Cause]
    """Proven, headline first, required inputs last."""
    required: list[Cause]
    """The causes without which the agent stops or asks."""
    suspects: list[tuple[str, str, float]]
    """(ref, text, probability): likely, not proven."""
    untested: list[tuple[str, str]]
    """(ref, reason): what was not examined."""
    calls: int
    """Samples drawn from the model; answers from the reply cache cost none."""
    reused: int
    """Samples answered from the reply cache."""
    requests: int
    """Requests sent."""
    rounds: int
    """Waits for the model, one after another."""
    planned: int
    """Samples the whole search is expected to need."""
    stopped: str | None
    """Why the search ended before it was done; None when it is done."""
    finding: Finding
    pieces: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """(ref, state) of every leaf in context order; state is proven, suspected, cleared, held or untried."""
    notes: list[str] = field(default_factory=list[str])
    """What the reader has to know about this run: parameters left out, answers that did not count."""
    upstream: list[WhyReport] = field(default_factory=list["WhyReport"])
    """With depth `upstream`: why the agent wrote the leading cause, then why it wrote the cause of that, and so on.
    The costs of this report hold theirs."""
    source: Source | None = None
    """With depth `upstream`: where the leading cause came from; None when none was proven."""
    ends: str = ""
    """With depth `upstream`: why the chain goes no further."""
    passes: int = 0
    """Contexts read by the chance of the decision instead of by samples; each is one of the calls."""
    stopped_by: StoppedBy | None = None
    shifts: list[Hint] = field(default_factory=list[Hint])
    """Where nothing is proven: the largest drops that were seen."""
    against: list[Hint] = field(default_factory=list[Hint])
    """Pieces without which the decision was made more often; never called causes."""
    call: PythonCall = field(default=PythonCall("why"), compare=False, repr=False)
    """How the library was asked for it."""

    @property
    def leading(self) -> Cause | None:
        """The cause that the headline is about; None when none was proven."""
        return next((cause for cause in self.causes if cause.texts == self.headline), None)

    @property
    def missed(self) -> list[tuple[float, float]]:
        """(ratio, chance): how likely a needed text is not listed if it leaves that share of the rate, 0-1."""
        return [(ratio, 1 - exp(-number)) for ratio, number in self.finding.missed_by_ratio]

    def __str__(self) -> str:
        """The report as the command line prints it; what to do next is a call of the library."""
        from .text import to_text  # the pages are made from this module
        from .why_page import why_page

        return to_text(why_page(self, lambda step: self.call.of(step, self.trace, self.event)))


@dataclass(frozen=True, slots=True)
class Candidate:
    """One measured fix."""

    name: str
    edit: str
    """The change in words or the text added."""
    kept: int
    n: int
    """Reruns of the bad decision with the fix in which it still happened, of n."""
    p: float
    """One-sided exact p of the drop; 1 for a guard, which has no reruns of its own."""
    controls: Count
    """Benign decisions that were still made with the fix, of those rerun."""
    verdict: CandidateVerdict
    reason: str
    """Why PART or FAIL; for a guard that passes, what that rests on; otherwise empty."""
    instead: list[tuple[str, int]]
    edits: tuple[Edit, ...] = ()
    """The change itself; empty for a guard, which acts outside the model."""
    wanted: tuple[tuple[str, int | str], ...] = ()
    """(trace, event) of the benign decisions that were made in every rerun with it: a written test holds on to them."""
    forms: list[Held] = field(default_factory=list[Held])
    """What becomes of it where the cause stands elsewhere or in other words; empty when it did not come that far."""


@dataclass(frozen=True, slots=True)
class FixReport:
    """Candidate fixes, measured on the exact context that failed."""

    trace: str
    event: int
    decision: str
    base: Count
    candidates: list[Candidate]
    best: str | None
    """Name of the best candidate that passes; None when none does."""
    calls: int
    reused: int
    requests: int
    stopped: str | None
    notes: list[str] = field(default_factory=list[str])
    stopped_by: StoppedBy | None = None
    planned: int = 0
    """Samples that all candidates and controls need."""
    why: WhyReport | None = None
    """The cause that the candidates were made for."""
    call: PythonCall = field(default=PythonCall("fix"), compare=False, repr=False)
    """How the library was asked for it."""

    def __str__(self) -> str:
        """The report as the command line prints it; what to do next is a call of the library."""
        from .fix_page import fix_page  # the pages are made from this module
        from .text import to_text

        return to_text(fix_page(self, lambda step: self.call.of(step, self.trace, self.event)))


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a long verb is; handed to `on_progress`.

    The first one is the plan: it comes when all kept replies that the verb goes on from were used and the first model
    call is about to be made. Where every reply is kept it is also the last, with nothing planned.
    """

    calls: int
    """Samples drawn so far."""
    planned: int
    """Samples expected to be drawn in all, kept replies not counted; grows when the search finds that it needs more."""
    seconds_left: float | None
    """Estimate; None while there is none."""
    message: str
    """What is being done, without recorded text."""
    partial: WhyReport | FixReport | Distribution | None = None
    """What is known so far."""
    usd: float | None = None
    """US dollars spent so far; None when no price is known or was asked for."""
    planned_usd: float | None = None
    """US dollars expected in all."""
    waves: int | None = None
    """Batches expected, one after another; None where requests are not sent in batches."""
    waiting: str | None = None
    """The batch that is waited for, in a sentence; None while there is none."""
    reused: int = 0
    """Kept replies that were used so far, at no cost."""
