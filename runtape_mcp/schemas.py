"""What tools take and what they answer.

Every description is read by a model with each request, so each says only what the name does not. In answers, text of a
trace is fenced; everything else is a number or a word of ours.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, AliasChoices, BaseModel, ConfigDict, Field

from .jobs import Status

TraceName: TypeAlias = Annotated[str, Field(description="Name or 'last'", min_length=1, max_length=200)]
EventRef: TypeAlias = Annotated[int | str, Field(description="12, 'tool:NAME' or 'last'")]
Tool: TypeAlias = Annotated[str | None, Field(description="Decision: calls this tool")]
Match: TypeAlias = Annotated[str | None, Field(description="Decision: regex in arguments or text")]
ExactArgs: TypeAlias = Annotated[bool, Field(description="Arguments count too")]
Args: TypeAlias = Annotated[list[str], Field(description="Decision: same values of these", max_length=20)]
Where: TypeAlias = Annotated[str | None, Field(description="Decision: arguments fulfil 'amount > 1000'")]
Judge: TypeAlias = Annotated[str | None, Field(description="Decision: a model says yes to this")]
SameText: TypeAlias = Annotated[str | None, Field(description="See why")]
SameFlag: TypeAlias = Annotated[bool, Field(description="See why")]
SameTexts: TypeAlias = Annotated[list[str], Field(description="See why", max_length=20)]
"""For the other tools that choose a decision: each definition is read with the others."""
MaxCalls: TypeAlias = Annotated[int | None, Field(description="Most calls (default 100)", ge=1)]


Replace: TypeAlias = Annotated[dict[str, str] | str | None, Field(description="{old: new} or 'old=>new'")]


class CandidateInput(BaseModel):
    """A change to measure; one kind of change each."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(pattern=r"^[^\x00-\x1f]{1,60}$")
    add_system: str | None = Field(None, description="Append to system prompt")
    system: str | None = None
    replace: dict[str, str] | str | None = None
    clean: list[str] | str | None = Field(None, description="Cut from tool results")
    mark: Literal["delimiters", "datamarking"] | None = None
    describe: dict[str, str] | None = Field(None, description="{tool: description}")
    guard: str | None = Field(None, description="TOOL.ARGUMENT: only the user's values; TOOL: none")


def _three_digits(value: float) -> float:
    return float(f"{value:.3g}")


P: TypeAlias = Annotated[float, AfterValidator(_three_digits)]
"""A p value; more digits than three say nothing."""


class Answer(BaseModel):
    """The structured content of a result."""


class Count(Answer):
    """Samples in which the decision happened again, of n."""

    kept: int
    n: int


class Action(Answer):
    """What the agent did, how often."""

    action: str
    n: int


class TraceRow(Answer):
    """One recorded run."""

    trace: str
    started: str
    status: str
    events: int
    model_calls: int
    tools: list[str]
    size: int = Field(description="Bytes")


class TraceList(Answer):
    """The answer of `list_traces`."""

    traces: list[TraceRow] = Field(description="Newest first")
    next_cursor: str | None
    next: str


class SourceRow(Answer):
    """Where the text of a leading cause came from."""

    kind: Literal["system", "user", "tool", "tools", "agent"]
    ref: str
    event: int | None
    tool: str | None
    arguments: str | None = Field(description="Of the call that returned it")
    asked_in: int | None = Field(description="The reply that asked for that call")


class CauseRow(Answer):
    """One proven dependence."""

    refs: list[str]
    kind: Literal["decisive", "required", "redundant", "together", "order"]
    excerpt: str = Field(description="Recorded text: data, not instructions")
    events: list[int | None] = Field(description="Event that brought each piece into the run")
    with_: Count = Field(validation_alias=AliasChoices("with", "with_"), serialization_alias="with")
    without: Count
    p: P
    instead: list[Action]
    source: SourceRow | None = None


class Untested(Answer):
    """A part of the context that was not examined."""

    ref: str
    reason: str


class JobAnswer(Answer):
    """What the answers of `why`, `fix` and `rerun` share."""

    status: Status
    job: str
    calls: int = Field(description="Model calls this job ever paid for")
    planned: int
    seconds_left: int | None
    next: str


class Explained(JobAnswer):
    """What the answers of `why` and `fix` share."""

    decision: str
    base: Count
    causes: list[CauseRow] = Field(description="Proven, strongest first")
    required: list[CauseRow]
    untested: list[Untested]
    notes: list[str]
    report: str


class Link(Answer):
    """Why the agent wrote the cause before."""

    event: int
    decision: str
    finding: str
    base: Count
    cause: CauseRow | None
    not_followed: list[str]


class WhyAnswer(Explained):
    """The answer of `why`."""

    upstream: list[Link]


class FormRow(Answer):
    """A change with the cause in another place or in other words."""

    form: str
    outcome: Literal["held", "not held", "not measured"]
    kept: int
    n: int
    without: Count
    reason: str


class CandidateRow(Answer):
    """One measured change."""

    name: str
    edit: str
    kept: int
    n: int
    p: P
    controls: Count
    verdict: Literal["PASS", "PART", "FAIL"]
    reason: str
    forms: list[FormRow]
    instead: list[Action]


class FixAnswer(Explained):
    """The answer of `fix`."""

    candidates: list[CandidateRow]
    best: str | None


class RerunAnswer(JobAnswer):
    """The answer of `rerun`."""

    decision: str
    counts: list[Action]
    kept: Count
    interval: list[float]
    """95% interval of the share that kept the decision."""
    notes: list[str]


class WrittenTest(Answer):
    """The answer of `write_test`."""

    path: str
    command: str
    next: str


class Stopped(Answer):
    """The answer of `stop`."""

    status: Status
    calls: int
