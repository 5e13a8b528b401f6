"""Every way in which a program makes, copies, keeps or goes around a client and calls a model with it.

A way has two parts: what the program has before a recording or replay begins, and what it does while one goes on. The
second gets `wrap`, which it calls on the client that a person would wrap; it returns what the program saw.
"""

from __future__ import annotations

import asyncio
import contextvars
import copy
import json
import threading
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import anthropic
import openai
from pydantic import BaseModel
from sdk_http import library as httpx2

Wrap = Callable[[Any], Any]
QUESTION: list[Any] = [{"role": "user", "content": "Which city?"}]
BODY = {"model": "m", "messages": QUESTION}


class Place(BaseModel):
    city: str


@dataclass(frozen=True)
class Way:
    """What it has before, what it does, and how many calls that is."""

    before: Callable[[str], Any]
    call: Callable[[Any, Wrap], Any]
    calls: int = 1
    names_a_client: bool = True
    """False where there is no client that could be wrapped."""


def sdk(url: str, **more: Any) -> Any:
    return openai.OpenAI(base_url=url, api_key="k", max_retries=0, **more)


def async_sdk(url: str, **more: Any) -> Any:
    return openai.AsyncOpenAI(base_url=url, api_key="k", max_retries=0, **more)


def claude(url: str) -> Any:
    return anthropic.Anthropic(base_url=url.removesuffix("/v1"), api_key="k", max_retries=0)


def ask(client: Any) -> str:
    return str(client.chat.completions.create(model="m", messages=QUESTION).choices[0].message.content)


async def aask(client: Any) -> str:
    reply = await client.chat.completions.create(model="m", messages=QUESTION)
    return str(reply.choices[0].message.content)


def on(client: Any, wrap: Wrap, derive: Callable[[Any], Any]) -> str:
    """Wrap the client, ask through what is derived from it."""
    return ask(derive(wrap(client)))


class CallsSuper(httpx2.Client):  # type: ignore[misc]
    def send(self, request: Any, **more: Any) -> Any:
        inner: Any = super()
        return inner.send(request, **more)


class GoesAround(httpx2.Client):  # type: ignore[misc]
    """Leaves `send` out."""

    def send(self, request: Any, **_: Any) -> Any:
        response = self._transport.handle_request(request)
        response.request = request
        response.read()
        return response


class Retrying(httpx2.BaseTransport):  # type: ignore[misc]
    """A transport of the program's own around the library's."""

    def __init__(self) -> None:
        self._inner = httpx2.HTTPTransport()

    def handle_request(self, request: Any) -> Any:
        return self._inner.handle_request(request)

    def close(self) -> None:
        self._inner.close()


class AsyncRetrying(httpx2.AsyncBaseTransport):  # type: ignore[misc]
    def __init__(self) -> None:
        self._inner = httpx2.AsyncHTTPTransport()

    async def handle_async_request(self, request: Any) -> Any:
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        await self._inner.aclose()


def sharing(client: Any) -> Any:
    """A second SDK client over the HTTP client of the first."""
    return openai.OpenAI(base_url=client.base_url, api_key="k", http_client=client._client, max_retries=0)


def over_a_raw_copy(client: Any) -> Any:
    return openai.OpenAI(base_url=client.base_url, api_key="k", http_client=copy.copy(client._client), max_retries=0)


def with_a_send_of_its_own(url: str) -> Any:
    client = sdk(url)
    inner = client._client.send

    def own(*args: Any, **kwargs: Any) -> Any:
        return inner(*args, **kwargs)

    client._client.send = own
    return client


def kept_send(url: str) -> Any:
    http = httpx2.Client(base_url=url)
    return http, http.send, http.build_request("POST", "/chat/completions", json=BODY)


def send_kept(before: Any, wrap: Wrap) -> Any:
    http, send, request = before
    wrap(http)
    return send(request).json()


def used_before(url: str) -> Any:
    client = sdk(url)
    client.models.list()
    return client


def in_thread(client: Any, wrap: Wrap) -> Any:
    wrap(client)
    said: list[str] = []
    thread = threading.Thread(target=lambda: said.append(ask(client)))
    thread.start()
    thread.join()
    return said


def in_pool(client: Any, wrap: Wrap) -> Any:
    wrap(client)
    with ThreadPoolExecutor(2) as pool:
        context = contextvars.copy_context()
        return [pool.submit(ask, client).result(), pool.submit(context.run, ask, client).result()]


def streamed(client: Any, wrap: Wrap) -> Any:
    stream = wrap(client).chat.completions.create(model="m", messages=QUESTION, stream=True)
    return [chunk.model_dump() for chunk in stream]


def stream_helper(client: Any, wrap: Wrap) -> Any:
    with wrap(client).chat.completions.stream(model="m", messages=QUESTION) as stream:
        return stream.get_final_completion().choices[0].message.content


def raw(client: Any, wrap: Wrap) -> Any:
    return wrap(client).chat.completions.with_raw_response.create(model="m", messages=QUESTION).parse().model_dump()


def streaming_response(client: Any, wrap: Wrap) -> Any:
    with wrap(client).chat.completions.with_streaming_response.create(model="m", messages=QUESTION) as response:
        return json.loads("".join(response.iter_lines()))


def parsed(client: Any, wrap: Wrap) -> Any:
    reply = wrap(client).chat.completions.parse(model="m", messages=QUESTION, response_format=Place)
    return reply.id, reply.choices[0].message.parsed


def chained(client: Any, wrap: Wrap) -> Any:
    first = wrap(client).responses.create(model="m", input="Which city?")
    second = client.responses.create(model="m", input="Sure?", previous_response_id=first.id)
    third = client.responses.parse(model="m", input="Sure?", text_format=Place, previous_response_id=second.id)
    return first.model_dump(), second.model_dump(), third.output_parsed


def twice_alike(client: Any, wrap: Wrap) -> Any:
    return ask(wrap(client)), ask(client)


def with_claude(client: Any, wrap: Wrap) -> Any:
    given: Any = {"model": "m", "max_tokens": 9, "messages": QUESTION}
    said = wrap(client).messages.create(**given).model_dump()
    options = client.with_options(timeout=3).messages.with_raw_response.create(**given).parse().model_dump()
    with client.messages.stream(**given) as stream:
        return said, options, stream.get_final_message().model_dump()


def awaited(derive: Callable[[Any], Any] = lambda client: client, **more: Callable[[], Any]) -> Way:
    """Through an async client made in the loop, with parts that are made there too."""

    async def main(url: str, wrap: Wrap) -> Any:
        made = {name: make() for name, make in more.items()}
        async with async_sdk(url, **made) as client:
            return await aask(derive(wrap(client)))

    return Way(lambda url: url, lambda url, wrap: asyncio.run(main(url, wrap)))


async def many(url: str, wrap: Wrap) -> Any:
    async with async_sdk(url) as client:
        wrap(client)
        stream = await client.chat.completions.create(model="m", messages=QUESTION, stream=True)
        first = [chunk.model_dump() async for chunk in stream]
        said = await asyncio.gather(*(asyncio.create_task(aask(client)) for _ in range(3)))
        async with client.chat.completions.with_streaming_response.create(model="m", messages=QUESTION) as response:
            lines = json.loads("".join([line async for line in response.iter_lines()]))
        in_thread = await asyncio.to_thread(lambda: asyncio.run(elsewhere(url, wrap)))
        return first, said, lines, in_thread


async def elsewhere(url: str, wrap: Wrap) -> Any:
    async with async_sdk(url) as client:
        return await aask(wrap(client))


async def send_kept_async(url: str, wrap: Wrap) -> Any:
    async with httpx2.AsyncClient(base_url=url) as http:
        send = http.send
        wrap(http)
        return (await send(http.build_request("POST", "/chat/completions", json=BODY))).json()


@contextmanager
def the_modules_own_client(url: str) -> Generator[None]:
    before = openai.base_url, openai.api_key, openai.max_retries
    openai.base_url, openai.api_key, openai.max_retries = f"{url}/", "k", 0
    try:
        yield
    finally:
        openai.base_url, openai.api_key, openai.max_retries = before


def module_level(url: str, _: Wrap) -> Any:
    with the_modules_own_client(url):
        return ask(openai)


def transport_alone(url: str, _: Wrap) -> Any:
    with httpx2.HTTPTransport() as transport:
        response = transport.handle_request(httpx2.Request("POST", f"{url}/chat/completions", json=BODY))
        response.read()
        return response.json()


def itself(value: Any) -> Any:
    return value


WAYS: dict[str, Way] = {
    "a client": Way(sdk, lambda client, wrap: ask(wrap(client))),
    "a client made inside": Way(itself, lambda url, wrap: ask(wrap(sdk(url)))),
    "a client that was used before": Way(used_before, lambda client, wrap: ask(wrap(client))),
    "with_options": Way(sdk, lambda client, wrap: on(client, wrap, lambda one: one.with_options(timeout=9))),
    "copy": Way(sdk, lambda client, wrap: on(client, wrap, lambda one: one.copy(default_headers={"x-a": "b"}))),
    "copies made before": Way(
        lambda url: (one := sdk(url), one.copy()), lambda two, wrap: (wrap(two[0]), ask(two[1]))[1]
    ),
    "copy.copy of the SDK's client": Way(sdk, lambda client, wrap: on(client, wrap, copy.copy)),
    "copy.copy of the HTTP client": Way(sdk, lambda client, wrap: on(client, wrap, over_a_raw_copy)),
    "the HTTP client in another SDK client": Way(sdk, lambda client, wrap: on(client, wrap, sharing)),
    "resources kept before": Way(
        lambda url: (one := sdk(url), one.chat.completions.create),
        lambda kept, wrap: (wrap(kept[0]), kept[1](model="m", messages=QUESTION).choices[0].message.content)[1],
    ),
    "a resource is wrapped": Way(sdk, lambda client, wrap: (wrap(client.chat.completions), ask(client))[1]),
    "an HTTP client of the program's own": Way(
        lambda url: sdk(url, http_client=httpx2.Client(timeout=9)), lambda client, wrap: ask(wrap(client))
    ),
    "the HTTP client is wrapped": Way(sdk, lambda client, wrap: (wrap(client._client), ask(client))[1]),
    "a subclass with a send": Way(
        lambda url: sdk(url, http_client=CallsSuper()), lambda client, wrap: ask(wrap(client))
    ),
    "a subclass whose send goes around": Way(
        lambda url: sdk(url, http_client=GoesAround()), lambda client, wrap: ask(wrap(client))
    ),
    "a send set on the client": Way(with_a_send_of_its_own, lambda client, wrap: ask(wrap(client))),
    "a transport of the program's own": Way(
        lambda url: sdk(url, http_client=httpx2.Client(transport=Retrying())), lambda client, wrap: ask(wrap(client))
    ),
    "a transport mounted": Way(
        lambda url: sdk(url, http_client=httpx2.Client(mounts={"http://": httpx2.HTTPTransport()})),
        lambda client, wrap: ask(wrap(client)),
    ),
    "a bound send kept before": Way(kept_send, send_kept),
    "a thread": Way(sdk, in_thread),
    "a pool of threads": Way(sdk, in_pool, calls=2),
    "a stream": Way(sdk, streamed),
    "the stream helper": Way(sdk, stream_helper),
    "with_raw_response": Way(sdk, raw),
    "with_streaming_response": Way(sdk, streaming_response),
    "parse": Way(sdk, parsed),
    "a chain of responses": Way(sdk, chained, calls=3),
    "two calls alike": Way(sdk, twice_alike, calls=2),
    "Anthropic": Way(claude, with_claude, calls=3),
    "async": awaited(),
    "async with_options": awaited(lambda client: client.with_options(timeout=9)),
    "async copy.copy": awaited(copy.copy),
    "an async HTTP client of the program's own": awaited(http_client=httpx2.AsyncClient),
    "an async transport of the program's own": awaited(
        http_client=lambda: httpx2.AsyncClient(transport=AsyncRetrying())
    ),
    "async in tasks and streams": Way(itself, lambda url, wrap: asyncio.run(many(url, wrap)), calls=6),
    "an async bound send kept before": Way(itself, lambda url, wrap: asyncio.run(send_kept_async(url, wrap))),
    "the module's own client": Way(itself, module_level, names_a_client=False),
    "a post": Way(
        itself, lambda url, _: httpx2.post(f"{url}/chat/completions", json=BODY).json(), names_a_client=False
    ),
    "a transport alone": Way(itself, transport_alone, names_a_client=False),
}
