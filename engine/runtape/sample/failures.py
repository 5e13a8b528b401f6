"""What an error answer of a model's server means: for this request, or for all of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from .. import canon
from ..errors import ModelFailed
from ..text import shorten, visible
from ..wire.values import Json, JsonObject
from .endpoint import HOW_TO_ALLOW, Endpoint
from .model import RequestRefused, Unanswered

QUOTA = re.compile(
    r"insufficient[_ ](?:quota|credit|balance|fund)|billing_hard_limit|billing_not_active|credit balance is too low"
    r"|(?:spend|spending|usage) limit|out of credit",
    re.IGNORECASE,
)
"""No money left: sent with status 429 (OpenAI) or 400 (Anthropic), and no retry mends it."""

BAD_KEY = re.compile(
    r"api[ _-]?key (?:is )?(?:not valid|invalid|expired|missing|not found)"
    r"|(?:invalid|incorrect|expired|missing)[ _](?:x-)?api[ _-]?key"
    r"|api_key_invalid|organization has been disabled",
    re.IGNORECASE,
)
"""A key that is refused with status 400, as Google's and some other compatible servers do."""

NAMES_N = re.compile(
    r"(?<![\w\\])n(?!\w)"  # not the escape of a newline
    r"|best_of|candidate_?count|num_(?:choices|return_sequences|generations)"
    r"|(?:multiple|several|more than one|only one|one|single|number of)"
    r"(?: \w+)? (?:choice|completion|candidate|generation|response|answer|sample|output|sequence)s?\b",
    re.IGNORECASE,
)
"""The parameter `n` in an error text, by its name or by what it does."""

NAMELESS = re.compile(
    r"(?:extra|additional|unknown|unexpected|unrecogni[sz]ed|unsupported|invalid) "
    r"(?:inputs?|fields?|param(?:eter)?s?|arg(?:ument)?s?|keys?|propert(?:y|ies))|not implemented",
    re.IGNORECASE,
)
"""A parameter that an error text refuses without saying which."""

LONGEST = 2000
"""Bytes of an error that is not JSON to be read."""

ABOUT_THE_REQUEST = (400, 413, 422)
WORTH_ANOTHER_TRY = (408, 409, 425, 429)
"""Beside every 5xx. The SDK has retried these already."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """What came back for one request."""

    status: int
    headers: Mapping[str, str]
    """Lower-case names."""
    body: bytes


def out_of_quota(exchange: Exchange) -> bool:
    """True when the account has no money left."""
    return exchange.status == 402 or (exchange.status in (400, 403, 429) and QUOTA.search(_said(exchange)) is not None)


def is_final(exchange: Exchange) -> bool:
    """True when asking again is of no use, whatever the server's headers say."""
    return exchange.status < 500 and (exchange.status not in WORTH_ANOTHER_TRY or out_of_quota(exchange))


def rejects_n(exchange: Exchange, body: JsonObject) -> bool:
    """True when the server refuses the parameter `n` of a body, as far as its words tell: without it, it may answer."""
    if exchange.status not in (400, 422, 501):
        return False
    parameter = _field(exchange, "param")
    if parameter == "n" or parameter in body:
        return parameter == "n"
    said = _said(exchange)
    if NAMES_N.search(said):
        return True
    return NAMELESS.search(said) is not None and not any(re.search(rf"\b{re.escape(key)}\b", said) for key in body)


def refuses(exchange: Exchange, parameter: str) -> bool:
    """True when the server refuses a request for a parameter of a telling name."""
    return exchange.status in (400, 422) and parameter in _said(exchange)


def failure(exchange: Exchange, endpoint: Endpoint, model: Json) -> RequestRefused | ModelFailed:
    """The error that an error answer stands for."""
    status = exchange.status
    text = visible(shorten(endpoint.without_key(_said(exchange)), 300))
    said = f"{endpoint.shown} answered {status}" + (f": {text}" if text else "")
    if out_of_quota(exchange):
        return ModelFailed(f"{said}. The account behind {endpoint.key_variable} has no quota left: check its billing")
    if status in (401, 403) or (status == 400 and BAD_KEY.search(_said(exchange))):
        return ModelFailed(f"{said}. {_about_the_key(endpoint)}")
    if status in (404, 405):
        return ModelFailed(f"{said}. Check the model name, {visible(str(model))!r}, and the base URL ({HOW_TO_ALLOW})")
    if 300 <= status < 400:
        return ModelFailed(f"{said}. Redirects are not followed: {HOW_TO_ALLOW} with the final address")
    if status in ABOUT_THE_REQUEST:
        return RequestRefused(said)
    if status in WORTH_ANOTHER_TRY or status >= 500:
        return Unanswered(f"{said}, after retries. Wait, then ask again: what was paid for is kept")
    return ModelFailed(said)


def _about_the_key(endpoint: Endpoint) -> str:
    if endpoint.key is not None:
        return f"Check the key in {endpoint.key_variable}, and what it may use"
    if endpoint.named:
        return f"Set {endpoint.key_variable}"
    return f"A recorded address gets no key. If you trust it, {HOW_TO_ALLOW} with it, and set {endpoint.key_variable}"


def _said(exchange: Exchange) -> str:
    message = _field(exchange, "message")
    code = _field(exchange, "code") or _field(exchange, "type")
    if message is None:
        return exchange.body[:LONGEST].decode("utf-8", "replace").strip()
    return message if code is None or code in message else f"{message} ({code})"


def _field(exchange: Exchange, name: str) -> str | None:
    try:
        body = canon.loads(exchange.body)
    except ValueError:
        return None
    error = body.get("error") if isinstance(body, dict) else None
    if isinstance(error, str) and name == "message":
        return error
    value = error.get(name) if isinstance(error, dict) else None
    return value if isinstance(value, str) else None
