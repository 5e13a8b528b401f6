"""What a search has to know about a context: numbers only, no text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """A context as the search sees it: `leaves` removable units, numbered from 0 in context order.

    Raises:
        ValueError: a list has not one entry per leaf, a leaf number is out of range, or two groups share a leaf.
    """

    leaves: int
    pinned: frozenset[int]
    """Leaves of the system prompt and of the user's task: examined last, because removing them rarely explains."""
    scores: tuple[float, ...]
    """How suspicious each leaf is by its wording, standardised. Only a prior: a bad score costs samples, not truth."""
    message_of: tuple[int, ...]
    """The message each leaf belongs to; pools are cut between messages where they can be."""
    forced: bool
    """The API forces a tool call, so the agent cannot stop and every flip looks like another action."""
    seed: int
    groups: tuple[frozenset[int], ...] = ()
    """Near-duplicate leaves, removed together."""
    suspects: frozenset[int] = frozenset()
    """Leaves that somebody who read the trace suspects: tried first, proven like any other."""
    together: tuple[frozenset[int], ...] = ()
    """Sets of leaves of which each is suspected to matter only when all of it is gone: tested first, proven alike."""
    reorderings: int = 0
    """Other orders of the tools that can be tried. Order k is the variant of the one number `leaves + k`."""

    def __post_init__(self) -> None:
        if len(self.scores) != self.leaves or len(self.message_of) != self.leaves:
            msg = f"{self.leaves} leaves, but {len(self.scores)} scores and {len(self.message_of)} messages"
            raise ValueError(msg)
        grouped = [leaf for group in self.groups for leaf in group]
        if len(grouped) != len(set(grouped)):
            msg = "a leaf is in two groups of near-duplicates"
            raise ValueError(msg)
        joint = [leaf for leaves in self.together for leaf in leaves]
        strays = sorted(
            leaf for leaf in {*self.pinned, *grouped, *self.suspects, *joint} if not 0 <= leaf < self.leaves
        )
        if strays:
            msg = f"leaves {strays} do not exist; the context has {self.leaves}"
            raise ValueError(msg)
