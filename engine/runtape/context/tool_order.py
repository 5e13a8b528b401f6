"""Other orders in which a request can offer its tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..wire.values import Json, JsonObject

Order = tuple[int, ...]
"""For each place in the new list, the index of the tool in the recorded one."""

_MOST = 3


@dataclass(frozen=True, slots=True)
class ToolOrder:
    """The recorded order of the tools, as one part of the request."""

    ref: str
    names: tuple[str, ...]
    """The tools in that order."""
    others: tuple[Order, ...]
    """The orders to try in its place; none where a list of fewer than two tools has no other."""
    event: int | None = None
    """The first request that offered these tools in this order."""


NO_ORDER = ToolOrder("0[tools]/order", (), ())
"""That of a request without tools."""


def other_orders(tools: Sequence[Json]) -> tuple[Order, ...]:
    """Up to three orders that send another list: backwards, the halves exchanged, every second tool first."""
    n = len(tools)
    there = tuple(range(n))
    found = dict.fromkeys((there[::-1], there[n // 2 :] + there[: n // 2], there[1::2] + there[::2]))
    return tuple(order for order in found if [tools[at] for at in order] != list(tools))[:_MOST]


def reordered(body: JsonObject, order: Order) -> JsonObject:
    """The body with its tools in another order.

    Raises:
        ValueError: `order` does not name every tool of the body once.
    """
    tools = body.get("tools")
    if not isinstance(tools, list) or sorted(order) != list(range(len(tools))):
        raise ValueError(f"the order {order} does not name every tool of the request once")
    return {**body, "tools": [tools[at] for at in order]}
