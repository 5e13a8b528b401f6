"""Log-probabilities of the tokens of a chat completion, as servers of that API send them.

One request with `logprobs` and `top_logprobs` brings, for every token that the model wrote, the likeliest tokens in its
place. llama.cpp and vLLM list the tokens of a tool call like any others. OpenAI and Ollama list those of plain text
only: their list is null or empty where the reply is a tool call.

Source: https://platform.openai.com/docs/api-reference/chat/object (`choices[].logprobs.content`).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from .bodies import listed, objects
from .reading import members
from .values import Json, JsonObject

MOST_ALTERNATIVES = 20
"""The largest `top_logprobs` of the API."""

_LIMITS = ("max_completion_tokens", "max_tokens")
_ONE_OF_ONE = ("n", "best_of", "stream", "stream_options", "seed")
"""What asks for more than one answer, or for one in another form."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """A token that could have stood in a place."""

    text: str
    """Empty for a token that is not shown, such as the end of the reply."""
    logprob: float
    """Natural logarithm, before the sampling settings of the request."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a reply, and what could have stood in its place."""

    text: str
    alternatives: tuple[Alternative, ...]
    """Distinct in text or not, the token itself among them where the server lists it; likeliest first."""


def asking_for_logprobs(body: JsonObject, most_tokens: int) -> JsonObject:
    """The body that asks for the likeliest reply, with log-probabilities, cut after `most_tokens`."""
    asked = {key: value for key, value in body.items() if key not in _ONE_OF_ONE}
    limit = next((key for key in _LIMITS if key in body), _LIMITS[-1])
    return {**asked, limit: most_tokens, "temperature": 0, "logprobs": True, "top_logprobs": MOST_ALTERNATIVES}


def tokens_of(body: Json) -> tuple[Token, ...]:
    """The tokens of the first choice of a chat completion, in order; none where the server sent none."""
    choices = [choice for _, choice in objects(members(body).get("choices"))]
    content = members(choices[0].get("logprobs")).get("content") if choices else None
    return tuple(_token(item) for _, item in objects(content))


def _token(item: JsonObject) -> Token:
    own = _alternative(item)
    found = [_alternative(other) for other in listed(item.get("top_logprobs"))]
    known = [other for other in found if other is not None]
    if own is not None and own not in known:
        known.append(own)
    known.sort(key=lambda other: -other.logprob)
    text = item.get("token")
    return Token(text if isinstance(text, str) else "", tuple(known))


def _alternative(item: Json) -> Alternative | None:
    fields = members(item)
    text, logprob = fields.get("token"), fields.get("logprob")
    if not isinstance(text, str) or isinstance(logprob, bool) or not isinstance(logprob, (int, float)):
        return None
    # Servers write a token that cannot come as -inf, or as the least number of some type.
    return Alternative(text, float(logprob)) if isfinite(logprob) and logprob <= _HIGHEST else None


_HIGHEST = 1e-3
"""A probability of 1, and what rounding adds to it."""
