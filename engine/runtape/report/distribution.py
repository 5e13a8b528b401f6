"""What one request leads to over some reruns, with statements that can be made about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from ..decision.pattern import compiled, is_found
from ..errors import BadInput, ModelFailed
from ..stats.rates import wilson
from ..stats.sequential import RateTest
from ..stats.tally import Tally, Verdict
from ..text import shorten, visible

_LOST: tuple[Verdict, ...] = ("filtered", "invalid")
"""Answers that hide what the agent would have done. A refusal does nothing, and one that was cut is drawn again."""
_NOT_BELOW = "Run why on this event to find the text behind it, then fix."
_LOST_HERE = "The change takes away what was wanted here: make it narrower."
_OPEN = "Make more reruns, such as runs={}, or allow a higher rate."
_LINE, _EXAMPLE = 160, 400
"""Characters of recorded text shown in one line, and of an example."""


StoppedBy = Literal["budget", "model", "cancelled"]
"""What ended a run before it was done: the limit on calls, the model's server, or whoever waited for it."""


class Seen(NamedTuple):
    """What one reply did."""

    tools: tuple[str, ...]
    """Names of the tools it calls, in order."""
    calls: tuple[str, ...]
    """Each tool call as `name {arguments}`, the arguments as the provider sent them."""
    text: str
    """The text of the reply; empty when there is none."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """What one request leads to, over some reruns.

    The methods that start with `never` and `always` return the distribution when the statement holds, raise
    AssertionError when it does not, and raise ModelFailed when answers are missing: a statement about ten reruns is
    never made from eight.
    """

    tally: Tally
    actions: list[tuple[str, int]]
    """Every action with its count, most frequent first."""
    replies: list[Seen]
    """Each reply that counts."""
    calls: int
    reused: int
    decision: str
    asked: int
    """Reruns asked for."""
    notes: list[str] = field(default_factory=list[str])
    stopped: str | None = None
    """Why there are fewer replies than asked for; None when there are not."""
    stopped_by: StoppedBy | None = None
    enough: bool = False
    """The rule given as `until` ended the run before all the reruns were made."""
    repeats: list[bool] = field(default_factory=list[bool])
    """Of each reply that counts, whether it makes the recorded decision."""

    def counts(self) -> Counter[str]:
        """Replies by action."""
        return Counter(dict(self.actions))

    def rate(self, tool: str) -> float:
        """Share of the replies that call `tool`, 0-1.

        Raises:
            ModelFailed: no reply counts.
        """
        if not self.replies:
            raise ModelFailed(f"No rerun gave an answer that counts{self._missing()}. There is no rate of {tool!r}.")
        return sum(tool in reply.tools for reply in self.replies) / len(self.replies)

    def never_calls(self, tool: str) -> Distribution:
        """This distribution, when no reply calls `tool`."""
        __tracebackhide__ = True
        return self._none(lambda reply: tool in reply.tools, f"calls {tool!r}")

    def rate_below(self, tool: str, limit: float) -> Distribution:
        """This distribution, when the share of replies that call `tool` is below `limit`, a rate between 0 and 1.

        A sequential test over the replies in their order: it passes a rate of `limit` or more with a chance of at most
        5%, and fails one of at most `limit` with a chance of at most 5%, however many replies there are. The fewest
        that pass are 36 for a limit of 0.1; a true rate of 0.01 takes 45 on average and passes in 99% of runs of 100.
        Neither passed nor failed is an AssertionError of its own.

        Raises:
            AssertionError: the rate is not below the limit, or the replies leave it open.
            ModelFailed: answers are missing where they could have changed the answer.
            BadInput: the limit is no rate.
        """
        __tracebackhide__ = True
        test = self._rate_test(limit)
        made = [tool in reply.tools for reply in self.replies]
        answer = test.answer(made)
        if answer == "not below":
            raise AssertionError(self._rate_told(tool, made, f"is not below {limit:.4g}", _NOT_BELOW))
        self._sound()
        if answer == "below":
            return self
        if not self.enough and len(self) < self.asked:
            self._complete()
        raise AssertionError(
            self._rate_told(
                tool, made, f"may be below {limit:.4g} or not", _OPEN.format(max(test.shortest, 2 * len(self)))
            )
        )

    def rate_settled(self, tool: str, limit: float) -> bool:
        """Whether `rate_below` has its answer: a rule for `until`, so that no rerun is made after it.

        Raises:
            BadInput: the limit is no rate.
        """
        return self._rate_test(limit).answer(tool in reply.tools for reply in self.replies) != "open"

    def repeats_above(self, limit: float) -> Distribution:
        """This distribution, when more than a share `limit` of the replies makes the recorded decision, 0-1.

        For decisions that were wanted. The same sequential test as that of `rate_below`, on the replies that do not
        make it: it passes a share of `limit` or less with a chance of at most 5%, and fails one of `limit` or more with
        a chance of at most 5%. The fewest that pass are 6 for a limit of 0.5.

        Raises:
            AssertionError: the share is not above the limit, or the replies leave it open.
            ModelFailed: answers are missing where they could have changed the answer.
            BadInput: the limit is no rate.
        """
        test = self._loss_test(limit)
        answer = test.answer(not made for made in self.repeats)
        if answer == "not below":
            raise AssertionError(self._repeats_told(f"no more than {limit:.4g}", _LOST_HERE))
        self._sound()
        if answer == "below":
            return self
        if not self.enough and len(self) < self.asked:
            self._complete()
        more = _OPEN.format(max(test.shortest, 2 * len(self)))
        raise AssertionError(self._repeats_told(f"maybe more than {limit:.4g}, maybe not", more))

    def repeats_settled(self, limit: float) -> bool:
        """Whether `repeats_above` has its answer: a rule for `until`, so that no rerun is made after it.

        Raises:
            BadInput: the limit is no rate.
        """
        return self._loss_test(limit).answer(not made for made in self.repeats) != "open"

    def always_calls(self, tool: str) -> Distribution:
        """This distribution, when every reply calls `tool`."""
        __tracebackhide__ = True
        return self._none(lambda reply: tool not in reply.tools, f"does not call {tool!r}")

    def never_calls_matching(self, regex: str) -> Distribution:
        """This distribution, when `regex` is found in no tool call, read as `name {arguments}`.

        Raises:
            BadInput: `regex` is no regular expression, or one that may take for ever.
        """
        __tracebackhide__ = True
        pattern = compiled(regex)
        return self._none(
            lambda reply: any(is_found(pattern, call) for call in reply.calls),
            f"makes a tool call that matches {regex!r}",
        )

    def never_matches(self, regex: str) -> Distribution:
        """This distribution, when `regex` is found neither in the text nor in a tool call of any reply.

        Raises:
            BadInput: `regex` is no regular expression, or one that may take for ever.
        """
        __tracebackhide__ = True
        pattern = compiled(regex)
        return self._none(
            lambda reply: any(is_found(pattern, said) for said in (reply.text, *reply.calls)), f"matches {regex!r}"
        )

    def never_repeats(self) -> Distribution:
        """This distribution, when no reply makes the recorded decision again."""
        __tracebackhide__ = True
        if not self.tally.kept or not self.enough:
            self._complete()
        if self.tally.kept:
            raise AssertionError(
                f"The recorded decision was made in {self.tally.kept} of {self.tally.n} reruns.\n{self}"
            )
        self._sound()
        return self

    def __len__(self) -> int:
        """Replies that count."""
        return len(self.replies)

    def __repr__(self) -> str:
        """One line: what pytest shows of it above the message of a failed statement."""
        return f"<Distribution: {len(self)} of {self.asked} reruns count, {self.tally.kept} repeat the decision>"

    def __str__(self) -> str:
        """The actions with their counts, one a line."""
        lines = [f"{count:4} x {shorten(visible(action), _LINE)}" for action, count in self.actions]
        return "\n".join([f"{len(self)} of {self.asked} reruns count{self._missing()}:", *lines, *self.notes])

    def _rate_test(self, limit: float) -> RateTest:
        try:
            return RateTest(limit)
        except ValueError as error:
            raise BadInput(f"The limit {limit!r} is no rate between 0 and 1, such as 0.1.") from error

    def _loss_test(self, limit: float) -> RateTest:
        try:
            return RateTest(1 - limit)
        except ValueError as error:
            raise BadInput(f"The limit {limit!r} is no share between 0 and 1, such as 0.5.") from error

    def _repeats_told(self, what: str, advice: str) -> str:
        kept = sum(self.repeats)
        share = wilson(kept, len(self.repeats))
        lost = next((reply for reply, made in zip(self.replies, self.repeats, strict=True) if not made), None)
        example = f"For example, in its place: {_example(lost)}\n" if lost else ""
        return (
            f"The recorded decision ({visible(self.decision)}) is made in {kept} of {len(self.repeats)} reruns: {what}"
            f" (true share between {share.low:.0%} and {share.high:.0%}, 95% interval).\n{example}{advice}\n{self}"
        )

    def _rate_told(self, tool: str, made: list[bool], what: str, advice: str) -> str:
        share = wilson(sum(made), len(made))
        calling = next((reply for reply, called in zip(self.replies, made, strict=True) if called), None)
        example = f"For example: {_example(calling)}\n" if calling else ""
        return (
            f"How often the agent calls {tool!r} {what}: {sum(made)} of {len(made)} reruns"
            f" (true share between {share.low:.0%} and {share.high:.0%}, 95% interval).\n{example}{advice}\n{self}"
        )

    def _none(self, bad: Callable[[Seen], bool], what: str) -> Distribution:
        __tracebackhide__ = True
        hits = [reply for reply in self.replies if bad(reply)]
        if not hits or not self.enough:
            self._complete()
        if not hits:
            self._sound()
            return self
        example = _example(hits[0])
        share = wilson(len(hits), len(self))
        raise AssertionError(
            f"The agent {what} in {len(hits)} of {len(self)} reruns"
            f" (true share between {share.low:.0%} and {share.high:.0%}, 95% interval).\n"
            f"For example: {example}\n{self}"
        )

    def _complete(self) -> None:
        __tracebackhide__ = True
        if self.tally.broken:
            raise ModelFailed(
                f"The model's server refused this request: {shorten(visible(self.tally.broken), _EXAMPLE)}"
            )
        if len(self) < max(self.asked, 1):
            raise ModelFailed(
                f"Only {len(self)} of {self.asked} reruns gave an answer that counts{self._missing()}."
                " Nothing is concluded from them: run it again."
            )

    def _sound(self) -> None:
        """Make sure that no answer was withheld or broken: the statement may fail in just those.

        Raises:
            ModelFailed: some were.
        """
        __tracebackhide__ = True
        lost = [f"{count} {kind}" for kind, count in self.tally.void if kind in _LOST]
        if self.tally.broken or lost:
            raise ModelFailed(
                f"Nothing is concluded: {', '.join(lost) or 'refused requests'} among the answers, and the statement"
                " may fail in just those. Run it again, or look at them with rerun."
            )

    def _missing(self) -> str:
        void = ", ".join(f"{count} {kind}" for kind, count in self.tally.void)
        return f" (not counted: {void})" if void else ""


def _example(reply: Seen) -> str:
    return shorten(visible("; ".join(reply.calls) or reply.text), _EXAMPLE)
