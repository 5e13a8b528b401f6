"""How truly an event holds the request that was sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ..wire.values import JsonObject

Label: TypeAlias = Literal["exact", "rebuilt", "partial", "not rebuildable"]
"""`exact`: the body as it was sent. `rebuilt`: all of its parts, put together afterwards. `partial`: some parts are
missing. `not rebuildable`: what was sent is not known."""

LABELS: Final[tuple[Label, ...]] = ("exact", "rebuilt", "partial", "not rebuildable")


@dataclass(frozen=True, slots=True)
class Fidelity:
    """The label of one model call and what it stands for."""

    label: Label
    missing: tuple[str, ...] = ()
    """Names of the parts that the request lacks."""
    why: str | None = None
    """What else there is to know about how the request was put together, or why it could not be."""

    def __str__(self) -> str:
        lacks = f", without {', '.join(self.missing)}" if self.missing else ""
        return f"{self.label}{lacks}" + (f" ({self.why})" if self.why else "")


EXACT: Final = Fidelity("exact")


def fidelity_in(meta: JsonObject) -> Fidelity:
    """What the meta of an `llm_request` says; a call that was recorded as it was sent says nothing and is exact."""
    named = meta.get("fidelity")
    label: Label | None = None
    for known in LABELS:
        label = known if known == named else label
    if label is None:
        return EXACT
    missing, why = meta.get("missing"), meta.get("why")
    parts = tuple(part for part in missing if isinstance(part, str)) if isinstance(missing, list) else ()
    return Fidelity(label, parts, why if isinstance(why, str) else None)
