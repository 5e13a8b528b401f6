"""The models that a verb asks, under one budget and over one reply cache."""

from __future__ import annotations

import math
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TypeAlias

import anyio

from ..errors import BadInput
from ..record.aside import aside
from ..said import Said
from ..sample.amount import NO_CEILING, Ceiling
from ..sample.batch_model import BatchModel
from ..sample.budget import Budget
from ..sample.cache import ReplyCache
from ..sample.endpoint import endpoint_for
from ..sample.function import Answering, FunctionModel
from ..sample.http_models import HttpModel
from ..sample.meter import Meter
from ..sample.model import Model
from ..sample.prices import PUBLIC, WANTED, Prices
from ..sample.resolve import resolve
from ..sample.sampler import Counters, Sampler
from ..text import visible
from ..wire.values import Request
from .case import Case
from .judges import JudgeModel
from .pace import Expected
from .spent import Spent

ModelInput: TypeAlias = "Model | Answering | str | None"
"""A model, a function, `module:function`, `file.py:function`; None for the recorded API."""


@dataclass(frozen=True, slots=True)
class Asking:
    """Who answers the reruns, and what they may cost."""

    model: ModelInput = None
    base_url: str | None = None
    budget: int | None = None
    """Most model calls; None for no limit."""
    concurrency: int = 16
    """Requests at the same time."""
    cache_dir: str | os.PathLike[str] | None = ".runtape"
    """Where replies are kept; None for nowhere."""
    job: str = ""
    """Name under which the reply cache counts what was paid."""
    purse: Budget | None = None
    """What the calls are paid from, in place of `budget` and `ceiling`."""
    ceiling: Ceiling = NO_CEILING
    """Most tokens and money."""
    prices: str | os.PathLike[str] | None = None
    """A file of prices, or `public` for those of the package genai-prices; see `sample.prices`."""
    batch: bool = False
    """Whether the reruns go through the provider's batch API."""

    def __post_init__(self) -> None:
        if self.batch and self.model is not None:
            raise BadInput("a model function takes no batches: leave out batch= (--batch), or the function.")
        if self.batch and self.cache_dir is None:
            raise BadInput(
                "batches are found again by the reply cache, so that none is paid for twice: leave out --no-cache "
                "(cache_dir=None), or --batch (batch=)."
            )
        for name, most in (("budget_tokens", self.ceiling.tokens), ("budget_usd", self.ceiling.usd)):
            if most is not None and not 0 <= most < math.inf:
                raise BadInput(f"{name}={most} is no limit. Give 0 or more.")
        if self.budget is not None and self.budget < 0:
            raise BadInput(f"A budget of {self.budget} model calls is negative. Give 0 or more.")
        if self.concurrency < 1:
            raise BadInput(f"concurrency={self.concurrency} sends nothing. Give at least 1.")


class Asked:
    """The samplers of one run, one for each model that its requests need."""

    def __init__(
        self,
        asking: Asking,
        cache: ReplyCache,
        on_answer: Callable[[], None] | None,
        on_missing: Callable[[], None] | None,
    ) -> None:
        self._asking = asking
        self.cache = cache
        self._on_answer = on_answer
        self._on_missing = on_missing
        self._budget = asking.purse or Budget(asking.budget, asking.ceiling)
        wants_prices = asking.prices is None and self._budget.ceiling.usd is not None
        self._recorded: Case | None = None
        self.prices = Prices(PUBLIC if wants_prices else asking.prices, batch=asking.batch)
        self.waiting: str | None = None
        """The batch that is waited for, in a sentence."""
        self._models: dict[object, Model] = {}
        self._samplers: dict[object, Sampler] = {}
        self._reading: dict[Model, Sampler] = {}
        self._judging: dict[Model, Sampler] = {}
        """For verdicts about replies, apart so that they can be counted."""

    @property
    def in_batches(self) -> bool:
        """Whether reruns go through the provider's batch API."""
        return self._asking.batch

    def model(self, request: Request) -> Model:
        """The model that answers this request.

        Raises:
            BadModel: there is none.
            EndpointNotAllowed: it would be asked at an address that the user did not name.
        """
        # A model that was named answers everything; the recorded API is another one at every endpoint.
        key = (request.api, request.endpoint) if self._asking.model is None else None
        if key not in self._models:
            self._models[key] = self._resolve(request)
            self._samplers[key] = self._sampler_of(self._models[key])
        return self._models[key]

    def _resolve(self, request: Request) -> Model:
        asking = self._asking
        if not asking.batch:
            return resolve(request, model=asking.model, base_url=asking.base_url)
        return BatchModel(request.api, endpoint_for(request, asking.base_url), self.cache, on_wait=self._wait)

    def sampler(self, request: Request) -> Sampler:
        """The sampler for this request; raises as `model` does.

        Raises:
            BadInput: tokens or money are limited, and what the model uses or costs is not known.
        """
        model = self.model(request)
        self._check(request, model)
        return next(self._samplers[key] for key, known in self._models.items() if known is model)

    def reading_sampler(self, request: Request) -> Sampler:
        """Another sampler for the same model, so that a server that fails on its requests is not given up for reruns.

        Raises as `model` does.
        """
        model = self.model(request)
        if model not in self._reading:
            self._reading[model] = self._sampler_of(model)
        return self._reading[model]

    def judging_sampler(self, request: Request) -> Sampler:
        """Another sampler for the same model, for verdicts about replies, so that they can be counted.

        Raises as `model` does.
        """
        model = self.model(request)
        if model not in self._judging:
            self._judging[model] = self._sampler_of(model)
        return self._judging[model]

    def _sampler_of(self, model: Model) -> Sampler:
        meter = Meter(self.prices, limited=self._budget.ceiling.any)
        if self._recorded is not None:
            meter.learn(self._recorded.request, self._recorded.reply.usage, 1)
            if isinstance(model, HttpModel):
                model.repeats.recorded(self._recorded.reply)
        return Sampler(
            model,
            self.cache,
            self._budget,
            concurrency=self._asking.concurrency,
            job=self._asking.job,
            meter=meter,
            on_progress=self._tell,
            on_missing=self._on_missing,
        )

    @property
    def _all(self) -> list[Sampler]:
        return [*self._samplers.values(), *self._reading.values(), *self._judging.values()]

    def expect(self, case: Case, waves: int) -> Expected:
        """What the recorded call lets expect of each rerun of it; call it before anything is asked.

        `waves`: how often the verb usually waits for the model, one wait after another.
        """
        self._recorded = case
        latency = case.moment.response.payload.get("latency_ms")
        tariff = self.prices.of(case.request)
        return Expected(
            seconds=latency / 1000 if isinstance(latency, (int, float)) and latency > 0 else None,
            usd=tariff.usd(case.reply.usage) if tariff else None,
            at_once=self._asking.concurrency,
            waves=waves if self._asking.batch else None,
            verdicts=1 if isinstance(case.selection.judge, JudgeModel) else 0,
        )

    def _check(self, request: Request, model: Model) -> None:
        ceiling = self._budget.ceiling
        if ceiling.any and isinstance(model, FunctionModel):
            raise BadInput(
                f"the model function {model.name!r} does not say how many tokens it uses: limit its calls (budget=, "
                "--budget) in place of tokens or money."
            )
        if ceiling.usd is not None and self.prices.of(request) is None:
            named = visible(str(request.body.get("model")))
            raise BadInput(
                f"no price of the model {named!r} is known, so a limit in dollars cannot be kept: give a file of "
                f"prices (prices=, --prices), or limit calls or tokens. {WANTED}"
            )

    @property
    def spent(self) -> Spent:
        """What was done so far, verdicts included."""
        spent = sum((_spent(sampler.counters) for sampler in self._all), Spent())
        verdicts = self._verdicts
        return replace(spent, verdicts=verdicts.calls + verdicts.reused)

    @property
    def _verdicts(self) -> Spent:
        return sum((_spent(sampler.counters) for sampler in self._judging.values()), Spent())

    @property
    def notes(self) -> list[Said]:
        """What the reader of the results has to know, once each."""
        verdicts = self._verdicts
        told = [_judged(verdicts)] if verdicts.calls or verdicts.reused else []
        return list(dict.fromkeys([*told, *(note for sampler in self._all for note in sampler.notes)]))

    async def aclose(self) -> None:
        """Close the connections that this run opened."""
        for model in self._models.values():
            if model is not self._asking.model:
                await model.aclose()

    def _wait(self, waiting: str) -> None:
        self.waiting = waiting
        if self._on_answer is not None:
            self._on_answer()

    def _tell(self, _: Counters) -> None:
        self.waiting = None
        if self._on_answer is not None:
            self._on_answer()


@asynccontextmanager
async def asking_models(
    asking: Asking, on_answer: Callable[[], None] | None = None, on_missing: Callable[[], None] | None = None
) -> AsyncGenerator[Asked, None]:
    """The models for one run; closed at the end, also when the run is cancelled. A recording around it hears nothing.

    `on_answer` is called whenever an answer arrives, or there is news of a batch; `on_missing` before samples are drawn
    that the reply cache does not hold.
    """
    with aside(), ReplyCache(None if asking.cache_dir is None else os.fspath(asking.cache_dir)) as cache:
        asked = Asked(asking, cache, on_answer, on_missing)
        try:
            yield asked
        finally:
            with anyio.CancelScope(shield=True):
                await asked.aclose()


def _spent(counters: Counters) -> Spent:
    return Spent(counters.drawn, counters.reused, counters.requests, counters.used)


def _judged(verdicts: Spent) -> Said:
    kept = f" ({verdicts.reused} more were in the reply cache)" if verdicts.reused else ""
    return Said(f"{verdicts.calls} of the model calls judged replies{kept}.")
