"""Draws samples: from the cache where they are, else from the model, within the budget.

A draw goes in passes until nothing is missing. One pass: the missing samples are planned into requests, claimed in the
cache (another process may be drawing them), paid for in advance, and sent together. A reply is committed to the cache
in the moment it arrives, so whatever ends a draw (a spent budget, a dead server, a cancelled call) loses none.

Until the model has given a readable answer, one request goes alone: a wrong key costs one request, not a wave. Not so
where a wave is one batch: a batch of one would take as long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from uuid import uuid4

import anyio
import anyio.lowlevel

from ..errors import BudgetSpent, ModelFailed
from ..said import Said
from ..wire.values import Request
from .amount import NOTHING, Amount
from .asks import Ask, Drawn, is_readable, look
from .budget import Budget, Hold
from .cache import ReplyCache, key_of
from .line import Line
from .meter import Meter
from .model import Answer, Model, RequestRefused, Unanswered
from .planning import planned
from .prices import Prices
from .rows import Sample
from .served import Served
from .silence import Silence

POLL = 0.05
"""Seconds between looks at samples that somebody else is drawing."""

REFUSALS = 2
"""Requests that a model may refuse before it has accepted one."""

FIRST_TRIES = 3
"""Unreadable answers after which a model that has given no readable one is given up."""


@dataclass(slots=True)
class Counters:
    """What a sampler did so far."""

    drawn: int = 0
    """Answers that came from the model."""
    reused: int = 0
    """Answers that were in the cache before."""
    requests: int = 0
    """Requests sent, retries included."""
    rounds: int = 0
    """Times that the model was waited for, one after another."""
    used: Amount = NOTHING
    """Tokens of the answers that told theirs, and their price where it is known."""


@dataclass(slots=True)
class _Job:
    """One request to be sent, for samples of one key."""

    request: Request
    samples: list[Sample]
    hold: Hold
    answered: bool = False
    unanswered: Unanswered | None = None

    @property
    def key(self) -> str:
        return self.samples[0].key


class Sampler:
    """Answers asks from one model. Belongs to one event loop."""

    def __init__(
        self,
        model: Model,
        cache: ReplyCache,
        budget: Budget,
        *,
        concurrency: int = 16,
        job: str = "",
        meter: Meter | None = None,
        on_progress: Callable[[Counters], None] | None = None,
        on_missing: Callable[[], None] | None = None,
    ) -> None:
        """`on_missing` is called before samples are drawn that are not kept; a draw can be cancelled there."""
        self._line = Line(model, concurrency)
        self._cache = cache
        known = cache.most_at_once(model.identity)
        if known is not None:
            model.max_n = min(model.max_n, known)
        if cache.takes_turns(model.identity):
            self._line.take_turns()
        self._budget = budget
        self._job = job
        self._meter = meter or Meter(Prices(), limited=budget.ceiling.any)
        self._on_progress = on_progress
        self._on_missing = on_missing
        self._drawn = self._rounds = 0
        self._drawn_here: set[Sample] = set()
        self._reused: set[Sample] = set()
        self._served = Served()
        self._unreadable: dict[Sample, Answer] = {}
        """Never kept in the cache: the next run asks again."""
        self._broken: dict[str, str] = {}
        """By request key, why it cannot be sampled."""
        self._described: set[str] = set()
        """Keys of which the cache knows what they stand for."""
        self._silence = Silence()
        self._proven = False
        """True once the model has given a readable answer."""

    @property
    def counters(self) -> Counters:
        """What was done so far."""
        used = self._meter.used
        return Counters(len(self._drawn_here), len(self._reused), self._line.requests, self._rounds, used)

    @property
    def notes(self) -> list[Said]:
        """What the reader of the results has to know, once each."""
        return [*self._line.notes, *self._served.notes, *self._cache.notes, *self._meter.notes]

    def spares(self, samples: int) -> bool:
        """Whether the budget has room for so many samples that may turn out not to be needed."""
        return self._budget.spares(samples)

    def has(self, ask: Ask) -> bool:
        """Whether nothing has to be sent to answer an ask."""
        key = key_of(self._line.model.identity, ask.request)
        return key in self._broken or not look(ask, self._there(key, ask.series)).missing

    async def samples_at_once(self, ask: Ask) -> int:
        """How many samples one request gives; found out, once for each model, by sending `ask` as one request.

        What it brings is kept, so it costs nothing if `ask` is drawn later.

        Raises:
            BudgetSpent, ModelFailed: as `draw` does.
        """
        model, cache = self._line.model, self._cache
        key = key_of(model.identity, ask.request)
        while model.max_n > 1 and not self._line.in_waves and cache.most_at_once(model.identity) is None:
            missing = look(ask, self._there(key, ask.series)).missing
            if not missing or key in self._broken:
                break
            before = len(self._drawn_here)
            await self._pass({Sample(key, ask.series, number): ask.request for number in missing})
            if len(self._drawn_here) > before:
                cache.learn_most_at_once(model.identity, model.max_n)
        else:
            # another process may have found out in the meantime
            model.max_n = min(model.max_n, cache.most_at_once(model.identity) or model.max_n)
        return model.max_n

    async def draw(self, asks: Sequence[Ask]) -> list[Drawn]:
        """The answers to some asks, in the same order.

        Raises:
            BudgetSpent: a missing sample does not fit the budget. What did fit was drawn and is kept.
            ModelFailed: the model cannot answer. What arrived before is kept.
        """
        # A draw that the cache answers waits for nothing else: here it can be cancelled.
        await anyio.lowlevel.checkpoint()
        keys = [key_of(self._line.model.identity, ask.request) for ask in asks]
        while True:
            drawn: list[Drawn] = []
            missing: dict[Sample, Request] = {}
            for ask, key in zip(asks, keys, strict=True):
                seen = look(ask, self._there(key, ask.series))
                drawn.append(Drawn(seen.answers, self._broken.get(key)))
                self._served.saw(ask.request, seen.answers)
                if key not in self._broken:
                    missing.update({Sample(key, ask.series, number): ask.request for number in seen.missing})
            if not missing:
                return drawn
            await self._pass(missing)

    def _there(self, key: str, series: str) -> dict[int, Answer]:
        there = self._cache.answers(key, series)
        self._reused |= {Sample(key, series, number) for number in there} - self._drawn_here
        there.update({s.number: answer for s, answer in self._unreadable.items() if s[:2] == (key, series)})
        return there

    async def _pass(self, missing: dict[Sample, Request]) -> None:
        """Draw the missing samples, or those of them that can be drawn now."""
        if self._line.dead is not None:
            raise self._line.dead
        if self._on_missing is not None:
            self._on_missing()
            await anyio.lowlevel.checkpoint()
        model = self._line.model
        plan = planned(missing, max(1, model.max_n), self._line.limits.slots.total_tokens)
        if not self._proven and not self._line.in_waves:
            plan = [max(plan, key=len)]
        holder = uuid4().hex
        granted = self._cache.claim([sample for chunk in plan for sample in chunk], holder)
        new = {sample.key: missing[sample] for sample in granted if sample.key not in self._described}
        if not granted:
            await anyio.sleep(POLL)
            return
        try:
            if new:
                self._cache.describe(model.identity, new)
                self._described.update(new)
                for key, request in new.items():
                    self._line.kept(request, self._cache.all_answers(key))
            jobs = list(self._paid(plan, granted, missing))
            if jobs:
                await self._run(jobs, holder)
        finally:
            self._cache.release(holder)
        if jobs:
            self._judge(jobs)
        else:
            await self._budget.freed()

    def _paid(self, plan: list[list[Sample]], granted: set[Sample], missing: dict[Sample, Request]) -> Iterator[_Job]:
        """The requests of a plan, cut to what was granted and what the budget still holds."""
        for chunk in plan:
            samples = [sample for sample in chunk if sample in granted]
            hold = self._reserve(missing[samples[0]], len(samples)) if samples else None
            if hold is not None:
                yield _Job(missing[samples[0]], samples[: hold.n], hold)

    def _reserve(self, request: Request, n: int) -> Hold | None:
        if not self._budget.ceiling.any:
            return self._budget.reserve(n)
        return self._budget.reserve(n, lambda samples: self._meter.worst(request, samples))

    async def _run(self, jobs: list[_Job], holder: str) -> None:
        """Send the requests of one pass, all at once as far as the line has room."""
        self._rounds += 1
        started = anyio.current_time()
        try:
            async with anyio.create_task_group() as keeper:
                keeper.start_soon(self._keep_claims, holder)
                async with anyio.create_task_group() as workers:
                    for job in jobs:
                        workers.start_soon(self._work, job)
                keeper.cancel_scope.cancel()
        finally:
            for job in jobs:
                job.hold.settle(None)
        self._line.limits.round_over(len(jobs), started)
        if self._line.wave_over(len(jobs), started):
            self._cache.learn_takes_turns(self._line.model.identity)

    async def _keep_claims(self, holder: str) -> None:
        while True:
            await anyio.sleep(self._cache.lease / 5)
            self._cache.refresh(holder)

    async def _work(self, job: _Job) -> None:
        """Send one request. Failures are judged after the pass: raised here they would cancel paid requests."""
        try:
            answers = await self._line.send(job.request, [f"{s.series}#{s.number}" for s in job.samples], job.hold)
        except RequestRefused as error:
            self._broken[job.key] = str(error)
        except Unanswered as error:
            job.unanswered = error
        except (ModelFailed, BudgetSpent):
            return  # the line remembers the failure; the next pass finds out whether any budget is left
        else:
            self._arrived(job, answers)

    def _arrived(self, job: _Job, answers: Sequence[Answer]) -> None:
        job.answered = True
        job.hold.settle(len(answers), self._meter.take(job.request, answers))
        for sample, answer in zip(job.samples, answers, strict=False):
            self._drawn_here.add(sample)
            if is_readable(answer):
                self._proven = True
                self._cache.add(sample, answer, job=self._job)
            else:
                self._unreadable[sample] = answer
        if self._on_progress is not None:
            self._on_progress(self.counters)

    def _judge(self, jobs: list[_Job]) -> None:
        """Decide what the failures of a pass mean.

        Raises:
            ModelFailed: going on is of no use.
        """
        if self._line.dead is not None:
            raise self._line.dead
        if not self._proven:
            self._judge_start()
        silent = {job.key: job.unanswered for job in jobs if job.unanswered is not None}
        answered = any(job.answered for job in jobs)
        try:
            given_up = self._silence.judge(silent, answered=answered, patient=self._proven or self._line.in_waves)
        except Unanswered as error:
            self._line.dead = error
            raise
        self._broken.update(given_up)

    def _judge_start(self) -> None:
        if len(self._broken) >= REFUSALS:
            raise ModelFailed(f"no request was accepted yet. {next(iter(self._broken.values()))}")
        if len(self._unreadable) >= FIRST_TRIES:
            last = next(reversed(self._unreadable.values()))
            raise ModelFailed(f"the first {len(self._unreadable)} answers could not be read. {last.error}")
