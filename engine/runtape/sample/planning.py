"""Which requests bring the samples that are missing, and in which order they go."""

from __future__ import annotations

from collections.abc import Mapping

from .. import canon
from ..wire.values import Request
from .rows import Sample


def planned(missing: Mapping[Sample, Request], at_once: int, room: float) -> list[list[Sample]]:
    """The samples of one context together, as many as the model gives at once.

    Where more requests are planned than there is room for at a time, those whose bodies begin alike follow each other:
    a server that keeps what it has read last reads only what differs.
    """
    by_key: dict[str, list[Sample]] = {}
    for sample in missing:
        by_key.setdefault(sample.key, []).append(sample)
    groups = list(by_key.values())
    if sum(map(len, groups)) > room * at_once:
        groups.sort(key=lambda group: _read(missing[group[0]]))
    return [group[at : at + at_once] for group in groups for at in range(0, len(group), at_once)]


def _read(request: Request) -> bytes:
    """A body in the order in which models are given it: tools, system prompt, messages."""
    body = request.body
    messages = body.get("messages") or body.get("input")
    return canon.dumps([body.get("tools"), body.get("system") or body.get("instructions"), messages])
