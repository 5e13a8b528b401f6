"""The report of `rerun`: what the agent does, how often."""

from __future__ import annotations

from collections.abc import Iterator

from ..stats.rates import wilson
from .distribution import Distribution
from .document import Block, Bullets, Document, Heading, Line, Paragraph, Recorded, Table, told
from .phrases import cost, number, of
from .step import LARGER, Spell, Step, spelled


def rerun_page(distribution: Distribution, spell: Spell | None = None) -> Document:
    """The distribution as blocks: how often the decision is made again, every action; what to do next, if spelled."""
    return (*_blocks(distribution), *([Paragraph((spelled(next_step(distribution), spell),))] if spell else ()))


def next_step(seen: Distribution) -> Step:
    """What to do with this result."""
    if seen.stopped_by == "budget":
        return Step(
            "Go on with a larger budget; replies in the cache are not paid for twice", "rerun", {"budget": LARGER}
        )
    if seen.stopped:
        return Step("Go on; replies in the cache are not paid for twice", "rerun")
    return Step("Find the text that the decision depends on", "why")


def _blocks(seen: Distribution) -> Iterator[Block]:
    tally = seen.tally
    yield Heading(("Reruns: ", Recorded(seen.decision)), level=1)
    if not tally.n:
        yield Paragraph(("No rerun gave an answer that counts.",))
    else:
        share = wilson(tally.kept, tally.n)
        between = f"true share between {share.low:.0%} and {share.high:.0%}, 95% interval"
        yield Paragraph((f"The decision was made again in {of((tally.kept, tally.n))} reruns ({between}).",))
    if seen.stopped:
        yield Paragraph(("Ended early: ", *told(seen.stopped, 400)))
    elif tally.n < seen.asked and not seen.enough and not tally.broken:
        yield Paragraph((_fewer(seen),))
    if tally.n:
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
    yield Bullets(tuple(lines))


def _fewer(seen: Distribution) -> str:
    """Why there are fewer replies than asked for, where nothing ended the run early."""
    void = sum(count for _, count in seen.tally.void)
    answers = f"{number(void, 'answer')} {'does' if void == 1 else 'do'} not count"
    return f"Fewer than the {seen.asked} reruns that were asked for: {answers}, and no further ones are asked for."
