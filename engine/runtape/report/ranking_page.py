"""The report of a ranking: where the wording points, before anything was rerun."""

from __future__ import annotations

from .document import Document, Heading, Paragraph, Recorded, Table
from .phrases import run_name
from .ranking import Ranking
from .step import Spell, Step, spelled

_SHOWN = 10
"""Pieces that are listed."""


def ranking_page(ranking: Ranking, spell: Spell | None = None) -> Document:
    """The most suspicious pieces as blocks; what to do next, if it is spelled."""
    rest = len(ranking.pieces) - _SHOWN
    return (
        Heading(("Where ", Recorded(run_name(ranking.trace)), f", event {ranking.event} may come from"), level=1),
        Paragraph(
            (
                "Ranked by the words that a piece shares with the decision (",
                Recorded(ranking.decision),
                "). A guess: nothing was rerun.",
            )
        ),
        Table(
            ("score", "piece", "text"),
            tuple(
                ((f"{piece.score:.1f}",), (Recorded(piece.ref),), (Recorded(piece.text, limit=90),))
                for piece in ranking.pieces[:_SHOWN]
            ),
        ),
        *([Paragraph((f"and {rest} more.",))] if rest > 0 else ()),
        *([Paragraph((spelled(Step("Test them by reruns", "why"), spell),))] if spell else ()),
    )
