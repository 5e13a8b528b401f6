"""How the contexts of two decisions differ, for people and as JSON."""

from __future__ import annotations

import difflib

from ..trace.comparison import Change, Comparison
from ..wire.values import Json, JsonObject
from .document import Block, Document, Heading, Line, Paragraph, Quote, Recorded
from .event_text import outline
from .phrases import number

_SHOWN = 20_000
"""Characters of one change."""
_AROUND = 2
"""Lines without a change that are shown around one."""


def comparison_page(trace: str, one: int, other: int, compared: Comparison) -> Document:
    """What has to change in the context of event `one` to get that of event `other`."""
    title = Heading(("Contexts of ", Recorded(trace), f" at events {one} and {other}"), level=1)
    same = f"{number(compared.same, 'message')} the same in both."
    if not compared.changes:
        return (title, Paragraph((f"{same} Nothing differs.",)))
    counts = {kind: sum(change.kind == kind for change in compared.changes) for kind in ("added", "removed", "changed")}
    counted = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    page: list[Block] = [title, Paragraph((f"{same} From event {one} to event {other}: {counted}.",))]
    for change in compared.changes:
        page += [Heading(_title(change)), Quote(_text(change), limit=_SHOWN)]
    return tuple(page)


def comparison_fields(trace: str, one: int, other: int, compared: Comparison) -> JsonObject:
    """The same as one JSON object; `before` and `after` as they stand in the requests."""
    changes: list[Json] = [
        {
            "kind": change.kind,
            "part": change.part,
            "index": list(change.at),
            "before": change.before,
            "after": change.after,
        }
        for change in compared.changes
    ]
    return {"trace": trace, "events": [one, other], "same": compared.same, "changes": changes}


def _title(change: Change) -> Line:
    one, other = change.at
    where = {"added": f" {other}", "removed": f" {one}", "changed": f" {one} (there {other})"}[change.kind]
    return (f"{change.kind}: ", Recorded(change.part), where if change.part == "message" else "")


def _text(change: Change) -> str:
    """The text of what came or went; of what changed, its lines with `-`, `+` or a blank before each."""
    if change.kind != "changed":
        return outline(change.after if change.kind == "added" else change.before)
    before, after = outline(change.before).split("\n"), outline(change.after).split("\n")
    lines = difflib.unified_diff(before, after, lineterm="", n=_AROUND)
    return "\n".join(line for line in lines if not line.startswith(("---", "+++")))
