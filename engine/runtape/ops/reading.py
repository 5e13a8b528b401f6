"""The chance of a decision, read from one reply to each context."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..decision.likelihood import Choice, Likelihood, NotReadable, likelihood, opening_of
from ..decision.matchers import CallsTools
from ..decision.sampling import sampling_of
from ..errors import EditChangesNothing
from ..sample.asks import Ask
from ..sample.cache import ReplyCache, key_of
from ..sample.sampler import Sampler
from ..search.likelihood import Readings
from ..wire.logprobs import Token, asking_for_logprobs, tokens_of
from ..wire.reading import members, text_or_none
from ..wire.values import Json, Request
from .case import Case

SERIES = "likelihood"
"""Series of the replies that are read; no tally is ever made of them."""
OPENING_TOKENS = 24
"""Tokens of a reply that are enough for what opens a call; the longest name of a tool comes on top."""
WIDEST = 0.5
"""Width from which an interval says nothing."""


class NoLogprobs(NotReadable):
    """Raised when the server sends no log-probabilities for tool calls of this model, whatever the context."""


def unfit(case: Case) -> str | None:
    """Why the chance of this decision cannot be read from the name of a tool; None when it can."""
    made = case.reply.tool_calls
    if case.request.api != "chat.completions":
        return "this API gives no log-probabilities of tool calls"
    decision = case.decision
    named = len(decision.tools) == 1 and decision.matcher == CallsTools(frozenset(decision.tools))
    if not named or decision.judge is not None:
        return "the decision is more than which tool is called"
    if len(made) != 1:
        return "the recorded reply makes several calls"
    if case.reply.text and case.reply.text.strip():
        return "the recorded reply says something before it calls the tool, and each such text has a chance of its own"
    match case.request.body.get("tool_choice"):
        case None | "auto" | "required" | "any":
            pass
        case _:
            return "the request names the tool to call, so there is no choice among tools"
    if case.decision.tools[0] not in _tools(case.request):
        return "the tool is not among those that the request offers"
    return None


class Reader:
    """Reads contexts of one decision from one server."""

    def __init__(
        self, case: Case, sampler: Sampler, render: Callable[[frozenset[int]], Request], *, alone: bool
    ) -> None:
        """`alone`: one request after another, as a server wants it that keeps the start of the last context."""
        tools = _tools(case.request)
        body = case.request.body
        self._choice = Choice(
            case.decision.tools[0], tools, body.get("tool_choice") in ("required", "any"), sampling_of(body)
        )
        self._tokens = OPENING_TOKENS + max(map(len, tools)) // 2
        self._sampler = sampler
        self._render = render
        self._alone = alone
        self._opening = ""

    def has_read(self, cache: ReplyCache, identity: str) -> bool:
        """Whether the context as recorded was read before, from the model of that identity."""
        return bool(cache.answers(key_of(identity, self._request(frozenset())), SERIES))

    async def base(self) -> Likelihood:
        """The chance of the decision as recorded; has to be read first, since it shows how calls open.

        Raises:
            NoLogprobs: the server does not send what is needed.
            NotReadable: this context cannot be read.
            BudgetSpent, ModelFailed: as `Sampler.draw` does.
        """
        ((tokens, refused),) = await self._draw([self._request(frozenset())])
        if refused is not None:
            raise NoLogprobs(f"the server does not take the request: {refused}")
        if not tokens:
            raise NoLogprobs("the server sends no log-probabilities for the tokens of a tool call")
        self._opening = opening_of(tokens, self._choice)
        read = likelihood(tokens, self._choice, self._opening)
        if read.width >= WIDEST:
            raise NotReadable("the listed tokens leave open which tool the reply would call")
        return read

    async def read(self, variants: Sequence[frozenset[int]]) -> Readings:
        """The chance of each variant, after `base`; raises BudgetSpent and ModelFailed as `Sampler.draw` does."""
        requests: dict[frozenset[int], Request] = {}
        for variant in variants:
            try:
                requests[variant] = self._request(variant)
            except EditChangesNothing:
                continue
        drawn = dict(zip(requests, await self._draw(list(requests.values())), strict=True))
        return [self._value(drawn[variant][0]) if variant in drawn else None for variant in variants]

    def _value(self, tokens: tuple[Token, ...]) -> float | None:
        try:
            read = likelihood(tokens, self._choice, self._opening)
        except NotReadable:
            return None
        return read.value if read.width < WIDEST else None

    def _request(self, variant: frozenset[int]) -> Request:
        request = self._render(variant)
        return replace(request, body=asking_for_logprobs(request.body, self._tokens))

    async def _draw(self, requests: Sequence[Request]) -> list[tuple[tuple[Token, ...], str | None]]:
        """The tokens of each reply, or why there is none."""
        asks = [Ask(request, SERIES, 1) for request in requests]
        drawn = (
            [(await self._sampler.draw([ask]))[0] for ask in asks] if self._alone else await self._sampler.draw(asks)
        )
        return [(tokens_of(got.answers[0].raw) if got.answers else (), got.broken) for got in drawn]


def _tools(request: Request) -> tuple[str, ...]:
    """The names of the tools that a request offers."""
    tools = request.body.get("tools")
    named = [_name(tool) for tool in tools] if isinstance(tools, list) else []
    return tuple(name for name in named if name)


def _name(tool: Json) -> str | None:
    return text_or_none(members(members(tool).get("function")).get("name"))
