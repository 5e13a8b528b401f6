"""What to know about a recorded call before it is rerun: which one is meant, and in what a rerun is not it."""

from __future__ import annotations

from ..errors import NotADecision
from ..report.phrases import number
from ..said import Quoted, Said
from ..text import shorten
from ..trace.marks import marks_in
from ..trace.refs import Moment
from ..trace.trace import Trace
from ..wire.dialects import dialect_for
from ..wire.values import Request

_PARTIAL = "The request of this call was put together from a recording that lacks "
_SUPPLY = (
    ". The reruns are sent without it and may behave otherwise than the agent did; "
    "`runtape import` takes what is missing with --tools, --system and --params."
)


def before_spending(trace: Trace, moment: Moment) -> list[Said]:
    """What to know before a decision is rerun: which one a tool's result stands for, and what its request lacks.

    Raises:
        NotADecision: what was sent is not known, so that there is nothing to rerun.
    """
    told = (_result_of(trace, moment), shortcoming(trace, moment))
    return [said for said in told if said is not None]


def _result_of(trace: Trace, moment: Moment) -> Said | None:
    if moment.result is None:
        return None
    later = next((call.response for call in trace.calls if call.response and call.response.id > moment.result.id), None)
    read_by = "" if later is None else f" The decision that read it first is event {later.id}."
    return Said(
        f"Event {moment.result.id} is what ",
        Quoted(shorten(moment.tool or "a tool", 60)),
        f" returned. This is about event {moment.response.id}, the decision that called it.{read_by}",
    )


def shortcoming(trace: Trace, moment: Moment) -> Said | None:
    """What an imported request lacks, and how to supply it; None when it is as it was sent.

    Raises:
        NotADecision: what was sent is not known, so that there is nothing to rerun.
    """
    fidelity = trace.fidelity(moment.request)
    about = Quoted(fidelity.why) if fidelity.why else None
    if fidelity.label == "not rebuildable":
        raise NotADecision(
            f"event {moment.request.id} cannot be rerun: what was sent to the model is not in the recording that it "
            f"was imported from ({about or 'its messages are missing'}). Record the agent with runtape.record()."
        )
    if fidelity.label != "partial":
        return None
    lacks = Quoted(", ".join(fidelity.missing) or "parts of it")
    told: tuple[str, ...] = (" (", about, ")") if about else ()
    return Said(_PARTIAL, lacks, *told, _SUPPLY)


def left_out(request: Request) -> list[str]:
    """Notes on what the reruns do not send: parameters, and what the recorder took out; none when all is sent."""
    _, names = dialect_for(request.api).for_rerun(request.body)
    said = Said("The reruns do not send these parameters of the request: ", Quoted(", ".join(names)), ".")
    notes: list[str] = [said] if names else []
    marks = marks_in(request.body)
    taken = [number(marks.redacted, "redacted secret")] if marks.redacted else []
    taken += [number(marks.cut, "long value") + " that was cut"] if marks.cut else []
    if taken:
        lacking = (
            f"The recorded request lacks {' and '.join(taken)}. The reruns send the mark in its place, so the model may"
            " act differently than it did in the run."
        )
        notes.append(Said(lacking))
    return notes
