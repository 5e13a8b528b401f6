"""The report of `rerun`: what the agent does, how often."""

from __future__ import annotations

from collections.abc import Iterator

from ..stats.rates import wilson
from .distribution import Distribution
from .document import Block, Bullets, Document, Heading, Line, Paragraph, Recorded, Table, told
from .phrases import cost, of


def rerun_page(distribution: Distribution) -> Document:
    """The distribution as blocks: how often the decision is made again, then every action."""
    return tuple(_blocks(distribution))


def _blocks(seen: Distribution) -> Iterator[Block]:
    tally = seen.tally
    yield Heading(("Reruns: ", Recorded(seen.decision)), level=1)
    if not tally.n:
        yield Paragraph(("No rerun gave an answer that counts.",))
    else:
        share = wilson(tally.kept, tally.n)
        between = f"true share between {share.low:.0%} and {share.high:.0%}, 95% interval"
        yield Paragraph((f"The decision was made again in {of((tally.kept, tally.n))} reruns ({between}).",))
        yield Table(
            ("reruns", "what the agent does"),
            tuple(((str(count),), (Recorded(action),)) for action, count in seen.actions),
        )
    lines: list[Line] = [(cost(seen.calls, seen.reused),)]
    if tally.void:
        lines.append(("Not counted: " + ", ".join(f"{count} {kind}" for kind, count in tally.void) + ".",))
    if tally.broken:
        lines.append(("The model's server refused the request: ", Recorded(tally.broken, limit=400)))
    lines += [told(note, 400) for note in seen.notes]
    if seen.stopped:
        lines.append(("Ended early: ", *told(seen.stopped, 400)))
    yield Bullets(tuple(lines))
