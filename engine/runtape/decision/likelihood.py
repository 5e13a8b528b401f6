"""The chance that a reply calls one tool rather than another, read from the tokens of a single reply.

The reply is the likeliest one. It opens a call, then spells the name of a tool. At every token of that path the listed
alternatives branch off; a branch counts for the tool when the tool is the only one that its text can still become, and
against it when the tool is none of them. Branches of which the text does not tell are counted for neither: the chance
is an interval, and it is narrow where the tokens say enough.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ..wire.logprobs import Alternative, Token
from .sampling import Sampling

_Branch: TypeAlias = Literal["yes", "no", "open", "on"]
"""For the tool, against it, undecided, or along the path of the likeliest reply."""

_NAME = r"[A-Za-z0-9_-]"
"""What a tool's name is made of; anything else ends it."""

_WORD = re.compile(r"[^\W\d_]+")
_MARKERS = frozenset(
    {
        *("tool", "tools", "call", "calls", "toolcall", "toolcalls", "function", "functions", "functools"),
        *("name", "type", "id", "recipient", "to", "python", "tag"),
        *("begin", "start", "end", "sep", "section", "of", "assistant", "channel", "commentary", "json"),
    }
)
"""Words of the marks with which models open a call (`<tool_call>{"name": "`, `[TOOL_CALLS]`, `to=functions.`, ...)."""


class NotReadable(ValueError):
    """Raised when the tokens of a reply do not tell how likely the call is; the message says why."""


@dataclass(frozen=True, slots=True)
class Likelihood:
    """A chance, 0-1, known up to what the tokens leave open."""

    low: float
    high: float

    @property
    def value(self) -> float:
        """The middle of the interval."""
        return (self.low + self.high) / 2

    @property
    def width(self) -> float:
        """How much is left open."""
        return self.high - self.low


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice among tools."""

    tool: str
    """The tool whose chance is asked for."""
    tools: tuple[str, ...]
    """All that are offered."""
    forced: bool
    """The API makes the model call one of them."""
    sampling: Sampling = field(default_factory=Sampling)


def opening_of(tokens: Sequence[Token], choice: Choice) -> str:
    """What the likeliest reply writes before the name of the tool that it calls.

    Raises:
        NotReadable: it calls no tool, or writes something else before it does.
    """
    text = "".join(token.text for token in tokens)
    if not tokens:
        raise NotReadable("the server sends no log-probabilities for the tokens of a tool call")
    names = "|".join(re.escape(name) for name in sorted(choice.tools, key=len, reverse=True))
    found = re.search(rf"(?<!{_NAME})(?:{names})(?!{_NAME})", text)
    if found is None:
        raise NotReadable("the likeliest reply names no tool within its first tokens")
    opening = text[: found.start()]
    if not {word.lower() for word in _WORD.findall(opening)} <= _MARKERS:
        raise NotReadable("the model writes text before it calls a tool, and each such text has a chance of its own")
    return opening


def likelihood(tokens: Sequence[Token], choice: Choice, opening: str) -> Likelihood:
    """The chance that a reply calls `choice.tool`.

    Args:
        tokens: The likeliest reply to some context.
        choice: What may be called.
        opening: How calls open, see `opening_of`; from the same reply or from one to a similar context.

    Raises:
        NotReadable: the tokens say too little.
    """
    try:
        opening = opening_of(tokens, choice)
    except NotReadable:
        if choice.forced or not tokens:
            raise
        # It answers in text. At most the branches that open a call at its first token call the tool.
        return Likelihood(0.0, _opening_share(tokens[0], choice, opening))
    return _Walk(choice, opening).along(tokens)


def _opening_share(token: Token, choice: Choice, opening: str) -> float:
    """The chance that the first token opens a call, when the likeliest one does not."""
    shares = choice.sampling.shares(token.alternatives)
    return sum(
        share
        for other, share in zip(token.alternatives, shares.listed, strict=True)
        if other.text != token.text and _begins_alike(other.text, opening)
    )


class _Walk:
    """Follows the likeliest reply and adds up what branches off."""

    def __init__(self, choice: Choice, opening: str) -> None:
        self._choice = choice
        self._opening = opening
        self._sums = dict[_Branch, float]({"yes": 0.0, "no": 0.0, "open": 0.0})

    def along(self, tokens: Sequence[Token]) -> Likelihood:
        """The chance of the tool at the end of the path, or where nothing is left to decide."""
        written, weight = "", 1.0
        for token in tokens:
            if not weight:
                break
            weight = self._pass(written, token, weight)
            written += token.text
        yes, unknown = self._sums["yes"], self._sums["open"] + weight
        total = yes + self._sums["no"] + unknown
        return Likelihood(yes / total, (yes + unknown) / total)

    def _pass(self, written: str, token: Token, weight: float) -> float:
        """Adds the branches at one token; the weight that goes on along the path."""
        shares = self._choice.sampling.shares(token.alternatives)
        goal = self._possible(written + token.text)
        sums = dict[_Branch, float]({"yes": 0.0, "no": 0.0, "open": 0.0, "on": 0.0})
        for other, share in zip(token.alternatives, shares.listed, strict=True):
            branch = self._branch(written, other, goal, ends=not other.text and bool(token.text))
            if branch is not None:
                sums[branch] += share
        if not self._choice.forced:
            sums["open" if written else "no"] += shares.unlisted
        elif len(written + token.text) > len(self._opening):
            sums["open"] += min(shares.unlisted, self._unlisted(written, token) * shares.one_unlisted)
        total = sum(sums.values())
        if not total:
            return weight
        for told in self._sums:
            self._sums[told] += weight * sums[told] / total
        return weight * sums["on"] / total

    def _branch(self, written: str, other: Alternative, goal: frozenset[str], *, ends: bool) -> _Branch | None:
        """Where an alternative leads; None where the API does not let it pass."""
        possible = frozenset[str]() if ends else self._possible(written + other.text)
        if possible:
            if self._choice.tool not in possible:
                return "no"
            if len(possible) == 1:
                return "yes"
            return "on" if possible == goal else "open"
        if self._choice.forced:
            return None
        # In place of the first token of a call: an answer in text. Later: a call in another spelling, or of no tool.
        return "open" if written or _begins_alike(other.text, self._opening) else "no"

    def _possible(self, text: str) -> frozenset[str]:
        """The tools that the reply may still call after this text."""
        if self._opening.startswith(text):
            return frozenset(self._choice.tools)
        if not text.startswith(self._opening):
            return frozenset()
        rest = text[len(self._opening) :]
        return frozenset(name for name in self._choice.tools if name.startswith(rest) or _is_spelled(name, rest))

    def _unlisted(self, written: str, token: Token) -> int:
        """How many tools may still be called that no listed token leads to.

        Each has one usual next token, which is less likely than the listed ones.
        """
        listed = [self._led_to(written + other.text) for other in token.alternatives if other.text]
        return len(self._possible(written).difference(*listed))

    def _led_to(self, text: str) -> frozenset[str]:
        """The tools that a text leads to; a complete name hides the longer ones, which have tokens of their own."""
        possible = self._possible(text)
        complete = possible & {text[len(self._opening) :]}
        return complete or possible


def _is_spelled(name: str, rest: str) -> bool:
    """Whether `rest` is the name with something behind it that ends a name."""
    return rest.startswith(name) and re.match(_NAME, rest[len(name) :]) is None


def _begins_alike(text: str, opening: str) -> bool:
    """Whether a token may begin the same opening in another spelling."""
    return text.strip()[:1] == opening.strip()[:1] != ""
