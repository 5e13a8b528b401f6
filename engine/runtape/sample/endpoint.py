"""Where a rerun is sent, and which key goes with it.

A trace is untrusted: whoever wrote it chose the address in it. So a key travels only to the provider's own host, or to
an address that the user named by argument or environment; a recorded address on this machine is asked without a key;
any other recorded address is refused, and so is one that could lead a request elsewhere than to the API's own path.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from ..errors import BadModel, EndpointNotAllowed
from ..text import shorten, visible
from ..wire.values import Request
from . import address

PROVIDER_KEYS: Mapping[str, str] = {
    "api.openai.com": "OPENAI_API_KEY",
    "api.anthropic.com": "ANTHROPIC_API_KEY",
}
"""The providers' own hosts, and the variable that holds the key meant for each."""

RUNTAPE_BASE_URL = "RUNTAPE_BASE_URL"
"""The variable that names a server for reruns of any API."""

PLAIN_PATH = re.compile(r"(?:/(?!\.{1,2}(?:/|$))[A-Za-z0-9._~-]+)*/?")

HOW_TO_ALLOW = "pass base_url= (--base-url), or set RUNTAPE_BASE_URL"


@dataclass(frozen=True, slots=True)
class Family:
    """What belongs to one provider's SDK."""

    provider: str
    url: str
    """Where its calls go unless something else is said."""
    base_url_variable: str
    key_variable: str


OPENAI = Family("openai", "https://api.openai.com/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY")
ANTHROPIC = Family("anthropic", "https://api.anthropic.com", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server that may be asked."""

    url: str
    """Base URL without a slash at its end."""
    key: str | None = field(repr=False)
    """None: the server gets no key."""
    key_variable: str
    """The variable that the key came from or would come from."""
    named: bool
    """True when the user named the server or it is the provider's own; False for a recorded address."""

    @property
    def shown(self) -> str:
        """The URL without what may be secret in it, for messages."""
        return visible(shorten(address.shown(self.url), address.LONGEST))

    def without_key(self, text: str) -> str:
        """What a server said, without the key: some repeat the one they refuse."""
        return text.replace(self.key, "[key]") if self.key else text

    @property
    def local(self) -> bool:
        """True for a server on this machine."""
        return _is_loopback(urlsplit(self.url).hostname)


def family_of(api: str) -> Family:
    """Whose SDK speaks an API."""
    return ANTHROPIC if api == "messages" else OPENAI


def endpoint_for(request: Request, base_url: str | None = None, environ: Mapping[str, str] | None = None) -> Endpoint:
    """The server that answers reruns of a recorded request.

    `base_url` and RUNTAPE_BASE_URL win over the recorded address. The SDK's own variable (OPENAI_BASE_URL,
    ANTHROPIC_BASE_URL) stands for the provider's address and lets its server have the key; it redirects nothing else.

    Raises:
        BadModel: there is no address, it is not a URL, or the provider's own server is asked without a key.
        EndpointNotAllowed: the recorded address is not the provider's, not on this machine and not named by the user;
            or it has more to it than a host and a plain path.
    """
    environ = os.environ if environ is None else environ
    family = family_of(request.api)
    ambient = environ.get(family.base_url_variable) or None
    chosen = base_url or environ.get(RUNTAPE_BASE_URL) or None
    recorded = request.endpoint
    if chosen is None:
        if recorded is None and request.provider != family.provider and ambient is None:
            raise BadModel(
                f"this call of provider {visible(request.provider)!r} was recorded without an address: "
                f"{HOW_TO_ALLOW}, or pass a model function (model=, --model-fn)"
            )
        if recorded is None or _is_provider(_split(recorded, "recorded")) or (ambient and _same(recorded, ambient)):
            chosen = ambient
    if chosen is not None:
        return _with_key(_split(chosen, "given"), family, environ)
    parts = _split(recorded or family.url, "recorded")
    told = visible(shorten(_text(parts), address.LONGEST))
    if (_is_provider(parts) or _is_loopback(parts.hostname)) and not _is_base(parts):
        raise EndpointNotAllowed(
            f"this call was recorded at {told}, and more than a host and a plain path could reach "
            f"another service than a model. If you trust that address, {HOW_TO_ALLOW} with it"
        )
    if _is_provider(parts):
        return _with_key(parts, family, environ)
    if _is_loopback(parts.hostname):
        return Endpoint(_text(parts), None, family.key_variable, named=False)
    raise EndpointNotAllowed(
        f"this call was recorded at {told}, and a trace cannot choose where requests and keys go. "
        f"If you trust that server, {HOW_TO_ALLOW} with this address"
    )


def host_of(url: str) -> tuple[str, int]:
    """Host and port that a base URL leads to.

    Raises:
        BadModel: it is no http or https address.
    """
    parts = _split(url, "given")
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


def _with_key(parts: SplitResult, family: Family, environ: Mapping[str, str]) -> Endpoint:
    host = parts.hostname or ""
    variable = PROVIDER_KEYS.get(host, family.key_variable)
    key = environ.get(variable, "").strip() or None
    if key is None and host in PROVIDER_KEYS:
        raise BadModel(
            f"{host} needs a key and {variable} is not set: set it, or name another server ({HOW_TO_ALLOW}), "
            "or pass a model function (model=, --model-fn)"
        )
    if key is not None and not (key.isascii() and key.isprintable()):
        raise BadModel(f"the key in {variable} holds a character that no key has: set it again")
    return Endpoint(_text(parts), key, variable, named=True)


def _split(url: str, origin: str) -> SplitResult:
    try:
        parts = urlsplit(url.strip())
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable = False
        parts = SplitResult("", "", "", "", "")
    if not usable:
        told = address.spelled(url)
        raise BadModel(f"the {origin} base URL {told} is not an http or https address: {HOW_TO_ALLOW}")
    return parts


def _is_provider(parts: SplitResult) -> bool:
    # Exactly the address that the SDK itself would use: no plain http, no other port, nobody's user name in front.
    return (
        parts.scheme == "https"
        and parts.hostname in PROVIDER_KEYS
        and parts.port in (None, 443)
        and parts.username is None
        and parts.password is None
    )


def _is_base(parts: SplitResult) -> bool:
    """True for a host with a plain path: the path of the API that is put behind it is where the request goes."""
    return (
        not (parts.query or parts.fragment or parts.username or parts.password)
        and PLAIN_PATH.fullmatch(parts.path) is not None
    )


def _is_loopback(host: str | None) -> bool:
    if host is None:
        return False
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _same(one: str, other: str) -> bool:
    return _text(_split(one, "recorded")) == _text(_split(other, "given"))


def _text(parts: SplitResult) -> str:
    return parts.geturl().rstrip("/")
