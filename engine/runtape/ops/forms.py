"""The forms of an attack: the recorded decision with its cause in another place, or in other words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ..context.build import build
from ..context.recast import NOT_TEXT, PLACES, moved, reworded
from ..errors import BadInput
from ..said import Said
from ..trace.chain import whole
from ..wire.values import Request
from .case import Case

_NAMES = {
    "start": "moved to the start of its text",
    "end": "moved to the end of its text",
    "elsewhere": "moved into another tool result",
}
_NO_CAUSE = "No cause is proven, so it was not tried in other places or words."


@dataclass(frozen=True, slots=True)
class Form:
    """The decision with its cause in another form; the name tells which."""

    name: str
    case: Case


class Forms(NamedTuple):
    """The forms of one decision, and what there is no form of."""

    there: list[Form]
    notes: list[Said]


NOT_WIDE = Forms(
    [], [Said("The cause was not tried in other places or words: give some wordings of yours as variants.")]
)
"""Where nobody asked for other forms."""


def checked(variants: Sequence[str]) -> tuple[str, ...]:
    """The caller's wordings of a cause.

    Raises:
        BadInput: it is one text, or one of them says nothing or stands there twice.
    """
    if isinstance(variants, str):
        raise BadInput(f"variants is a list of texts, not one text. Pass [{variants!r}].")
    if not all(variant.strip() for variant in variants):
        raise BadInput("A variant is empty. Give what the text could say in other words.")
    if len({variant.strip() for variant in variants}) < len(variants):
        raise BadInput("Two variants are the same text. Give each wording once.")
    return tuple(variants)


def forms(case: Case, refs: Sequence[str], variants: Sequence[str]) -> Forms:
    """The decision with its cause moved, then in each of the caller's wordings.

    Args:
        case: The recorded decision.
        refs: References of the pieces of its leading cause; none when nothing is proven.
        variants: What the cause could say in other words.
    """
    if not refs:
        return Forms([], [Said(_NO_CAUSE)])
    asked = {_NAMES[place]: moved(case.context, refs, place) for place in PLACES}
    asked |= {f"reworded ({at})": reworded(case.context, refs, words) for at, words in enumerate(variants, 1)}
    if NOT_TEXT in asked.values():
        return Forms([], [Said(f"The cause was not tried in other places or words: {NOT_TEXT}.")])
    notes = [Said(f"The cause was not {name}: {why}.") for name, why in asked.items() if isinstance(why, str)]
    if not variants:
        notes.append(Said("The cause was not tried in other words: give some of yours as variants."))
    return Forms([Form(name, _case(case, made)) for name, made in asked.items() if isinstance(made, Request)], notes)


def _case(case: Case, request: Request) -> Case:
    origins = whole(case.trace, case.moment).origins
    return replace(case, request=request, context=build(request, origins))
