"""Where a value stands in the arguments of a tool call."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

from ..errors import BadInput
from ..text import shorten
from ..wire.values import Json

LONGEST = 300
"""Characters of a path. Paths that people write have a tenth of that."""

_KEY = r"[\w$-]+"
_STEP = rf"\.(?P<key>{_KEY})|\[(?P<index>-?[0-9]{{1,9}})\]|\[(?P<quoted>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')\]"
WRITTEN: Final = rf"(?:\$|[^\W\d][\w$-]*)(?:{re.sub(r'[?]P<[a-z]+>', '?:', _STEP)})*"
"""A dotted path, as a regular expression without groups of a name."""
POINTER: Final = r"/[^\s()\[\],=<>!\"']*"
"""A JSON pointer inside a condition, as a regular expression."""

RESERVED = ("and", "or", "not", "in", "contains", "matches", "true", "false", "null", "none")
"""Words of conditions, and what people write for them, in any case; as a key one is written with `$.` before it."""

_BARE = re.compile(r"[^\W\d][\w$-]*")
_ROOT = re.compile(r"[^.\[]+")
_STEPS = re.compile(_STEP)
_DOTTED = re.compile(WRITTEN)
_ESCAPED = re.compile(r"\\(?:(?P<same>[\\\"'])|(?P<named>[nrt])|u(?P<code>[0-9a-fA-F]{4}))")
_NAMED = {"n": "\n", "r": "\r", "t": "\t"}
_BAD_TILDE = re.compile("~(?![01])")


class Absent(Enum):
    """What a path leads to where there is nothing; not the same as null."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT
Found: TypeAlias = "Json | Absent"


@dataclass(frozen=True, slots=True)
class Path:
    """Keys and indexes from the arguments of a call to one value; equal where the steps are."""

    steps: tuple[str | int, ...]

    @property
    def text(self) -> str:
        """The path as it is written."""
        if not self.steps:
            return "$"
        first, *others = self.steps
        bare = isinstance(first, str) and _BARE.fullmatch(first) and first.casefold() not in RESERVED
        root = str(first) if bare else f"${_spelled(first)}"
        return "".join([root, *map(_spelled, others)])

    def find(self, arguments: Json) -> Found:
        """The value that stands there, if any."""
        value = arguments
        for step in self.steps:
            match value:
                case dict() if step in value:
                    value = value[str(step)]
                case list() if (at := _index(step)) is not None and -len(value) <= at < len(value):
                    value = value[at]
                case _:
                    return ABSENT
        return value


def argument(text: str) -> Path:
    """The path that a person writes to name an argument: `amount`, `order.items[0].price` or a JSON pointer.

    Raises:
        BadInput: it is none of these.
    """
    if len(text) <= LONGEST:
        if text.startswith("/") and not _BAD_TILDE.search(text):
            return pointer(text)
        if _DOTTED.fullmatch(text):
            return dotted(text)
    raise BadInput(
        f"The argument {shorten(text, 60)!r} is no path. Write a name such as amount, a path such as "
        "order.items[0].price, or, for names with other characters, a JSON pointer such as /order id."
    )


def dotted(text: str) -> Path:
    """The path of a text that `WRITTEN` matches; `$` is the arguments themselves."""
    root = _ROOT.match(text)
    assert root is not None
    steps: list[str | int] = [] if root.group() == "$" else [root.group()]
    for step in _STEPS.finditer(text, root.end()):
        if step["index"] is not None:
            steps.append(int(step["index"]))
        else:
            steps.append(step["key"] or unquoted(step["quoted"]))
    return Path(tuple(steps))


def pointer(text: str) -> Path:
    """The path of a JSON pointer (RFC 6901)."""
    return Path(tuple(part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]))


def unquoted(text: str) -> str:
    r"""The text between two quotes.

    `\n`, `\r`, `\t` and `\uXXXX` are characters, a backslash before a quote or a backslash gives that; any other stands
    for itself, so that a regular expression is written as it is.
    """
    return _ESCAPED.sub(_character, text[1:-1])


def _character(escape: re.Match[str]) -> str:
    if escape["code"]:
        return chr(int(escape["code"], 16))
    return escape["same"] or _NAMED[escape["named"]]


def _index(step: str | int) -> int | None:
    """A step as the index into a list: in a pointer it is a text."""
    if isinstance(step, int):
        return step
    return int(step) if step.isascii() and step.isdecimal() and len(step) < 10 else None


def _spelled(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if re.fullmatch(_KEY, step):
        return f".{step}"
    quoted = step.replace("\\", "\\\\").replace('"', '\\"')
    return f'["{quoted}"]'
