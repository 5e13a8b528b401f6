"""Arguments and flags that several commands share, each described once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from ..errors import BadInput
from . import console, values

if TYPE_CHECKING:
    from ..ops.asking import Asking
    from ..ops.case import Case, Selection
    from ..ops.investigation import Inquiry
    from ..trace.trace import Trace


def trace_names(incomplete: str) -> list[str]:
    """What a shell may complete for a trace: `last`, and the names in the trace folder, newest first."""
    # nothing of this is needed to run a command.
    from ..trace.lookup import trace_folder
    from ..trace.store import LAST, Store

    names = [LAST, *(row.name for row in Store(trace_folder()).listing())]
    return [name for name in names if name.startswith(incomplete)]


TraceArgument: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="TRACE",
        help="A trace: its path, its name in the trace folder, or `last`.",
        autocompletion=trace_names,
    ),
]
LastTrace: TypeAlias = Annotated[
    str,
    typer.Argument(metavar="[TRACE]", help="A trace: its path, its name, or `last`.", autocompletion=trace_names),
]
EventArgument: TypeAlias = Annotated[
    str, typer.Argument(metavar="EVENT", help="The decision: an event number, `tool:NAME` (its last call), or `last`.")
]
Tool: TypeAlias = Annotated[str | None, typer.Option(metavar="NAME", help="The decision is that this tool is called.")]
Match: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="REGEX", help="The decision is that arguments or text match this pattern.", callback=values.pattern
    ),
]
ExactArgs: TypeAlias = Annotated[
    bool, typer.Option("--exact-args", help="The same tool with other arguments is another decision.")
]
Arg: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Only another value of this argument is another decision, such as `amount` or `order.items[0].price`; "
        "may be given again.",
        callback=values.arguments,
    ),
]
Where: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="EXPR",
        help="The decision is a call whose arguments fulfil a condition, such as `amount > 1000`.",
        callback=values.condition,
    ),
]
JudgeFn: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="SPEC",
        help="A Python function says of each reply (a dict) whether it is the decision: True, False, or None.",
        callback=values.judge_function,
    ),
]
JudgeQuestion: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--judge",
        metavar="TEXT",
        help="The decision is a reply for which a model answers this question with yes; one more call for each reply.",
        callback=values.question,
    ),
]
ModelFn: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="SPEC",
        help="Answer with a Python function: `module:function` or `file.py:function`.",
        callback=values.model_function,
    ),
]
BaseUrl: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Send reruns to this server (your key for it is used).", callback=values.base_url),
]
BudgetTokens: TypeAlias = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Most tokens, input and output together.")
]
BudgetUsd: TypeAlias = Annotated[
    float | None,
    typer.Option(min=0, metavar="USD", help="Most money, in US dollars, by the prices that --prices names."),
]
Prices: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Tell what it costs by a JSON file of prices, or by the `public` table.",
        callback=values.prices,
    ),
]
Batch: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--batch",
        help="Ask through the provider's batch API: half the price, up to a day for each wait. Ctrl-C leaves a batch "
        "running; the same command picks it up.",
    ),
]
NoCache: TypeAlias = Annotated[bool, typer.Option("--no-cache", help="Neither read nor keep replies on disk.")]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@dataclass(frozen=True, slots=True)
class DecisionFlags:
    """The flags that say which part of a reply is the decision."""

    tool: Tool = None
    match: Match = None
    exact_args: ExactArgs = False
    arg: Arg = None
    where: Where = None
    judge: JudgeQuestion = None
    judge_fn: JudgeFn = None

    def __post_init__(self) -> None:
        if self.judge is not None and self.judge_fn is not None:
            raise BadInput("--judge asks a model and --judge-fn a function. Give one of them.")

    def selection(self) -> Selection:
        """The selection that they stand for.

        Raises:
            BadInput: a function cannot be loaded.
        """
        # what judges comes with the verbs.
        from ..ops.case import Selection
        from ..ops.judges import JudgeModel, judge_function

        judge = JudgeModel(self.judge) if self.judge is not None else None
        return Selection(
            self.tool,
            self.match,
            self.exact_args,
            tuple(self.arg or ()),
            self.where,
            judge_function(self.judge_fn) if self.judge_fn is not None else judge,
        )


@dataclass(frozen=True, slots=True)
class SearchFlags:
    """The flags that say how a cause is searched for."""

    suspect: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="A piece or a quoted text to look at first; may be given again."),
    ] = None
    ask: Annotated[
        bool, typer.Option("--ask", help="Ask the model which piece it was, in one call, and look at that first.")
    ] = False
    depth: Annotated[
        Literal["quick", "full", "upstream"],
        typer.Option(
            metavar="quick|full|upstream",
            help="quick: stop at the first piece that makes the agent act differently. full: every piece. "
            "upstream: and where the agent wrote that piece itself, what made it write it.",
        ),
    ] = "quick"
    runs: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="Least reruns of the recorded context and without the leading cause."),
    ] = 0
    likelihood: Annotated[
        bool | None,
        typer.Option(
            "--likelihood/--no-likelihood",
            help="Look first where the log-probabilities of the tool's name point to; default: on local servers.",
            show_default=False,
        ),
    ] = None
    precise: Annotated[bool, typer.Option("--precise", help="At least 20 reruns of both, for narrower intervals.")] = (
        False
    )
    fast: Annotated[bool, typer.Option("--fast", help="Fewer rounds one after another, for more model calls.")] = False
    concurrency: Annotated[int, typer.Option(min=1, metavar="N", help="Model calls at the same time.")] = 16

    def inquiry(self, case: Case, budget: int) -> Inquiry:
        """The search that they stand for."""
        # numpy and the search are only needed once there is something to explain.
        from ..ops.investigation import Inquiry

        return Inquiry(
            case,
            tuple(self.suspect or ()),
            self.depth,
            budget,
            self.runs,
            ask=self.ask,
            likelihood=self.likelihood,
            precise=self.precise,
            fast=self.fast,
        )


@dataclass(frozen=True, slots=True)
class RerunFlags:
    """The flags that say who answers reruns, and what they may cost besides a number of calls."""

    model_fn: ModelFn = None
    base_url: BaseUrl = None
    budget_tokens: BudgetTokens = None
    budget_usd: BudgetUsd = None
    prices: Prices = None
    batch: Batch = False
    no_cache: NoCache = False

    def __post_init__(self) -> None:
        if self.batch:
            self.asking(None)  # it excludes others

    def asking(self, budget: int | None) -> Asking:
        """What they stand for, with at most `budget` model calls.

        Raises:
            BadInput: two of them exclude each other.
        """
        # the sampler comes with the verbs.
        from ..ops.asking import Asking
        from ..sample.amount import Ceiling

        return Asking(
            self.model_fn,
            self.base_url,
            budget,
            cache_dir=cache_dir(no_cache=self.no_cache),
            ceiling=Ceiling(self.budget_tokens, self.budget_usd),
            prices=self.prices,
            batch=self.batch,
        )


def cache_dir(*, no_cache: bool) -> str | None:
    """Where replies are kept: `.runtape` in the working folder, or nowhere."""
    return None if no_cache else ".runtape"


def open_decision(trace: Trace | str, event: str, chosen: DecisionFlags) -> Case:
    """The decision that is meant.

    What to know of it before it is rerun is said on standard error first, before anything is sent.

    Raises:
        BadInput: as the verbs do for the same trace, event and decision.
    """
    # the verbs' own modules, loaded by every command that gets here.
    from ..ops.case import load_trace, open_case
    from ..ops.caveats import before_spending
    from ..trace.refs import resolve

    loaded, reference = load_trace(trace), event_reference(event)
    for told in before_spending(loaded, resolve(loaded, reference)):
        console.complain(told)
    return open_case(loaded, reference, chosen.selection())


def event_reference(event: str) -> int | str:
    """An event number as an int, any other reference as it is."""
    return int(event) if event.isdecimal() else event
