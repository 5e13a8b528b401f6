"""Finds the HTTP clients behind an SDK object, and what they send through."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType
from typing import Any, cast

LIBRARIES = ("httpx", "httpx2")
"""Libraries of one shape: `openai` 3 and `anthropic` 2 send through the second, older ones through the first."""

HOLDERS = ("_client", "root_client", "root_async_client", "_async_client")
"""Where SDK clients, their resources and LangChain's chat models keep the client that they send through."""

DEPTH = 3
"""Chat model, SDK client, HTTP client."""


def library(value: object) -> Any:
    """The HTTP library whose class `value` is an instance of; None for anything else.

    Looks at class names only, so that no library is imported to find out.
    """
    return _library_of(type(value))


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


def transport_of(client: object) -> object | None:
    """The object behind an HTTP client that talks to the network; a copy of the client has the same one."""
    transport: object | None = getattr(client, "__dict__", {}).get("_transport")
    return transport


def senders(client: Any) -> list[tuple[Any, str]]:
    """Owners and names of the methods that a client's requests pass: its own `send`, its class's, the transports'."""
    kind: Any = cast("object", type(client))
    found: list[tuple[Any, str]] = [(base, "send") for base in kind.__mro__ if "send" in vars(base)][:1]
    if "send" in getattr(client, "__dict__", ()):
        found.append((client, "send"))
    module = library(client)
    return found if module is None else [*found, *_transports(module)]


def all_senders() -> list[tuple[Any, str]]:
    """The same for every client of the HTTP libraries that are installed."""
    found: list[tuple[Any, str]] = []
    for name in LIBRARIES:
        # Loaded now: the program may import the SDK, and with it the library, later.
        if importlib.util.find_spec(name) is None:
            continue
        module = importlib.import_module(name)
        found += [(module.Client, "send"), (module.AsyncClient, "send"), *_transports(module)]
    return found


def is_async(owner: Any) -> bool:
    """Whether what this client, transport or class of them sends is awaited."""
    kind = owner if isinstance(owner, type) else type(owner)
    module = _library_of(kind)
    return module is not None and issubclass(kind, (module.AsyncClient, module.AsyncHTTPTransport))


def _library_of(kind: type) -> Any:
    for base in kind.__mro__:
        root = base.__module__.partition(".")[0]
        if root in LIBRARIES:
            return sys.modules.get(root)
    return None


def _transports(module: ModuleType | Any) -> list[tuple[Any, str]]:
    return [(module.HTTPTransport, "handle_request"), (module.AsyncHTTPTransport, "handle_async_request")]
