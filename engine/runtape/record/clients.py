"""Finds the HTTP clients behind an SDK object."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType
from typing import Any

LIBRARIES = ("httpx", "httpx2")
"""Libraries of one shape: `openai` 3 and `anthropic` 2 send through the second, older ones through the first."""

HOLDERS = ("_client", "root_client", "root_async_client", "_async_client")
"""Where SDK clients, their resources and LangChain's chat models keep the client that they send through."""

DEPTH = 3
"""Chat model, SDK client, HTTP client."""


def library(value: object) -> ModuleType | None:
    """The HTTP library whose class `value` is an instance of; None for anything else.

    Looks at class names only, so that no library is imported to find out.
    """
    for base in type(value).__mro__:
        root = base.__module__.partition(".")[0]
        if root in LIBRARIES:
            return sys.modules.get(root)
    return None


def http_clients(client: object) -> list[object]:
    """Every HTTP client that `client` sends through, each once; empty when it holds none."""
    found: list[object] = []
    _collect(client, DEPTH, found)
    return found


def _collect(value: object, depth: int, found: list[object]) -> None:
    if callable(getattr(type(value), "send", None)) and not any(value is known for known in found):
        found.append(value)
        return
    if depth == 0 or value is None:
        return
    for name in HOLDERS:
        try:
            held = getattr(value, name, None)
        except Exception:  # noqa: BLE001, S112 -- a property of a foreign object may raise anything; it holds no client then
            continue
        _collect(held, depth - 1, found)


def own_send(owner: object) -> Any:
    """The `send` that was set on a client or class itself; None where an inherited one is used."""
    return vars(owner).get("send")


def client_classes() -> list[type]:
    """The client classes of the HTTP libraries that are installed, sync and async."""
    found: list[type] = []
    for name in LIBRARIES:
        # Loaded now: the program may import the SDK, and with it the library, later.
        if importlib.util.find_spec(name) is None:
            continue
        library = importlib.import_module(name)
        found.extend(kind for kind in (library.Client, library.AsyncClient) if kind not in found)
    return found
