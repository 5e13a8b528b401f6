"""The report of a ranking: where the wording points, before anything was rerun."""

from __future__ import annotations

from pathlib import Path

from .document import Document, Heading, Paragraph, Recorded, Table
from .results import Ranking

_SHOWN = 10
"""Pieces that are listed."""


def ranking_page(ranking: Ranking) -> Document:
    """The most suspicious pieces as blocks."""
    rest = len(ranking.pieces) - _SHOWN
    return (
        Heading(("Where ", Recorded(Path(ranking.trace).name), f", event {ranking.event} may come from"), level=1),
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
        Paragraph(((f"and {rest} more. " if rest > 0 else "") + "Run why on this event to test them.",)),
    )
