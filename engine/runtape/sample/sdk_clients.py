"""The SDKs' async clients, used for what they do well: connections, retries, and waiting as the provider wants it.

They send a body as it is and hand back what came, whatever the status. Each attempt is announced to the sampler
(`attempts`) before it leaves, the SDK's own retries included. Redirects are not followed: they could carry the body and
the key to an address that nobody allowed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from ..errors import ModelFailed, RuntapeError
from ..text import visible
from . import address, attempts
from .endpoint import HOW_TO_ALLOW, Endpoint
from .failures import Exchange, failure, is_final, out_of_quota
from .limits import retry_after
from .model import Unanswered

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import anthropic
    import httpx2
    import openai

RETRIES = 2
"""Of one request, by the SDK: 408, 409, 429, 5xx, timeouts, lost connections."""

PLAIN_HEADERS = ("accept", "accept-encoding", "anthropic-version", "connection", "content-length", "content-type")
"""Beside `host`, `user-agent` and the SDK's own `x-stainless-*`: all that a recorded address receives."""


@dataclass(frozen=True, slots=True)
class _Sdk:
    """What is used of an SDK's module."""

    client: openai.AsyncOpenAI | anthropic.AsyncAnthropic
    error: type[Exception]
    """Its own base class; raised in a hook, the SDK neither retries nor wraps it."""
    no_answer: type[Exception]
    bad_status: type[openai.APIStatusError | anthropic.APIStatusError]


class Client:
    """One SDK client, tied to one endpoint and one path of it."""

    def __init__(self, sdk: _Sdk, endpoint: Endpoint, path: str) -> None:
        import httpx2  # comes with the SDK

        self._sdk = sdk
        self._where = endpoint.shown
        self._path = path
        self._response = httpx2.Response
        self._bad_address = httpx2.InvalidURL

    async def post(self, body: bytes, path: str | None = None, *, once: bool = False) -> Exchange:
        """What the server answers to a JSON body, error statuses included.

        Args:
            body: Sent as it is.
            path: In place of the client's own.
            once: Without the SDK's retries, for what must not happen twice.

        Raises:
            Unanswered: no answer came, after retries.
            BudgetSpent: a retry did not fit the budget.
            ModelFailed: the account has no quota left, or another request failed for good.
        """
        return await self._answered(
            self._sdk.client.post(
                path or self._path, content=body, cast_to=self._response, options={"max_retries": 0} if once else {}
            )
        )

    async def get(self, path: str) -> Exchange:
        """What the server answers to a GET; raises as `post` does."""
        return await self._answered(self._sdk.client.get(path, cast_to=self._response))

    async def upload(self, path: str, fields: dict[str, str], name: str, content: bytes) -> Exchange:
        """What the server answers to a form with a file in it; raises as `post` does."""
        return await self._answered(
            self._sdk.client.post(
                path,
                body=fields,
                files={"file": (name, content)},
                cast_to=self._response,
                options={"headers": {"Content-Type": "multipart/form-data"}},
            )
        )

    async def _answered(self, call: Awaitable[httpx2.Response]) -> Exchange:
        sdk = self._sdk
        try:
            return _exchange(await call)
        except sdk.bad_status as error:
            return _exchange(error.response)
        except sdk.no_answer as error:
            raise _unanswered(self._where, error) from None
        except sdk.error as error:
            raise _reason(error) from None
        except self._bad_address as error:
            raise _unusable(self._where, error) from None

    async def aclose(self) -> None:
        """Close connections."""
        await self._sdk.client.close()


def openai_client(endpoint: Endpoint, path: str, deadline: float) -> Client:
    """A client on `openai.AsyncOpenAI`."""
    import httpx2
    import openai  # 0.7 s, and only who asks it should pay

    try:
        client = openai.AsyncOpenAI(
            api_key=endpoint.key or NO_KEY,
            base_url=address.base_of(endpoint.url),
            default_query=address.query_of(endpoint.url),
            max_retries=RETRIES,
            timeout=deadline,
            http_client=openai.DefaultAsyncHttpxClient(**_transport(endpoint, openai.OpenAIError, deadline)),
        )
    except httpx2.InvalidURL as error:
        raise _unusable(endpoint.shown, error) from None
    return Client(_Sdk(client, openai.OpenAIError, openai.APIConnectionError, openai.APIStatusError), endpoint, path)


def anthropic_client(endpoint: Endpoint, path: str, deadline: float) -> Client:
    """A client on `anthropic.AsyncAnthropic`."""
    import anthropic  # 2 s, and only who asks it should pay
    import httpx2

    try:
        client = anthropic.AsyncAnthropic(
            api_key=endpoint.key or NO_KEY,
            # The path brings `/v1`; a recorded address may end with it as well.
            base_url=address.base_of(endpoint.url).removesuffix("/v1"),
            default_query=address.query_of(endpoint.url),
            max_retries=RETRIES,
            timeout=deadline,
            http_client=anthropic.DefaultAsyncHttpxClient(**_transport(endpoint, anthropic.AnthropicError, deadline)),
        )
    except httpx2.InvalidURL as error:
        raise _unusable(endpoint.shown, error) from None
    return Client(
        _Sdk(client, anthropic.AnthropicError, anthropic.APIConnectionError, anthropic.APIStatusError), endpoint, path
    )


NO_KEY = "none-needed"
"""The SDKs insist on a key; a server that gets no real one gets this."""


class _Transport(TypedDict):
    event_hooks: dict[str, list[Callable[..., Awaitable[None]]]]
    follow_redirects: bool
    trust_env: bool
    timeout: float


def _transport(endpoint: Endpoint, stop: type[Exception], deadline: float) -> _Transport:
    """How the HTTP client behaves. `stop` is the SDK's error that it neither retries nor wraps."""

    async def before(request: httpx2.Request) -> None:
        if not endpoint.named:
            _strip(request)
        try:
            await attempts.current.get().start()
        except RuntapeError as error:
            raise stop(str(error)) from error

    async def after(response: httpx2.Response) -> None:
        if response.status_code < 300:
            return
        await response.aread()
        exchange = _exchange(response)
        attempts.current.get().rejected(exchange.status, retry_after(exchange.headers))
        if out_of_quota(exchange):
            # The SDK would retry a 429 that no retry can mend.
            error = failure(exchange, endpoint, None)
            raise stop(str(error)) from error
        if is_final(exchange):
            response.headers.pop("x-should-retry", None)  # it would retry a dead key when told so

    return {
        "event_hooks": {"request": [before], "response": [after]},
        "follow_redirects": False,
        "trust_env": not endpoint.local,  # a proxy from the environment does not know this machine
        "timeout": deadline,
    }


def _strip(request: httpx2.Request) -> None:
    """Leave nothing in the headers that the SDK took from the environment (organisation, custom headers)."""
    kept = {"host", "user-agent", *PLAIN_HEADERS}
    for name in list(request.headers):
        if name not in kept and not name.startswith("x-stainless-"):
            del request.headers[name]
    request.headers["authorization"] = f"Bearer {NO_KEY}"


def _exchange(response: httpx2.Response) -> Exchange:
    return Exchange(response.status_code, {k.lower(): v for k, v in response.headers.items()}, response.content)


def _unanswered(where: str, error: Exception) -> Unanswered:
    cause = error.__cause__ or error
    said = str(cause) or type(cause).__name__
    return Unanswered(f"no answer from {where}, after retries: {visible(said)}. Is the server running and reachable?")


def _unusable(where: str, error: Exception) -> ModelFailed:
    said = visible(str(error)).rstrip(".")
    return ModelFailed(f"{where} cannot be asked: {said}. To ask another address, {HOW_TO_ALLOW}")


def _reason(error: Exception) -> Exception:
    """Why a hook stopped the request, or the SDK's own refusal to send it."""
    if isinstance(error.__cause__, RuntapeError):
        return error.__cause__
    return Unanswered(f"the SDK could not send the request: {visible(str(error))}")
