"""Models behind a provider's HTTP API: OpenAI chat completions and responses, Anthropic messages.

The recorded body is sent as it was, minus what belongs to the transport (`Dialect.for_rerun`).
"""

from __future__ import annotations

from collections.abc import Sequence

import anyio
import anyio.to_thread

from .. import canon
from ..text import shorten
from ..wire.dialect import UnreadableReply
from ..wire.dialects import dialect_for
from ..wire.values import Json, JsonObject, Request
from . import address, attempts
from .breakpoints import NOTE, Breakpoints
from .endpoint import ANTHROPIC, Endpoint, family_of
from .failures import Exchange, failure, refuses, rejects_n
from .model import DEADLINE, Answer, RequestRefused, Unanswered
from .repeats import REPEATED, Repeats, is_stored
from .sdk_clients import Client, anthropic_client, openai_client

MOST_AT_ONCE = 16
"""Samples asked for in one request at most; compatible servers refuse large numbers."""


class HttpModel:
    """One API at one endpoint. Belongs to one event loop."""

    def __init__(self, api: str, endpoint: Endpoint, *, deadline: float = DEADLINE) -> None:
        self.identity = f"{api} {address.name_of(endpoint.url)}"
        self._dialect = dialect_for(api)
        self.max_n = MOST_AT_ONCE if self._dialect.with_samples({}, 2) is not None else 1
        self._api = api
        self._endpoint = endpoint
        self._deadline = deadline
        self._client: Client | None = None
        self._opening = anyio.Lock()
        """Held while `_client` is made, which takes seconds."""
        self.repeats = Repeats()
        """The replies that it gave before."""
        self._breakpoints = Breakpoints() if api == "messages" and endpoint.named else None

    @property
    def local(self) -> bool:
        """True for a server on this machine."""
        return self._endpoint.local

    async def sample(self, request: Request, n: int) -> Sequence[Answer]:
        """See `Model.sample`. Where the server turns out not to honour `n`, `max_n` is 1 from then on."""
        asked = min(n, self.max_n)
        body = self._body(request, asked)
        sent = self._with_breakpoints(body)
        exchange = await self._send(canon.dumps(sent))
        if 200 <= exchange.status < 300:
            return self._answers(request, exchange, asked)
        if asked > 1 and rejects_n(exchange, body):
            most, self.max_n = self.max_n, 1
            try:
                return await self.sample(request, 1)
            except RequestRefused:  # `n` was not the reason
                self.max_n = most
                raise
        if sent is not body and refuses(exchange, "cache_control"):
            self._breakpoints = None
            return await self.sample(request, n)
        raise failure(exchange, self._endpoint, body.get("model"))

    async def aclose(self) -> None:
        """Close connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    def _body(self, request: Request, asked: int) -> JsonObject:
        body, _left_out = self._dialect.for_rerun(request.body)
        if asked > 1 or "n" in body:
            body = self._dialect.with_samples(body, asked) or body
        return body

    def _with_breakpoints(self, body: JsonObject) -> JsonObject:
        sent = body if self._breakpoints is None else self._breakpoints.marked(body)
        if sent is not body:
            attempts.current.get().note(NOTE)
        return sent

    async def _send(self, body: bytes) -> Exchange:
        client = await self._opened()
        try:
            with anyio.fail_after(self._deadline):
                return await client.post(body)
        except TimeoutError:
            raise Unanswered(f"no answer from {self._endpoint.shown} within {self._deadline:g} s") from None

    async def _opened(self) -> Client:
        async with self._opening:
            if self._client is None:
                # In a thread: the import takes seconds, in which a server has to go on answering.
                self._client = await anyio.to_thread.run_sync(self._open)
            return self._client

    def _open(self) -> Client:
        make = anthropic_client if family_of(self._api) is ANTHROPIC else openai_client
        return make(self._endpoint, self._dialect.path, self._deadline)

    def _answers(self, request: Request, exchange: Exchange, asked: int) -> list[Answer]:
        try:
            body = canon.loads(exchange.body)
        except ValueError:
            start = shorten(exchange.body[:400].decode("utf-8", "replace"), 200)
            return [Answer(None, start, f"{self._endpoint.shown} answered with something that is not JSON")]
        singles = _choices(body)
        if len(singles) < asked:
            self.max_n = 1
        answers = [self._read(single) for single in singles[:asked]]
        first = next((answer.reply for answer in answers if answer.reply is not None), None)
        if first is not None and (is_stored(exchange.headers) or self.repeats.seen(request, first)):
            attempts.current.get().note(REPEATED)
            return [Answer(None, body, REPEATED)]
        return answers

    def _read(self, body: Json) -> Answer:
        try:
            return Answer(self._dialect.replies(body)[0], body)
        except UnreadableReply as error:
            said = self._endpoint.without_key(str(error))
            return Answer(None, body, f"{self._endpoint.shown} sent no answer: {said}")


def _choices(body: Json) -> list[Json]:
    """The response as it would be with each of its choices alone; itself where it has none to tell apart."""
    choices = body.get("choices") if isinstance(body, dict) else None
    if not isinstance(body, dict) or not isinstance(choices, list) or len(choices) < 2:
        return [body]
    return [{**body, "choices": [choice]} for choice in choices]
