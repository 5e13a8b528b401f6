"""How often a server would draw each token, from the log-probabilities before its sampling settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

from ..wire.logprobs import Alternative
from ..wire.values import Json, JsonObject

VOCABULARY = 200_000
"""Tokens that a model knows, at most: what the tokens that are not listed can amount to at a high temperature."""


@dataclass(frozen=True, slots=True)
class Shares:
    """The chances of the tokens in one place."""

    listed: tuple[float, ...]
    """One chance per alternative, same order."""
    unlisted: float
    """Upper bound of the chance of all the others together."""
    one_unlisted: float
    """Upper bound of the chance of any single one of them."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """The sampling settings of a request.

    They are applied in the order temperature, `top_k`, `top_p`, `min_p`, as vLLM and the API's own description have it;
    llama.cpp cuts before it applies the temperature, which differs for tokens near the cut only.
    """

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    """0: no limit."""
    min_p: float = 0.0

    def shares(self, alternatives: Sequence[Alternative]) -> Shares:
        """The chance of each of some alternatives, likeliest first, when the next token is drawn."""
        if not alternatives:
            return Shares((), 1.0, 1.0)
        best = alternatives[0].logprob
        if self.temperature <= 0:
            weights = [1.0 if other.logprob == best else 0.0 for other in alternatives]
            return Shares(tuple(weight / sum(weights) for weight in weights), 0.0, 0.0)
        power = 1 / self.temperature
        weights = [exp(other.logprob * power) for other in alternatives]
        least = exp(alternatives[-1].logprob)
        rest = max(0.0, 1 - sum(exp(other.logprob) for other in alternatives))
        # Each unlisted token is at most as likely as the least listed one; at a high temperature many small ones weigh
        # more than a few large ones.
        unlisted = rest * least ** (power - 1) if power >= 1 else VOCABULARY * (rest / VOCABULARY) ** power
        single = min(unlisted, min(rest, least) ** power)
        kept, whole = self._kept(weights, unlisted)
        if kept < len(weights):
            unlisted = single = 0.0
        total = sum(weights[:kept]) + unlisted
        if not total:
            return Shares((0.0,) * len(weights), 1.0, 1.0)
        listed = [weight / total if at < kept else 0.0 for at, weight in enumerate(weights)]
        return Shares(tuple(listed), unlisted / total, single / total) if whole else Shares(tuple(listed), 0.0, 0.0)

    def _kept(self, weights: Sequence[float], unlisted: float) -> tuple[int, bool]:
        """How many of the listed tokens may be drawn, and whether unlisted ones may be too."""
        total = sum(weights) + unlisted
        kept, reached = 0, 0.0
        for weight in weights:
            beyond = (self.top_k and kept >= self.top_k) or reached >= self.top_p * total
            if kept and (beyond or weight < self.min_p * weights[0]):
                return kept, False
            kept, reached = kept + 1, reached + weight
        cut = (self.top_k and kept >= self.top_k) or reached >= self.top_p * total
        return kept, not cut


def sampling_of(body: JsonObject) -> Sampling:
    """The sampling settings that a request names; the API's own defaults for the others."""
    return Sampling(
        temperature=_number(body.get("temperature"), 1.0),
        top_p=_number(body.get("top_p"), 1.0),
        top_k=max(0, int(_number(body.get("top_k"), 0))),
        min_p=_number(body.get("min_p"), 0.0),
    )


def _number(value: Json, default: float) -> float:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else default
