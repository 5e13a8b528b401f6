"""When a reply says a text again: the rule by which an earlier decision counts as made again.

Models rarely write the same sentence twice, so equal texts would be too strict, and a shared topic too lax. What counts
are the words by which the text stands out from its surroundings, and the values that the later decision took from it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import log

from ..context.sentences import sentences
from ..context.tokens import comparable, is_specific, related, tokens
from ..decision.actions import judge
from ..decision.decision import Decision
from ..decision.wording import values
from ..stats.tally import Outcome
from ..text import shorten
from ..wire.values import Reply, ToolCall

ENOUGH = 1 / 2
"""Share of the weight of a text's words that a passage of a reply must have to say the same."""
ENOUGH_WITH_VALUES = 1 / 3
"""The same where values have to be there as well, which few other passages have."""
_TAKEN_UP = 2.0
"""A word that the later decision took up is what mattered of the text."""
_SHOWN = 100


@dataclass(frozen=True, slots=True)
class Substance:
    """What a text says, as far as its words tell."""

    text: str
    """White space made single, letter case folded."""
    weights: tuple[tuple[str, float], ...]
    """Its words with how much each tells."""
    kept: frozenset[str]
    """Addresses, amounts, names of files: values that the later decision took from it. Each has to be there; they are
    not among `weights`."""
    length: int
    """Its sentences."""

    def is_in(self, text: str) -> bool:
        """True when some passage of `text` says it: as many sentences as it has, and one more."""
        if self.text in _plain(text):
            return True
        spans = [text[start:end] for line in text.splitlines() for start, end in sentences(line, 0, len(line))]
        words = [comparable(span) for span in spans]
        said = [tokens(span) for span in spans]
        for at in range(len(spans)):
            window = slice(at, at + self.length + 1)
            if self._is_said(frozenset[str]().union(*words[window]), frozenset[str]().union(*said[window])):
                return True
        return False

    def _is_said(self, words: frozenset[str], said: frozenset[str]) -> bool:
        total = sum(weight for _, weight in self.weights)
        found = sum(weight for word, weight in self.weights if word in words)
        if self.kept:
            return self.kept <= said and found >= ENOUGH_WITH_VALUES * total
        return total > 0 and found >= ENOUGH * total


def substance_of(text: str, around: Iterable[str], taken_up: str) -> Substance:
    """What has to be said again for a text to count as written again.

    Args:
        text: The text that the agent wrote.
        around: The texts of the context in which it was written: what stands there often tells little.
        taken_up: The later decision in words.
    """
    spread: Counter[str] = Counter()
    count = 0
    for other in around:
        spread.update(comparable(other))
        count += 1
    later = related(taken_up)
    kept = frozenset(word for word in tokens(text) & later if is_specific(word))
    weights = tuple(
        (word, log(1 + (1 + count) / (1 + spread[word])) * (_TAKEN_UP if word in later else 1.0))
        for word in sorted(comparable(text) - kept)
    )
    length = sum(1 for line in text.splitlines() for _ in sentences(line, 0, len(line)))
    return Substance(_plain(text), weights, kept, max(length, 1))


@dataclass(frozen=True, slots=True)
class SaysAgain:
    """The reply says a text again, in its own text or in the arguments of a call of one tool."""

    substance: Substance
    tool: str | None = None

    def matches(self, reply: Reply) -> bool:
        """True when the reply makes this decision."""
        if self.tool is None:
            return self.substance.is_in(reply.text or "")
        return any(
            self.substance.is_in(value)
            for call in reply.tool_calls
            if call.name == self.tool
            for value in values(call.arguments, call.text)
        )


def writing(text: str, substance: Substance, tool: str | None) -> Decision:
    """The decision to write a text."""
    label = f"writes {shorten(' '.join(text.split()), _SHOWN)!r}"
    if tool is not None:
        label += f" in the arguments of {tool}"
    return Decision(label, () if tool is None else (tool,), SaysAgain(substance, tool))


def judge_writing(decision: Decision, reply: Reply, earlier: tuple[ToolCall, ...]) -> Outcome:
    """What a reply did, seen from the decision to write a text.

    An answer in text that does not say it is another answer, not a refusal to go on: `other`, as is a call of the same
    tool without it. The rest is as in `judge`.
    """
    outcome = judge(decision, reply, earlier)
    if outcome == Outcome("stop", "answers in text") and not decision.tools:
        return Outcome("other", "answers in text without it")
    if outcome.verdict == "other" and set(decision.tools) & {call.name for call in reply.tool_calls}:
        return replace(outcome, action=f"{outcome.action} without it")
    return outcome


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
