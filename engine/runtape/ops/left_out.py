"""What a rerun does not send of the call that the agent made."""

from __future__ import annotations

from ..report.phrases import number
from ..said import Quoted, Said
from ..trace.marks import marks_in
from ..wire.dialects import dialect_for
from ..wire.values import Request


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
