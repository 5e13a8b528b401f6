"""Secrets taken out of an event before it is written.

Three rules, always on: a text under a key that names a secret (`password`, `api_key`, `Authorization`, ...), a text
that has the shape of a known key (`sk-...`, `ghp_...`, `Bearer ...`), wherever it stands, and what a text itself names
as one (`DB_PASS=...`, `Cookie: sid=...`). What is put in its place names the rule, such as `[redacted:sk]`; it needs no
escape in JSON, so JSON inside a string stays JSON. What is written is also what a rerun sends.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import Final, TypeAlias

from ..jsonable import jsonable
from ..wire.values import Json, JsonObject
from .innocent import is_innocent
from .key_shapes import without_keys
from .named_secrets import without_named
from .secret_names import kind_of, names_password, names_secret

Redact: TypeAlias = Callable[[JsonObject], JsonObject]
"""A user's function: an event as a dict (`type`, `payload`, `meta`) to the event as it may be written."""


@dataclass(frozen=True, slots=True)
class Redacted:
    """An event's content as it may be written."""

    payload: JsonObject
    meta: JsonObject
    failure: str | None = None
    """Why the content was dropped; None when it is there. A dropped request must not become the base of a later one."""


def redact(value: Json) -> Json:
    """A copy of `value` without known secrets; shares no list or object with it."""
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, list):
        return _rejoined([redact(item) for item in value])
    if isinstance(value, dict):
        # Per-token log probabilities spell the reply under the key `token`.
        is_logprob = "logprob" in value
        clean: dict[str, Json] = {}
        for key, item in value.items():
            hidden = redact(item) if is_logprob or not names_secret(key) else _hide(item, kind_of(key))
            clean[_clean_key(key, clean)] = hidden
        for name_key in ("name", "key"):
            _hide_second(clean, name_key, "value")
        return clean
    return value


def _clean_key(key: str, taken: Container[str]) -> str:
    """A key without known key shapes; numbered where another one has become the same."""
    clean = without_keys(key)
    if clean == key:
        return key
    number = 1
    while (name := clean if number == 1 else f"{clean}#{number}") in taken:
        number += 1
    return name


def redact_text(text: str) -> str:
    """`text` without known key shapes and without the values of secrets that it names."""
    return without_named(without_keys(text), lambda secret, name: _marker(secret, kind_of(name)))


def _hide_second(clean: dict[str, Json], first: str, second: str) -> None:
    """`{"name": "Authorization", "value": "..."}`, as archives of HTTP traffic keep headers."""
    name, secret = clean.get(first), clean.get(second)
    if isinstance(name, str) and isinstance(secret, str) and names_secret(name):
        clean[second] = _marker(secret, kind_of(name))


def _rejoined(items: list[Json]) -> list[Json]:
    """A list of texts, or of tokens with their probabilities, in which a secret may run over several items."""
    if len(items) < 2:
        return items
    for at, (name, secret) in enumerate(itertools.pairwise(items), 1):
        if isinstance(name, str) and isinstance(secret, str) and names_secret(name.strip("-")):
            # The arguments of a command; a header as a pair. A list of names alone (`required`) has no secret in it.
            hidden = redact_text(f"{name}: {secret}")
            if hidden != f"{name}: {secret}":
                items[at] = hidden.removeprefix(f"{name}: ")
    texts = [_piece(item) for item in items]
    if None in texts:
        return items
    whole = "".join(map(str, texts))
    hidden = redact_text(whole)
    # Markers put in before stay as they are, so a difference is a secret that no item held alone.
    return items if hidden == whole else [f"{hidden}<cut: {len(items)} pieces joined, since a secret ran over them>"]


def _piece(item: Json) -> str | None:
    if isinstance(item, dict):
        item = item.get("token") if "logprob" in item else None
    return item if isinstance(item, str) else None


def redactor(user: Redact | None = None) -> Callable[[str, JsonObject, JsonObject], Redacted]:
    """What every event's type, payload and meta go through before they are written.

    The built-in rules come first, then `user`. It fails closed: when `user` raises, or returns anything but an event
    with a payload, the content is dropped and the reason takes its place.
    """

    def run(kind: str, payload: JsonObject, meta: JsonObject) -> Redacted:
        try:
            if user is None and is_innocent([payload, meta]):
                return Redacted(payload, meta)
            clean: JsonObject = {"type": kind, "payload": redact(payload), "meta": redact(meta)}
        except Exception as error:  # noqa: BLE001 -- nothing unredacted may be written, and the host must not notice
            return _dropped(f"redaction failed: {type(error).__name__}")
        return _checked(clean, user)

    return run


def _checked(event: JsonObject, user: Redact | None) -> Redacted:
    if user is not None:
        try:
            answer = user(event)
        except Exception as error:  # noqa: BLE001 -- the user's own code
            # The message may hold the very content that was to be hidden.
            return _dropped(f"the redact function raised {type(error).__name__}")
        plain = jsonable(answer)
        if not isinstance(plain, dict):
            return _dropped(f"the redact function returned {type(answer).__name__}, not an event")
        event = plain
    payload, meta = event.get("payload"), event.get("meta", {})
    if not isinstance(payload, dict) or not isinstance(meta, dict):
        return _dropped("the redact function returned an event without a payload")
    return Redacted(payload, meta)


def _dropped(reason: str) -> Redacted:
    return Redacted({"dropped": reason}, {}, reason)


def _hide(value: Json, kind: str) -> Json:
    """Every text below a key that names a secret hidden, unless the value describes a parameter of that name."""
    if isinstance(value, str):
        return _marker(value, kind)
    if isinstance(value, list):
        return [_hide(item, kind) for item in value]
    if isinstance(value, dict):
        if value.keys() & _SCHEMA_KEYS:
            return redact(value)
        hidden: dict[str, Json] = {}
        for key, item in value.items():
            hidden[_clean_key(key, hidden)] = _hide(item, kind)
        return hidden
    if isinstance(value, (int, float)) and not isinstance(value, bool) and names_password(kind):
        return f"[redacted:{kind}]"
    return value


def _marker(secret: str, kind: str) -> str:
    if not secret.strip() or _MARKER.search(secret):
        return secret
    shaped = redact_text(secret)
    # A secret gets the same marker under a key as in running text, so that one can still see that they are one.
    return shaped if _MARKER.fullmatch(shaped) else f"[redacted:{kind}]"


_MARKER: Final = re.compile(r"\[redacted:[a-z0-9_]+\]")
_SCHEMA_KEYS: Final = frozenset({"type", "$ref", "anyOf", "oneOf", "allOf", "enum", "properties", "description"})
