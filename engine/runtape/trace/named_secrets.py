"""Secrets in running text that are known by the name before them: JSON, environment files, headers, URLs, prose.

In text a name proves less than as the key of an object: `password: str` is a line of code and "the token is new" a
sentence. How much the value itself must look like a secret depends on how the two are joined.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from typing import Final

from .secret_names import names_password, names_secret

Hide = Callable[[str, str], str]
"""A function from a secret and its name to what is written in its place."""

_LONGEST_SEARCHED: Final = 2_000_000
"""Longer texts are data (images, archives); only key shapes are looked for in them."""
_JOINTS: Final = ('"', "'", "=", ":", ">", " is ", "assw")
_NAME_HINTS: Final = (
    "pass", "pwd", "secret", "key", "auth", "credential", "cookie", "token", "jwt", "csrf", "xsrf", "session", "sig",
)  # fmt: skip

# The last word of a name, and how its value follows.
_NAMED: Final = re.compile(
    r"(?P<word>(?i:passw(?:or)?d|pass(?:phrase|code)?|pwd|secrets?|session_?id|key|authorization|auth|credentials?"
    r"|cookies?|csrf(?:token)?|xsrf|token|jwt|sig(?:nature)?))"
    r"(?:(?P<quoted>(?P<depth>\\{0,15})[\"']\s{0,9}(?::|=>|=)\s{0,9}(?P=depth)(?P<mark>[\"']))"
    r"|(?P<opened>\s{0,9}[:=]\s{0,9}(?P<inner>\\{0,15})(?P<quote>[\"']))"
    r"|(?P<joined>\s{0,9}[:=]\s{0,9}|>|\s{1,9}(?:is\s{1,9})?)(?=\S))"
)
_VALUE: Final = re.compile(r"[^\s\"'\\,;&<>(){}\[\]|`]{1,2000}")
_SCHEME: Final = re.compile(
    r"(?P<scheme>(?i:bearer|basic|token|digest|apikey|negotiate|key)\s{1,9})(?P<value>[\w.~+/=-]{8,2000})(?![\w(<])"
)
_COOKIES: Final = re.compile(
    r"[\w.%-]{1,100}=[^\s;\"'\\,]{1,4000}(?:;\s{0,9}[\w.%-]{1,100}(?:=[^\s;\"'\\]{0,4000})?){0,50}"
)
_PLACEHOLDER: Final = re.compile(
    r"(?i:your|my|the|some|any|an?|new|example|insert|change|redacted|xxx|true|false|none|null|yes|no|required|optional"
    r"|str|string|text|bytes|int|bool|secret|token|password)(?![A-Za-z0-9])|[$%{<*.~,;:)\]} ]|[A-Z_]+$|\[redacted:"
)
_CODE: Final = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$")
_PLAIN_PART: Final = re.compile(
    r"(?i:[a-z]*|\d*|base\d+|sha\d*|md\d|utf\d*|o?auth\d?|argon2\w*|\d?fa|x509|pbkdf2|aes\d*|rsa\d*|[a-z]{2}256|v\d+"
    r"|\d+(?:bits?|chars?|th|st|nd|rd|[smhd]|x)|http2?|s3|k8s|ipv[46]|web3)$"
)
_ADDRESS: Final = re.compile(r"https?:|\.{0,2}/|~/|[\w.+-]+@[\w-]+\.\w+$|\d{4}-\d\d-\d\d")
_SIGNATURES: Final = frozenset({"sig", "signature", "key"})
"""Names that stand for a secret in the query of a URL only: the parameters of signed addresses."""


def without_named(text: str, hide: Hide) -> str:
    """`text` with the values of named secrets replaced by what `hide` makes of value and name."""
    if _is_plain(text):
        return text
    parts: list[str] = []
    done = 0
    for at in _places(text):
        match = _NAMED.match(text, at) if at >= done else None
        span = None if match is None else _span(match)
        if match is None or span is None:
            continue
        start, end = span
        parts += (text[done:start], hide(text[start:end], _name(match)))
        done = end
    return "".join([*parts, text[done:]]) if parts else text


def may_name_secret(text: str) -> bool:
    """False when nothing that follows a name in `text` can be a secret: a cheap look."""
    if _is_plain(text):
        return False
    matches = (_NAMED.match(text, at) for at in _places(text))
    return any(match is not None and not _is_prose(match) for match in matches)


def _is_plain(text: str) -> bool:
    return len(text) >= _LONGEST_SEARCHED or not any(map(text.__contains__, _JOINTS))


def _places(text: str) -> list[int]:
    """Where the last word of a name may begin. Found word by word: a pattern of all of them is many times slower."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a letter that is two in lower case
        lowered = text.translate(_LOWER)
    found: list[int] = []
    for hint in _NAME_HINTS:
        at = lowered.find(hint)
        while at >= 0:
            found.append(at)
            at = lowered.find(hint, at + 1)
    return sorted(found)


_LOWER: Final = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def _name(match: re.Match[str]) -> str:
    text, start = match.string, match.start()
    first = max(0, start - _LONGEST_BEFORE)
    while start > first and (text[start - 1].isalnum() or text[start - 1] in "_-"):
        start -= 1
    return text[start : match.end("word")]


_LONGEST_BEFORE: Final = 40


def _span(match: re.Match[str]) -> tuple[int, int] | None:
    """Where the secret behind a name stands; None when there is none."""
    if _is_prose(match):
        return None
    text, name, start = match.string, _name(match), match.end()
    in_query = match.start() > len(name) and text[start - 1] == "=" and _before(match, name) in "?&"
    is_signature = in_query and name.lower().rpartition("-")[2] in _SIGNATURES
    if not (is_signature or names_secret(name)):
        return None
    if match["quoted"]:
        return _quoted(text, start, match["mark"], len(match["depth"]))
    word = match["word"].lower()
    if match["opened"]:
        span = _quoted(text, start, match["quote"], len(match["inner"]))
        if span is None or (word.startswith("cookie") and not _COOKIES.match(text, start)):
            return None
        value = text[slice(*span)]
        is_secret = names_password(name) or (
            " " not in value and (len(value) >= 16 or _is_random(value, is_password=False))
        )
        return span if is_secret and len(value) >= 3 and not _PLACEHOLDER.match(value) else None
    if match["joined"].strip() in (":", "="):
        if word.startswith("cookie"):
            found = _COOKIES.match(text, start)
            return found.span() if found else None
        if word == "authorization":
            scheme = _SCHEME.match(text, start)
            if scheme:
                return None if _PLACEHOLDER.match(scheme["value"]) else scheme.span("value")
    return _bare(match, name, in_query=in_query)


def _is_prose(match: re.Match[str]) -> bool:
    """True for a word that another one only follows."""
    joint = match["joined"]
    return bool(joint) and joint.strip() in _PROSE and not _may_stand_in_prose(match)


def _may_stand_in_prose(match: re.Match[str]) -> bool:
    """True for `password abc` and for an option of a command; words such as `key` are too common to be looked into."""
    return match["word"].lower().startswith("passw") or "--" in match.string[max(0, match.start() - 40) : match.start()]


_PROSE: Final = ("", "is")


def _before(match: re.Match[str], name: str) -> str:
    at = match.end("word") - len(name) - 1
    return match.string[at] if at >= 0 else " "


def _quoted(text: str, start: int, quote: str, depth: int) -> tuple[int, int] | None:
    """A text in quotes that `depth` backslashes stand before: JSON inside of JSON strings, to any depth.

    The quote that ends it has as many, or more by an even multiple of what one backslash takes there.
    """
    for found in _ENDS[quote].finditer(text, start, start + _LONGEST_QUOTED):
        if found["end"] is None:
            return None  # the line ended
        more = len(found["slashes"]) - depth
        if more >= 0 and more % (2 * (depth + 1)) == 0:
            end = found.end() - 1 - depth
            return (start, end) if end > start else None
    return None


_LONGEST_QUOTED: Final = 20_000
_ENDS: Final = {quote: re.compile(rf"(?P<slashes>\\*)(?P<end>{quote})|\n") for quote in ('"', "'")}


def _bare(match: re.Match[str], name: str, *, in_query: bool) -> tuple[int, int] | None:
    """A value without quotes."""
    text, joint = match.string, match["joined"]
    found = None if _PLACEHOLDER.match(text, match.end()) else _VALUE.match(text, match.end())
    if found is None:
        return None
    value = found.group() if in_query else found.group().rstrip(".,:")
    end = found.start() + len(value)
    following = text[end : end + 1]
    if len(value) < 3 or following in ("(", "[") or (following and following == "{" and value.endswith("$")):
        return None
    if _PLACEHOLDER.match(value):
        return None
    is_password = names_password(name)
    if joint == ">":
        return (found.start(), end) if following == "<" else None
    if joint == "=" and (in_query or _is_variable(name) or name.startswith("--")):
        return found.start(), end
    if joint.strip() not in (":", "=") and not (is_password and not name.lower().endswith(("pass", "pwd"))):
        # `--token abc`: as an option of a command only.
        return (found.start(), end) if name.startswith("--") and _is_random(value, is_password=is_password) else None
    return (found.start(), end) if _is_random(value, is_password=is_password) else None


def _is_variable(name: str) -> bool:
    return name.isupper() and len(name) > 3


def _is_random(value: str, *, is_password: bool) -> bool:
    """True when no word, number, path, date or name of a method looks like it."""
    if _ADDRESS.match(value) or _CODE.match(value) or all(map(_PLAIN_PART.match, re.split(r"[-_./:+]", value))):
        return is_password and value.isdigit() and len(value) >= 5
    has_letter = any(map(str.isalpha, value))
    has_digit = any(map(str.isdigit, value))
    if is_password:
        return len(value) >= 4 and has_letter and (has_digit or any(sign in "!@#$%^&*?~" for sign in value[1:-1]))
    return len(value) >= 8 and has_letter and has_digit
