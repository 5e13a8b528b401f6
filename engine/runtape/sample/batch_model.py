"""A model whose requests go through the batch API of its provider: at half price, within a day.

Requests that are asked for at about the same time are one wave, and a wave is one batch (or a few, where the API limits
them). Who asked waits until the batch has ended.

A batch is never submitted twice. Before it is, the reply cache keeps which samples it is going to ask for, and as soon
as the server took it, what the server calls it. A sample that is in a batch already, whoever submitted it and however
long ago, is waited for there. Between the two moments a process may die: then the server is asked for the batch.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import takewhile
from uuid import uuid4

import anyio

from ..errors import ModelFailed
from ..wire.values import Request
from . import attempts
from .anthropic_batches import AnthropicBatches
from .awaited import Awaited, OpenBatch, not_all, not_run
from .batch_service import Absent, BatchService, Item, State, Unclear
from .cache import ReplyCache, key_of
from .endpoint import ANTHROPIC, Endpoint, family_of
from .failures import Exchange, failure, rejects_n
from .http_models import HttpModel
from .model import Answer, RequestRefused, Unanswered
from .openai_batches import OpenAIBatches
from .parcels import parcels
from .rows import Sample

GATHER = 0.1
"""Seconds without another request after which a wave is complete."""

SOON, RARELY, SLOWER = 5.0, 60.0, 1.5
"""Seconds between two looks at a batch: at first, at most, and how they grow."""

SILENT = 30
"""Looks in a row that may stay unanswered: about half an hour."""

KEPT = 29 * 86_400.0
"""Seconds for which both providers keep the results of a batch."""

WAVE = 1_000_000
"""Requests that may be waited for at a time: all of a wave."""


class BatchModel(HttpModel):
    """One API at one endpoint, asked in batches. Belongs to one event loop."""

    def __init__(
        self,
        api: str,
        endpoint: Endpoint,
        cache: ReplyCache,
        *,
        on_wait: Callable[[str], None] = lambda _: None,
        pause: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        """`on_wait` hears, in a sentence, what is waited for; `pause` waits between two looks at a batch."""
        super().__init__(api, endpoint)
        self._cache = cache
        self._on_wait = on_wait
        self._pause = pause
        self._gathering: list[Awaited] | None = None
        """The wave that is not complete yet."""
        self._latest = 0.0

    async def sample(self, request: Request, n: int) -> Sequence[Answer]:
        """See `Model.sample`; it takes as long as the batch."""
        listener = attempts.current.get()
        asked = self._asked(request, listener.samples or (f"{uuid4().hex}#0",), min(n, self.max_n))
        if self._gathering is None:
            self._gathering = [asked]
            await self._lead(self._gathering)
        else:
            self._gathering.append(asked)
            self._latest = anyio.current_time()
        await asked.done.wait()
        assert asked.result is not None
        return self._read_result(request, asked, asked.result)

    def _asked(self, request: Request, names: Sequence[str], n: int) -> Awaited:
        """The request for the first samples of those named that can be had together: from one batch, or from a new."""
        key = key_of(self.identity, request)
        samples = [Sample(key, series, int(number)) for series, _, number in (name.rpartition("#") for name in names)]
        where = [self._cache.in_batch(sample) for sample in samples[:n]]
        first = where[0] and where[0].item
        together = list(takewhile(lambda place: (place and place.item) == first, where))
        return Awaited(
            self._body(request, len(together)),
            samples[: len(together)],
            places=[place.place for place in together if place is not None],
        )

    def _read_result(
        self, request: Request, asked: Awaited, result: Exchange | RequestRefused | ModelFailed
    ) -> Sequence[Answer]:
        listener = attempts.current.get()
        if not isinstance(result, Exchange):
            raise result
        if not 200 <= result.status < 300:
            self._cache.leave_batch(asked.samples)
            listener.rejected(result.status, None)
            if len(asked.samples) > 1 and rejects_n(result, asked.body):
                self.max_n = 1
                raise Unanswered(
                    f"{self._endpoint.shown} does not give several answers to one request; asked one by one"
                )
            raise failure(result, self._endpoint, request.body.get("model"))
        wanted = max(asked.places, default=len(asked.samples) - 1) + 1
        answers = self._answers(request, result, wanted)
        kept = [answers[at] for at in asked.places if at < len(answers)] if asked.places else answers
        # What is readable leaves its batch in the moment it is kept; the rest will not come from there.
        readable = [answer.reply is not None for answer in kept]
        lost = [sample for at, sample in enumerate(asked.samples) if at >= len(kept) or not readable[at]]
        if lost:
            self._cache.leave_batch(lost)
        if not kept:
            raise Unanswered(f"{self._endpoint.shown} gave fewer answers than it was asked for; asked again")
        return kept

    async def _lead(self, wave: list[Awaited]) -> None:
        """Complete a wave, submit it, and see it through to its end."""
        heard = attempts.current.set(attempts.Unheard())  # what is sent now is no sample of anybody's
        try:
            try:
                await self._complete()
            finally:
                self._gathering = None
            await self._see_through(wave)
        except ModelFailed as error:
            for asked in wave:
                asked.end(error)
        finally:
            attempts.current.reset(heard)
            for asked in wave:
                asked.end(Unanswered("the wait for the batch was ended; the same command picks it up"))

    async def _complete(self) -> None:
        """Wait until nobody has joined the wave for a while."""
        self._latest = anyio.current_time()
        while (left := self._latest + GATHER - anyio.current_time()) > 0:  # noqa: ASYNC110 - the clock ends it
            await anyio.sleep(left)

    async def _see_through(self, wave: list[Awaited]) -> None:
        service = await self._service()
        batches = await self._found(service, [asked for asked in wave if asked.places])
        batches += await self._submit(service, [asked for asked in wave if not asked.places])
        between, silent = SOON, 0
        while True:
            states: list[State] = []
            for batch in list(batches):
                try:
                    state = await service.state(batch.remotes[0])
                    states.append(state)
                    if state.ended:
                        batches += await self._ended(service, batch, state)
                        batches.remove(batch)
                except Unanswered:
                    silent += 1
                    if silent >= SILENT:
                        raise
                except Absent:
                    batches.remove(batch)
                    self._gone(batch)
                else:
                    silent = 0
            if not batches:
                return
            self._tell(batches, states)
            await self._pause(between)
            between = min(RARELY, between * SLOWER)

    async def _service(self) -> BatchService:
        client = await self._opened()
        if family_of(self._api) is ANTHROPIC:
            return AnthropicBatches(client, self._endpoint)
        return OpenAIBatches(client, self._endpoint, self._dialect.path)

    async def _found(self, service: BatchService, wave: Sequence[Awaited]) -> list[OpenBatch]:
        """The batches that a wave is in already."""
        found: dict[str, OpenBatch] = {}
        unconfirmed: dict[str, float] = {}
        for asked in wave:
            place = self._cache.in_batch(asked.samples[0])
            if place is None:
                asked.end(Unanswered("another process kept the answers of a batch in the meantime"))
                continue
            known = [] if place.remote is None else [place.remote]
            batch = found.setdefault(place.batch, OpenBatch(place.batch, {}, known, place.at, confirmed=bool(known)))
            batch.waiting.setdefault(place.item, []).append(asked)
            if place.remote is None:
                unconfirmed[place.batch] = place.at
        for name, at in unconfirmed.items():
            batch = found[name]
            batch.remotes = await service.candidates(name, self._cache.items_in_batch(name), at)
            if not batch.remotes:
                del found[name]
                found.update({new.name: new for new in await self._submit(service, self._anew(batch))})
        return list(found.values())

    def _anew(self, batch: OpenBatch) -> list[Awaited]:
        """Those who wait for a batch that the server never took."""
        self._cache.leave_batch([sample for asked in batch.asked for sample in asked.samples])
        for asked in batch.asked:
            asked.places = ()
        return batch.asked

    async def _submit(self, service: BatchService, wave: Sequence[Awaited]) -> list[OpenBatch]:
        """The new batches that a wave goes into."""
        batches: list[OpenBatch] = []
        for parcel in parcels([asked.body for asked in wave], service):
            batch = f"runtape-{uuid4().hex}"
            named = {f"{batch}-{at}": wave[index] for at, index in enumerate(parcel)}
            self._cache.begin_batch(batch, {name: asked.samples for name, asked in named.items()})
            try:
                remote = await service.submit(batch, [Item(name, asked.body) for name, asked in named.items()])
            except (Unanswered, Unclear):
                raise  # it may have been taken: the next pass, or the next run, asks the server for it
            except ModelFailed:
                self._cache.leave_batch([sample for asked in named.values() for sample in asked.samples])
                raise
            self._cache.name_batch(batch, remote)
            batches.append(OpenBatch(batch, {name: [asked] for name, asked in named.items()}, [remote], time.time()))
        return batches

    async def _ended(self, service: BatchService, batch: OpenBatch, state: State) -> list[OpenBatch]:
        """Hand out what a batch that has ended brought; the batches that are to be waited for in its place."""
        results: Mapping[str, Exchange] = {} if state.refused else await service.results(state)
        if not batch.confirmed:
            if not any(name.startswith(batch.name) for name in results):
                batch.remotes.pop(0)
                return [batch] if batch.remotes else await self._submit(service, self._anew(batch))
            self._cache.name_batch(batch.name, state.remote)
        missing: Exchange | Unanswered = not_run(state.remote)
        if len(results) < state.done and not state.refused:
            missing = not_all(state.remote, len(results), state.done)
        for name, waiting in batch.waiting.items():
            for asked in waiting:
                asked.end(results.get(name) or state.refused or missing)
        return []

    def _gone(self, batch: OpenBatch) -> None:
        """Take in that the server does not know a batch, or has its results no more.

        Raises:
            ModelFailed: it should know it.
        """
        remote = batch.remotes[0]
        if time.time() - batch.at < KEPT:
            raise ModelFailed(
                f"{self._endpoint.shown} does not know the batch {remote}, whose answers are waited for. Use the key "
                "of the account that submitted it, or leave out --batch (batch=) to pay for its answers once more"
            )
        for asked in batch.asked:
            asked.end(not_run(remote))

    def _tell(self, batches: Sequence[OpenBatch], states: Sequence[State]) -> None:
        names = ", ".join(batch.remotes[0] for batch in batches)
        open_ = [state for state in states if not state.ended]
        done, total = sum(state.done for state in open_), sum(state.total for state in open_)
        self._on_wait(
            f"waiting for the batch {names}, {done} of {total} requests done. "
            "Ctrl-C leaves the batch running; the same command picks it up"
        )
