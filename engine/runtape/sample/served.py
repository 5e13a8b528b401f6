"""Which models a server answered as.

One name may stand for another model tomorrow, and a router may put several behind it: rates over such answers mix them,
so they are told apart as well.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..said import Quoted, Said
from ..stats.tally import Outcome
from ..text import shorten, visible
from ..wire.values import Request
from .model import Answer

SHOWN = 4
"""Names in a note at most; each at most `LONGEST` characters."""

LONGEST = 80


def served_as(answer: Answer) -> str | None:
    """What the server says answered: the model's name and, where it tells one, the fingerprint of the system."""
    if answer.reply is None or not answer.reply.model:
        return None
    mark = answer.raw.get("system_fingerprint") if isinstance(answer.raw, dict) else None
    return f"{answer.reply.model} {mark}" if isinstance(mark, str) and mark else answer.reply.model


class Served:
    """The model names in the answers of one run, by the name that was asked for."""

    def __init__(self) -> None:
        self._names: dict[str, dict[str, None]] = {}
        self._marked: dict[str, dict[str, None]] = {}
        """The same with the fingerprints."""

    def saw(self, request: Request, answers: Iterable[Answer]) -> None:
        """Take some answers to `request` into account, new or kept."""
        asked = str(request.body.get("model"))
        names, marked = self._names.setdefault(asked, {}), self._marked.setdefault(asked, {})
        for answer in answers:
            if answer.reply is not None and answer.reply.model:
                names[answer.reply.model] = None
                marked[served_as(answer) or ""] = None

    @property
    def notes(self) -> list[Said]:
        """One for each name asked for that several models, or several states of one, answered to."""
        told: list[Said] = []
        for asked, names in self._names.items():
            if len(names) > 1:
                told.append(_note(asked, names, "the answers counted together are not those of one model"))
            elif len(self._marked[asked]) > 1:
                told.append(_note(asked, self._marked[asked], "its system changed between the answers"))
        return told


def split(answers: Iterable[tuple[Answer, Outcome]], of: str = "The decision") -> Said | None:
    """How often the decision was made by each model, or state of one, that answered; None where one did.

    `of`: what the answers are, for the beginning of the sentence.
    """
    by: dict[str, list[Outcome]] = {}
    for answer, outcome in answers:
        if outcome.counts:
            by.setdefault(served_as(answer) or "no name", []).append(outcome)
    if len(by) < 2:
        return None
    rates = [
        f"{_short(name)} {sum(outcome.verdict == 'same' for outcome in outcomes)} of {len(outcomes)}"
        for name, outcomes in sorted(by.items())[:SHOWN]
    ]
    more = f", and {len(by) - SHOWN} more" if len(by) > SHOWN else ""
    return Said(f"{of}, by what answered: ", Quoted(", ".join(rates)), f"{more}.")


def _note(asked: str, names: Iterable[str], so: str) -> Said:
    every = sorted(names)
    shown = " and ".join(_short(name) for name in every[:SHOWN])
    more = f" and {len(every) - SHOWN} more" if len(every) > SHOWN else ""
    return Said("asked for ", Quoted(_short(asked)), ", the server answered as ", Quoted(shown), f"{more}: {so}")


def _short(name: str) -> str:
    return repr(visible(shorten(name, LONGEST)))
