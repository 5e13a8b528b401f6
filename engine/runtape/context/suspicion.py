"""How much the words of each leaf point to the decision."""

from __future__ import annotations

from collections import Counter
from math import log, sqrt

from .pieces import Context
from .tokens import is_specific, related

# An address or an amount in common says more than a word in common.
_SPECIFIC = 2.5
# A long leaf shares words by chance; its score is divided by a mild power of its length.
_LENGTH_POWER = 0.25


def suspicion(context: Context, decision_text: str) -> list[float]:
    """One score per leaf, standardised to mean 0 and standard deviation 1 over the leaves.

    The score is the weight of the words that a leaf shares with the decision: rare words weigh more than frequent
    ones; recipients, paths, amounts and identifiers weigh most. All zero when no leaf stands out.
    """
    wanted = related(decision_text)
    words = [related(context.pieces[leaf].text) for leaf in context.leaves]
    spread = Counter(token for leaf in words for token in leaf & wanted)
    n = len(words)
    value = {token: log(1 + n / times) * (_SPECIFIC if is_specific(token) else 1.0) for token, times in spread.items()}
    scores = [sum(value[token] for token in sorted(leaf & wanted)) / (1 + len(leaf)) ** _LENGTH_POWER for leaf in words]
    return _standardised(scores)


def _standardised(scores: list[float]) -> list[float]:
    if not scores:
        return []
    mean = sum(scores) / len(scores)
    sd = sqrt(sum((score - mean) ** 2 for score in scores) / len(scores))
    if sd < 1e-12:
        return [0.0] * len(scores)
    return [(score - mean) / sd for score in scores]
