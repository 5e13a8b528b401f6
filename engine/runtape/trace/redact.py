"""Secrets taken out of an event before it is written.

Two rules, always on: a text under a key that names a secret (`password`, `api_key`, `Authorization`, ...) and a text
that has the shape of a known key (`sk-...`, `ghp_...`, `Bearer ...`), wherever it stands. What is put in its place
names the rule, such as `[redacted:sk]`; it needs no escape in JSON, so JSON inside a string stays JSON. What is
written is also what a rerun sends.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

from ..jsonable import jsonable
from ..wire.values import Json, JsonObject

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
        return [redact(item) for item in value]
    if isinstance(value, dict):
        # Per-token log probabilities spell the reply under the key `token`.
        is_logprob = "logprob" in value
        return {
            key: redact(item) if is_logprob or not _names_secret(key) else _hide(item, _kind(key))
            for key, item in value.items()
        }
    return value


def redact_text(text: str) -> str:
    """`text` without known key shapes and without the values of quoted or assigned secrets in it."""
    if any(map(text.__contains__, _SHAPE_HINTS)):
        for hint, kind, shape in _SHAPES:
            if hint in text:
                text = shape.sub(f"[redacted:{kind}]", text)
    if len(text) < _LONGEST_SEARCHED and any(map(text.__contains__, _BEFORE_VALUE)):
        lowered = text.lower()
        if any(map(lowered.__contains__, _NAME_HINTS)):
            text = _NAMED.sub(_hide_named, text)
            text = _ASSIGNED.sub(_hide_assigned, text)
    return text


def redactor(user: Redact | None = None) -> Callable[[str, JsonObject, JsonObject], Redacted]:
    """What every event's type, payload and meta go through before they are written.

    The built-in rules come first, then `user`. It fails closed: when `user` raises, or returns anything but an event
    with a payload, the content is dropped and the reason takes its place.
    """

    def run(kind: str, payload: JsonObject, meta: JsonObject) -> Redacted:
        try:
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


_SECRET_NAME: Final = re.compile(
    r"(?:^|_)(?:password|passwd|passphrase|passcode|pwd|secret|secrets|api_?key|access_key|private_?key|secret_key"
    r"|signing_key|encryption_key|account_key|authorization|auth|credential|credentials|cookie|cookies|token|jwt"
    r"|csrf|xsrf|csrftoken|session_?id)$"
)
_NOT_SECRET: Final = re.compile(
    # Cursors of paging, and the special tokens of a model's vocabulary.
    r"(?:^|_)(?:next|page|continuation|sync|pagination|eos|bos|pad|unk|stop|cls|sep|mask|first|last|per)(?:_\w+)?_token$"
)
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def _kind(key: str) -> str:
    """A key's name in one spelling: `X-Api-Key`, `xApiKey` and `x_api_key` are one."""
    return re.sub(r"[^a-z0-9]+", "_", _CAMEL.sub("_", key).lower()).strip("_")


def _names_secret(key: str) -> bool:
    return len(key) <= _LONGEST_NAME and _short_name_is_secret(key)


@lru_cache(maxsize=4096)
def _short_name_is_secret(key: str) -> bool:
    kind = _kind(key)
    return _SECRET_NAME.search(kind) is not None and _NOT_SECRET.search(kind) is None


def _hide(value: Json, kind: str) -> Json:
    """Every text below a key that names a secret hidden, unless the value describes a parameter of that name."""
    if isinstance(value, str):
        return _marker(value, kind)
    if isinstance(value, list):
        return [_hide(item, kind) for item in value]
    if isinstance(value, dict):
        if value.keys() & _SCHEMA_KEYS:
            return redact(value)
        return {key: _hide(item, kind) for key, item in value.items()}
    if isinstance(value, (int, float)) and not isinstance(value, bool) and ("pass" in kind or "pwd" in kind):
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
_LONGEST_NAME: Final = 60
_LONGEST_SEARCHED: Final = 2_000_000
"""Longer texts are data (images, archives); only key shapes are looked for in them."""
_BEFORE_VALUE: Final = ('"', "'", "=")
_NAME_HINTS: Final = (
    "pass", "pwd", "secret", "key", "auth", "credential", "cookie", "token", "jwt", "csrf", "xsrf", "session",
)  # fmt: skip

# (a text that every match holds, the marker's name, the shape). A digit is asked for where letters alone make words.
# Recorded text is hostile: a shape never looks far ahead from every place where it could begin.
_SHAPES: Final = tuple(
    (hint, kind, re.compile(shape))
    for hint, kind, shape in (
        ("sk-ant-", "sk_ant", r"\bsk-ant-[A-Za-z0-9_-]{16,}"),
        ("sk-", "sk", r"\bsk-(?=[A-Za-z_-]{0,200}\d)[A-Za-z0-9_-]{16,}"),
        ("k_live_", "stripe", r"\b[rs]k_live_[A-Za-z0-9]{16,}"),
        ("gh", "github", r"\bgh[pousr]_[A-Za-z0-9]{30,}"),
        ("github_pat_", "github", r"\bgithub_pat_[A-Za-z0-9_]{30,}"),
        ("glpat-", "gitlab", r"\bglpat-[A-Za-z0-9_-]{16,}"),
        ("KIA", "aws", r"\bAKIA[0-9A-Z]{16}\b"),
        ("ASIA", "aws", r"\bASIA[0-9A-Z]{16}\b"),
        ("AIza", "google", r"\bAIza[A-Za-z0-9_-]{35}"),
        ("ya29.", "google", r"\bya29\.[A-Za-z0-9_-]{20,}"),
        ("xox", "slack", r"\bxox[abeprs]-[A-Za-z0-9-]{10,}"),
        ("hf_", "huggingface", r"\bhf_[A-Za-z0-9]{30,}"),
        ("npm_", "npm", r"\bnpm_[A-Za-z0-9]{36}"),
        ("pypi-", "pypi", r"\bpypi-[A-Za-z0-9_-]{50,}"),
        ("eyJ", "jwt", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
        ("earer ", "bearer", r"(?<=[Bb]earer )(?=[A-Za-z._~+/-]{0,200}\d)[A-Za-z0-9._~+/-]{16,}=*"),
        ("asic ", "basic", r"(?<=[Bb]asic )[A-Za-z0-9+/]{20,}={0,2}(?![A-Za-z0-9+/])"),
        ("://", "url_password", r"(?<=://)[^\s/:@\"'\\]{1,100}:[^\s/@\"'\\]{1,100}(?=@)"),
        (
            "PRIVATE KEY-----",
            "private_key",
            (
                r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?:[\w+/=\s\\:,]|-(?!----)){0,20000}"
                r"-----END [A-Z ]{0,30}PRIVATE KEY-----"
            ),
        ),
    )
)


_SHAPE_HINTS: Final = tuple(hint for hint, _, _ in _SHAPES)

# The last word of a name. Its first letter stands in a class of its own, for which `re` skips ahead fast; a mixture
# of beginnings and ends does no harm, since the whole name is looked at afterwards.
_WORD: Final = (
    r"(?P<word>[PpSsKkAaCcTtJjXx](?i:assw(?:or)?d|assphrase|asscode|wd|ecrets?|ession_?id|ey|uthorization|uth"
    r"|redentials?|ookies?|srf|oken|wt))"
)
# A quoted value behind a quoted name: JSON, JSON inside a JSON string (quotes behind one backslash), a Python repr.
_NAMED: Final = re.compile(
    rf"{_WORD}(?:"
    r'(?P<json>["\']\s{0,9}:\s{0,9}")(?P<a>(?:[^"\\\n]|\\.)+)(?=")'
    r'|(?P<inner>\\"\s{0,9}:\s{0,9}\\")(?P<b>(?:[^"\\\n]|\\\\(?:\\["\\]|[^"\\]))+)(?=\\")'
    r"|(?P<python>[\"']\s{0,9}:\s{0,9}')(?P<c>(?:[^'\\\n]|\\.)+)(?=')"
    r")"
)
# NAME=value as in an environment file or a URL's query.
_ASSIGNED: Final = re.compile(rf"{_WORD}=(?P<value>(?=[A-Za-z+/_.~-]*\d)[A-Za-z0-9+/_.~%-]{{6,}}=*)(?![\w(\[])")
_NAME_BEFORE: Final = re.compile(r"[\w-]{0,40}$")


def _whole_name(match: re.Match[str]) -> str:
    before = _NAME_BEFORE.search(match.string, max(0, match.start() - 40), match.start())
    return (before.group() if before else "") + match["word"]


def _hide_named(match: re.Match[str]) -> str:
    name = _whole_name(match)
    if not _names_secret(name):
        return match.group()
    opening = match["json"] or match["inner"] or match["python"]
    value = match["a"] or match["b"] or match["c"]
    return match["word"] + opening + _marker(value, _kind(name))


def _hide_assigned(match: re.Match[str]) -> str:
    name = _whole_name(match)
    return f"{match['word']}={_marker(match['value'], _kind(name))}" if _names_secret(name) else match.group()
