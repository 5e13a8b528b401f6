"""One model call that several spans tell of: the one with the fullest request stays."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

from .span import Span, SpanCall

DUPLICATE = "another span of the same model call holds more of its request"
OUTER = "a span around model calls, not one itself"


def kept(calls: Sequence[SpanCall], spans: Iterable[Span]) -> tuple[list[SpanCall], list[tuple[SpanCall, str]]]:
    """The calls without those that another span of the same call tells better, and those with the reason.

    Two spans are of one call when one is inside of the other, or when they have the same response id, overlap in time
    and were written by different emitters. Equal content is no sign: an agent may ask the same twice.
    """
    parents = {span.id: span.parent for span in spans}
    by_id = {call.span.id: call for call in calls}
    dropped: dict[str, str] = {}
    inside: dict[str, list[SpanCall]] = {}
    for call in calls:
        above = _above(call, parents, by_id)
        if above is not None:
            inside.setdefault(above.span.id, []).append(call)
    for outer_id, inner in inside.items():
        outer = by_id[outer_id]
        if len(inner) == 1 and _worth(outer) > _worth(inner[0]):
            dropped[inner[0].span.id] = DUPLICATE
        else:
            dropped[outer_id] = DUPLICATE if len(inner) == 1 else OUTER
    left = [call for call in calls if call.span.id not in dropped]
    for call, other in _neighbours(left):
        if other.span.id not in dropped and call.span.id not in dropped and _is_same(call, other):
            worse = call if _worth(call) < _worth(other) else other
            dropped[worse.span.id] = DUPLICATE
    return (
        [call for call in calls if call.span.id not in dropped],
        [(call, dropped[call.span.id]) for call in calls if call.span.id in dropped],
    )


def _neighbours(calls: Sequence[SpanCall]) -> Iterator[tuple[SpanCall, SpanCall]]:
    """Pairs that may be of one call: of one response, or at one time with what an SDK says of itself."""
    by_response: dict[str, list[SpanCall]] = {}
    for call in calls:
        if call.response:
            by_response.setdefault(call.response, []).append(call)
    for group in by_response.values():
        for index, call in enumerate(group):
            yield from ((call, other) for other in group[index + 1 :])
    if not any(_is_own(call) for call in calls):
        return
    timed = sorted((call for call in calls if call.span.started is not None), key=lambda call: call.span.started or 0.0)
    starts = [call.span.started or 0.0 for call in timed]
    longest = max(((call.span.latency_ms or 0.0) / 1000 for call in timed), default=0.0)
    for call in filter(_is_own, timed):
        first = bisect_left(starts, (call.span.started or 0.0) - longest)
        last = bisect_right(starts, call.span.ended or call.span.started or 0.0)
        yield from ((call, other) for other in timed[first:last] if other is not call)


def _above(call: SpanCall, parents: dict[str, str | None], by_id: dict[str, SpanCall]) -> SpanCall | None:
    """The nearest call around a call."""
    seen = {call.span.id}
    at = call.span.parent
    while at is not None and at not in seen:
        if at in by_id:
            return by_id[at]
        seen.add(at)
        at = parents.get(at)
    return None


def _worth(call: SpanCall) -> tuple[int, int]:
    order = ("not rebuildable", "partial", "rebuilt", "exact")
    return order.index(call.call.fidelity), -len(call.call.missing)


def _is_same(one: SpanCall, other: SpanCall) -> bool:
    if one.span.scope == other.span.scope or not _overlap(one.span, other.span):
        return False
    if one.response and one.response == other.response:
        return True
    return _is_own(one) or _is_own(other)


def _is_own(call: SpanCall) -> bool:
    """True for an SDK's own span, which says only that there was a call."""
    return call.call.fidelity == "not rebuildable" and call.span.scope.startswith("com.anthropic.sdk")


def _overlap(one: Span, other: Span) -> bool:
    if None in (one.started, one.ended, other.started, other.ended):
        return False
    return (one.started or 0.0) < (other.ended or 0.0) and (other.started or 0.0) < (one.ended or 0.0)
