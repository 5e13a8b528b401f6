"""Leaves that say nearly the same."""

from __future__ import annotations

from collections import Counter, defaultdict
from math import ceil

from .pieces import Context
from .tokens import tokens

SIMILAR = 0.6
"""Share of common words from which two leaves are one to the search: real redundant copies are near-copies."""

# Shorter texts resemble each other by chance.
_FEWEST = 4


def near_duplicates(context: Context) -> tuple[frozenset[int], ...]:
    """Groups of leaves (positions in `Context.leaves`) that say nearly the same, in context order.

    Every member of a group has more than `SIMILAR` of its words in common (Jaccard index) with the group's first
    member, so a long log does not become one group line by line. Leaves of fewer than four words are in no group.
    """
    words = [tokens(context.pieces[leaf].text) for leaf in context.leaves]
    spread = Counter(token for leaf in words for token in leaf)
    groups: dict[int, list[int]] = {}
    first_with: dict[frozenset[str], int] = {}
    # Two sets of that similarity share one of their few rarest words, so only those are looked up.
    by_rare_word: dict[str, list[int]] = defaultdict(list)
    for leaf, said in enumerate(words):
        if len(said) < _FEWEST:
            continue
        first = first_with.get(said)
        if first is None:
            ordered = sorted(said, key=lambda token: (spread[token], token))
            rarest = ordered[: len(ordered) - ceil(SIMILAR * len(ordered)) + 1]
            first = _most_similar(said, {other for token in rarest for other in by_rare_word[token]}, words)
            if first is None:
                first, groups[leaf] = leaf, []
                for token in rarest:
                    by_rare_word[token].append(leaf)
            first_with[said] = first
        groups[first].append(leaf)
    return tuple(frozenset(group) for group in groups.values() if len(group) > 1)


def _most_similar(said: frozenset[str], others: set[int], words: list[frozenset[str]]) -> int | None:
    """The one of `others` that is most like `said`, the first of several; None when none is like it enough."""
    best, leader = SIMILAR, None
    for other in sorted(others):
        there = words[other]
        common = len(said & there)
        share = common / (len(said) + len(there) - common)
        if share > best:
            best, leader = share, other
    return leader
