"""Counts of what a variant of the context led to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

Verdict = Literal["same", "other", "stop", "filtered", "truncated", "refused", "invalid", "unjudged"]
"""`same`: the decision happened again. `other`: another action. `stop`: the model stopped, asked, or fetched data
again. The others are no sample of either: the answer was withheld, cut, refused, unreadable, or judged neither way."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one reply did, seen from the decision in question."""

    verdict: Verdict
    action: str
    """The reply in a few words, such as `calls archive_email`; holds names from the trace, so it is recorded text."""

    @property
    def counts(self) -> bool:
        """Whether the reply is a sample: it made the decision or did not."""
        return self.verdict in ("same", "other", "stop")


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where some samples came from."""

    since: float | None = None
    """When the first of them arrived, in seconds since 1970; None where nobody kept that."""
    until: float | None = None
    served: frozenset[str] = frozenset()
    """Names under which the server answered; empty where it gave none."""


UNKNOWN = Provenance()


@dataclass(frozen=True, slots=True)
class Tally:
    """Samples of one variant, counted."""

    kept: int = 0
    """Samples in which the decision happened again."""
    n: int = 0
    """Samples that count: same, other or stop."""
    other: int = 0
    """Samples that took another action; the rest of the flips stopped or asked."""
    instead: tuple[tuple[str, int], ...] = ()
    """What happened instead, most frequent first."""
    void: tuple[tuple[Verdict, int], ...] = ()
    """Answers that count as no sample, by kind."""
    broken: str | None = None
    """Why this variant cannot be sampled (its request was refused); None when it can."""
    source: Provenance = field(default=UNKNOWN, compare=False)
    """No part of the counts: equal tallies may come from different days."""

    @property
    def flips(self) -> int:
        """Samples in which something else happened."""
        return self.n - self.kept

    @property
    def rate(self) -> float:
        """Share of the samples that kept the decision, 0-1.

        Raises:
            ValueError: the tally is empty.
        """
        if not self.n:
            msg = "an empty tally has no rate"
            raise ValueError(msg)
        return self.kept / self.n


def count(outcomes: Iterable[Outcome], broken: str | None = None) -> Tally:
    """The tally of some outcomes."""
    kept = n = other = 0
    instead: dict[str, int] = {}
    void: dict[Verdict, int] = {}
    for outcome in outcomes:
        match outcome.verdict:
            case "same":
                kept, n = kept + 1, n + 1
            case "other" | "stop":
                n += 1
                other += outcome.verdict == "other"
                instead[outcome.action] = instead.get(outcome.action, 0) + 1
            case verdict:
                void[verdict] = void.get(verdict, 0) + 1
    by_count = sorted(instead.items(), key=lambda item: (-item[1], item[0]))
    return Tally(kept, n, other, tuple(by_count), tuple(sorted(void.items())), broken)
