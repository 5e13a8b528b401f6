"""Requests that are no model calls: no record holds their answers."""

from __future__ import annotations

from typing import Any

from .divergence import Divergence

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that ask for nothing but to read (RFC 9110, section 9.2.1)."""

SDK_HEADER = "x-stainless-lang"
"""Sent with every request by the SDKs of OpenAI and Anthropic."""


def belongs(request: Any, *, wrapped: bool, capture: bool, leaving: bool) -> bool:
    """Whether a request is one of the agent that is played to, which is not to be sent.

    Whatever a wrapped client sends is. Where a replay is for the whole process, so are all requests of the SDKs, and
    all that are about to leave it and do more than read: what an app answers inside the process, or a library loads, is
    not the agent's doing.
    """
    if wrapped:
        return True
    return capture and (SDK_HEADER in request.headers or (leaving and request.method not in SAFE))


def unrecorded(request: Any) -> Divergence:
    """The divergence that such a request is."""
    return Divergence(
        told(request),
        "it is no model call, so that no record holds its answer, and a replay sends nothing. Decorate the function "
        "that sends it as a tool, so that its recorded result is given.",
    )


def foreign(request: object) -> Divergence:
    """The divergence that a request of another library is, sent by a client that was wrapped."""
    kind = type(request)
    return Divergence("model call", f"it is a {kind.__module__}.{kind.__qualname__}, to which no response can be made.")


def told(request: Any) -> str:
    """Method and address, without what may hold a key."""
    url = request.url
    return f"{request.method} {url.scheme}://{url.netloc.decode('ascii', 'replace')}{url.path}"
