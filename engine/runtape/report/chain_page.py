"""The part of a `why` report that tells where the cause came from, link by link."""

from __future__ import annotations

from collections.abc import Iterator

from ..stats.slots import FALSE_CLAIM
from .document import Block, Bullets, Heading, Line, Paragraph, Quote, Recorded
from .phrases import actions, evidence, it, join, number
from .results import Cause, Fetch, Source, WhyReport


def chain_answer(report: WhyReport) -> Line | None:
    """Where the decision came from, in one sentence; None where nobody asked for that or no cause was proven."""
    links = traced(report)
    if not links:
        return None
    last = links[-1].source
    origin = () if last is None else _origin(last)
    wrote = [link.source.event for link in links[:-1] if link.source is not None]
    way: Line = ()
    if wrote:
        events = " and ".join(f"event {event}" for event in reversed(wrote))
        way = (f"; it came through what the agent wrote in {events}",)
    return ("The decision (", Recorded(report.decision), ") comes from ", *origin, *way, ".")


def traced(report: WhyReport) -> list[WhyReport]:
    """The links whose leading cause is proven and has a source, the decision in question first."""
    return [link for link in (report, *report.upstream) if link.source is not None]


def not_followed(link: WhyReport) -> list[str]:
    """References of the proven texts of a link whose source was not looked for."""
    followed = None if link.source is None else link.source.ref
    return [ref for cause in link.causes for ref in cause.refs if ref != followed]


def chain_blocks(report: WhyReport) -> Iterator[Block]:
    """The links of a chain, where it ends, and what is claimed about it; nothing where nobody asked for a chain."""
    if report.source is None:
        return
    links = traced(report)
    yield Heading(("How it came to that",))
    for place, link in enumerate((report, *report.upstream), 1):
        cause, source = link.leading, link.source
        head: Line = (f"Link {place}: event {link.event} (", Recorded(link.decision), ")")
        if cause is None or source is None:
            yield Paragraph((*head, f". No cause of it was proven ({link.finding.status})."))
            continue
        yield Paragraph((*head, " depends on ", *_meant(cause, source), ":"))
        for ref, text in zip(cause.refs, cause.texts, strict=True):
            if ref == source.ref:
                yield Quote(text)
        meant = it(cause.refs)
        counts = evidence(cause.with_, cause.without, cause.interval, cause.p, meant)
        yield Paragraph((f"Made in {counts}. Without {meant}: ", *actions(cause.instead), "."))
    yield from _end(report, links)
    rest = [(link, refs) for link in links if (refs := not_followed(link))]
    if rest:
        lines = [
            (f"Not followed: of event {link.event}, ", *join([(Recorded(ref),) for ref in refs], ", "))
            for link, refs in rest
        ]
        yield Bullets(tuple(lines))
    yield Paragraph((_claimed(len(links)),))


def _end(report: WhyReport, links: list[WhyReport]) -> Iterator[Block]:
    last = links[-1].source
    if last is not None and last.fetch is not None:
        yield Paragraph(_fetched(last.fetch))
    if report.ends:
        yield Paragraph((report.ends,))


def _claimed(links: int) -> str:
    one = f"at most {FALSE_CLAIM:.2%}"
    bound = f"the chance that its search claims anything false is {one}"
    if links == 1:
        return f"The link was proven by reruns: {bound}. No tool was run."
    return (
        f"Each of the {number(links, 'link')} was proven by reruns of its own: {bound}, for all of them together at "
        f"most {min(1.0, links * FALSE_CLAIM):.1%}. That a text is the one that an earlier reply wrote is read from "
        "the trace. An earlier decision counts as made again when the reply has most of the telling words of that "
        "text, and the values that the next decision took from it. No tool was run."
    )


def _meant(cause: Cause, source: Source) -> Line:
    """The text that was followed, and who wrote or returned it."""
    which = "this text" if len(cause.refs) == 1 else f"{len(cause.refs)} texts ({cause.kind}), of which this one"
    return (f"{which}, ", *_from(source))


def _from(source: Source) -> Line:
    match source.kind:
        case "agent" if source.event is None:
            return ("which the agent wrote (piece ", Recorded(source.ref), ")")
        case "agent":
            again: Line = ()
            if source.fetch is not None:
                again = (" and ", *_tool(source.fetch.tool), " gave back")
            inside: Line = () if source.tool is None else (" for ", Recorded(source.tool))
            return (f"which the agent wrote in event {source.event}", *inside, *again, *_piece(source))
        case "tool":
            return ("which ", *_tool(source.tool), " returned", *_piece(source))
        case "user":
            return ("which is in a message to the agent", *_piece(source))
        case "system":
            return ("which is in the system prompt", *_piece(source))
        case "tools":
            return ("which is in the definitions of the tools", *_piece(source))


def _origin(source: Source) -> Line:
    event = () if source.event is None else (f"event {source.event}, ",)
    place: Line = (" (", *event, "piece ", Recorded(source.ref), ")")
    match source.kind:
        case "agent":
            return ("a text that the agent wrote itself", *place)
        case "tool" if source.fetch is not None and source.fetch.event is not None:
            return ("a text that ", *_tool(source.tool), f", called in event {source.fetch.event}, returned", *place)
        case "tool":
            return ("a text that ", *_tool(source.tool), " returned", *place)
        case "user":
            return ("a text in a message to the agent", *place)
        case "system":
            return ("a text in the system prompt", *place)
        case "tools":
            return ("a text in the definitions of the tools", *place)


def _fetched(fetch: Fetch) -> Line:
    where = "" if fetch.event is None else f" in event {fetch.event}"
    sent: Line = () if fetch.arguments is None else (" with ", Recorded(fetch.arguments, limit=300))
    asked = "" if fetch.asked is None else f", as the reply of event {fetch.asked} had asked"
    return ("The call: ", *_tool(fetch.tool), where, *sent, asked, ".")


def _tool(tool: str | None) -> Line:
    return ("a tool",) if tool is None else (Recorded(tool),)


def _piece(source: Source) -> Line:
    return (" (piece ", Recorded(source.ref), ")")
