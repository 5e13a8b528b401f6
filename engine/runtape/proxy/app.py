"""The recording proxy: passes requests on to one upstream, byte for byte, and records the model calls among them."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, urlsplit

import anyio
import httpx2
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from ..canon import dumps, loads
from ..errors import BadInput
from ..record.exchange import RETRY_COUNT
from ..record.recorder import Recorder, record
from ..record.run import Unfinished, held
from ..wire.dialect import Dialect
from ..wire.dialects import dialect_of_path
from ..wire.sse import decode
from ..wire.values import Json, JsonObject
from .conversations import Conversation, Conversations

RUN_HEADER: Final = "x-runtape-run"
"""Names the run that a request belongs to; not passed on."""

CONNECT_SECONDS: Final = 30.0
"""Longest wait for the upstream to accept a connection. An answer may take as long as it takes."""

BAD_GATEWAY: Final = 502

LOCAL: Final = ("127.0.0.1", "localhost", "::1")
"""Names of this machine by which the proxy may be called."""

_HOP_BY_HOP: Final = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
"""Headers that concern one connection only (RFC 9110, section 7.6.1)."""

_NOT_SENT: Final = _HOP_BY_HOP | {b"host", b"content-length", RUN_HEADER.encode()}
"""Set anew for the upstream, or ours."""


@dataclass(eq=False)
class Recording:
    """The trace of one conversation, and the HTTP client that is recorded into it."""

    recorder: Recorder
    client: httpx2.AsyncClient
    waiting: Unfinished | None = None
    """A call whose last attempt failed in a way that the program's SDK may try again."""


class Proxy:
    """The ASGI application of one proxy."""

    def __init__(self, upstream: str, folder: str | os.PathLike[str] | None, told: Callable[[str], None]) -> None:
        """`told` is called with one line for people for every trace that is begun.

        Raises:
            BadInput: `upstream` is no address.
        """
        self._upstream = upstream_of(upstream)
        self._folder = folder
        self._told = told
        self._transport = httpx2.AsyncHTTPTransport(limits=httpx2.Limits(max_connections=None))
        self._plain = self._client()
        self._conversations: Conversations[Recording] = Conversations()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request; when the program hangs up, the upstream is hung up on as well."""
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        refusal = _refusal(request)
        if refusal is not None:
            await _refuse(send, *refusal)
            return
        body = await request.body()
        async with anyio.create_task_group() as group:
            group.start_soon(_cancel_at_disconnect, receive, group.cancel_scope)
            await self._pass_on(request, body, send)
            group.cancel_scope.cancel()

    async def close(self) -> None:
        """End every trace; replies still on their way are recorded as far as they came."""
        for conversation in self._conversations.all():
            conversation.run.recorder.close()
        await self._transport.aclose()

    def _client(self) -> httpx2.AsyncClient:
        timeout = httpx2.Timeout(None, connect=CONNECT_SECONDS)
        return httpx2.AsyncClient(transport=self._transport, timeout=timeout, follow_redirects=False)

    async def _pass_on(self, request: Request, body: bytes, send: Send) -> None:
        url = self._url(request)
        dialect = dialect_of_path(url.path) if request.method == "POST" else None
        conversation = None if dialect is None else self._conversation(request, dialect, body)
        client = self._plain
        if conversation is not None:
            client = conversation.run.client
            held.set(conversation.run.waiting)
        headers = [(name, value) for name, value in request.headers.raw if name.lower() not in _NOT_SENT]
        # A request made by the client object would get headers of the library's own.
        outgoing = httpx2.Request(request.method, url, headers=headers, content=body)
        try:
            response = await client.send(outgoing, stream=True)
        except httpx2.TransportError as error:
            await _refuse(send, BAD_GATEWAY, f"no answer from {url.host}: {type(error).__name__}: {error}")
        else:
            await _give_back(response, send, None if conversation is None else conversation.replies)
        finally:
            if conversation is not None:
                conversation.run.waiting = held.get()

    def _conversation(self, request: Request, dialect: Dialect, content: bytes) -> Conversation[Recording] | None:
        body: Json = None
        with suppress(ValueError):
            body = loads(content)
        if not isinstance(body, dict):
            return None
        name = request.headers.get(RUN_HEADER)
        retried = request.headers.get(RETRY_COUNT) not in (None, "0")
        found = self._conversations.find(dialect, body, name, retried=retried)
        if found is None:
            found = self._begin(name, body)
        self._conversations.went_on(found, dialect, body)
        return found

    def _begin(self, name: str | None, body: JsonObject) -> Conversation[Recording]:
        model = body.get("model")
        recorder = record(name=name or "proxy", dir=self._folder, tags={"model": model})
        recording = Recording(recorder, recorder.wrap(self._client()))
        begun, gone = self._conversations.add(recording, name)
        for old in gone:
            old.run.recorder.close()
        self._told(f"recording {recorder.path}")
        return begun

    def _url(self, request: Request) -> httpx2.URL:
        raw: bytes = request.scope.get("raw_path") or request.url.path.encode()
        path = raw.decode("ascii", "ignore").partition("?")[0]
        if not path.startswith("/"):  # absolute form (RFC 9112, section 3.2.2): another host stands there at most
            path = urlsplit(path).path or "/"
        base = self._upstream.raw_path.decode("ascii").rstrip("/")
        # A client may be given the proxy's address with or without the upstream's own path.
        if base and not (path == base or path.startswith(f"{base}/")):
            path = f"{base}/{path.lstrip('/')}"
        query = request.scope.get("query_string") or b""
        return self._upstream.copy_with(raw_path=path.encode() + (b"?" + query if query else b""))


def upstream_of(address: str) -> httpx2.URL:
    """The one address that requests are passed on to.

    Raises:
        BadInput: it is no HTTP address.
    """
    try:
        split = urlsplit(address)
        url = httpx2.URL(address)
    except (ValueError, httpx2.InvalidURL) as error:
        raise BadInput(f"--upstream {address!r} is no address: {error}") from error
    if split.scheme not in ("http", "https") or not url.host or url.query or split.username:
        raise BadInput(f"--upstream {address!r} must be an http or https address such as https://host/v1, and no more.")
    return url


async def _cancel_at_disconnect(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


async def _give_back(response: httpx2.Response, send: Send, replies: set[str] | None) -> None:
    """Pass a response on as it comes; the ids in it are added to `replies`."""
    seen = bytearray()
    try:
        headers = [(name, value) for name, value in response.headers.raw if name.lower() not in _HOP_BY_HOP]
        await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
        async for chunk in response.aiter_raw():
            if replies is not None:
                seen += chunk
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
    finally:
        with anyio.CancelScope(shield=True):
            await response.aclose()
    if replies is not None:
        replies |= _ids(response, bytes(seen))


def _refusal(request: Request) -> tuple[int, str] | None:
    """Why a request is not passed on, as status and reason; None when it is.

    A page in the developer's browser can send requests here, or have a name of its own lead here.
    """
    if request.method == "CONNECT":
        return 405, "this is a base URL for a model's client, not an HTTP proxy"
    if not _is_local(f"//{request.headers.get('host', '')}"):
        return 403, "it answers to 127.0.0.1 and localhost alone"
    origin = request.headers.get("origin")
    if (origin is not None and not _is_local(origin)) or request.headers.get("sec-fetch-site") == "cross-site":
        return 403, "pages of other sites may not use it"
    raw: bytes = request.scope.get("raw_path") or b""
    if any(unquote(part) in (".", "..") for part in raw.decode("ascii", "ignore").split("/")):
        return 400, "the path leads out of the upstream's"
    return None


def _is_local(address: str) -> bool:
    try:
        return urlsplit(address).hostname in LOCAL
    except ValueError:
        return False


async def _refuse(send: Send, status: int, message: str) -> None:
    body = dumps({"error": {"message": f"runtape proxy: {message}", "type": "runtape_proxy"}})
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _ids(response: httpx2.Response, raw: bytes) -> set[str]:
    """The ids by which a later request may refer to this reply."""
    encoding = {"content-encoding": response.headers.get("content-encoding", "")}
    with suppress(Exception):  # a body of any kind; without an id nothing can refer to it
        body = httpx2.Response(response.status_code, headers=encoding, content=raw).content
        values = [loads(body)] if body.lstrip()[:1] == b"{" else decode([body])
        answers = [value.get("response", value) for value in values if isinstance(value, dict)]
        return {id_ for answer in answers if isinstance(answer, dict) and isinstance(id_ := answer.get("id"), str)}
    return set()
