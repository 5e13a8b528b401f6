"""Regular expressions from a user, kept from running for ever."""

from __future__ import annotations

import re

from ..errors import BadInput
from ..text import shorten

SEARCHED = 20_000
"""Characters of a text that a pattern is searched in; what stands behind them is not seen."""

_SHOWN = 60
_REPEAT = re.compile(r"[*+]|\{(\d*),?(\d*)\}")


def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern, ready to be searched.

    Raises:
        BadInput: it is no regular expression, it is empty, or it repeats a repetition (`(a+)+`), which may take for
            ever.
    """
    if not pattern:
        raise BadInput("An empty pattern matches everything. Give the text that makes the decision.")
    shown = shorten(pattern, _SHOWN)
    try:
        made = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        where = f" at position {error.pos}" if isinstance(error, re.error) and error.pos is not None else ""
        reason = error.msg if isinstance(error, re.error) else str(error)
        raise BadInput(
            f"The pattern {shown!r} is no regular expression: {reason}{where}. "
            "Put a backslash before characters that stand for themselves."
        ) from error
    position = _nested_repeat(pattern)
    if position is not None:
        raise BadInput(
            f"The pattern {shown!r} repeats a repetition at position {position}, which may take for ever. "
            "Write it with one `+` or `*`."
        )
    return made


def is_found(pattern: re.Pattern[str], text: str | None) -> bool:
    """True when the pattern matches somewhere in the first `SEARCHED` characters."""
    return text is not None and pattern.search(text[:SEARCHED]) is not None


def _nested_repeat(pattern: str) -> int | None:
    """Position of the repetition of a group that holds an unbounded repetition itself; None when there is none."""
    # For each open group: whether something unbounded has been repeated in it.
    open_groups = [False]
    at = 0
    while at < len(pattern):
        c = pattern[at]
        if c == "\\":
            at += 2
            continue
        if c == "[":
            at = _class_end(pattern, at)
            continue
        if c == "(":
            open_groups.append(False)
        elif c == ")" and len(open_groups) > 1:
            holds = open_groups.pop()
            repeat = _REPEAT.match(pattern, at + 1)
            if repeat and holds and _is_many(repeat):
                return at + 1
            # A group is as open-ended as what it holds.
            open_groups[-1] |= holds
        else:
            repeat = _REPEAT.match(pattern, at)
            if repeat and _is_unbounded(repeat):
                open_groups[-1] = True
        at += 1
    return None


def _class_end(pattern: str, at: int) -> int:
    """Where the character class that opens at `at` is over."""
    at += 1
    if pattern[at : at + 1] == "^":
        at += 1
    if pattern[at : at + 1] == "]":
        at += 1
    while at < len(pattern) and pattern[at] != "]":
        at += 2 if pattern[at] == "\\" else 1
    return at + 1


def _is_unbounded(repeat: re.Match[str]) -> bool:
    return repeat.group() in {"*", "+"} or repeat.group().endswith(",}")


def _is_many(repeat: re.Match[str]) -> bool:
    """True for `*`, `+` and for counts above one."""
    if _is_unbounded(repeat):
        return True
    return any(int(count) > 1 for count in repeat.groups() if count)
