"""HTML and XML inside a text."""

from __future__ import annotations

import re

TAG = re.compile(r"</?[A-Za-z][\w:-]*[^<>]{0,200}>")
"""A tag; what looks longer is text."""

LINE_TAG = re.compile(
    r"</?(?:p|br|hr|li|ul|ol|dl|dt|dd|div|h[1-6]|tr|td|th|table|thead|tbody|section|article|header|footer|main|nav|form"
    r"|blockquote|pre|html|head|body|title|option)(?:\s[^<>]{0,200})?/?>",
    re.IGNORECASE,
)
"""A tag that starts or ends a line on the screen."""

_OPEN, _CLOSE = "<!--", "-->"
# Tags that hold no words themselves; one with attributes may, so it stays with the text.
_BARE = re.compile(
    r"</?(?:a|abbr|b|big|code|em|font|i|mark|s|small|span|strong|sub|sup|u|p|br|hr|li|ul|ol|div|h[1-6]|tr|td|th|table|html"
    r"|head|body|section|article|main|pre|blockquote|center)\s*/?>",
    re.IGNORECASE,
)
_WRAPPER = re.compile(r"<([A-Za-z][\w:.-]{0,40})\s*>")
_TAGS_ONLY = re.compile(r"(?:\s*</?[A-Za-z][\w:.-]{0,40}\s*/?>)+\s*")


def comments(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The closed comments `<!-- ... -->` in `text[start:end]`, delimiters included, as offsets."""
    found: list[tuple[int, int]] = []
    at = text.find(_OPEN, start, end)
    while at >= 0:
        close = text.find(_CLOSE, at + len(_OPEN), end)
        if close < 0:
            break
        found.append((at, close + len(_CLOSE)))
        at = text.find(_OPEN, close, end)
    return found


def inside(comment: tuple[int, int]) -> tuple[int, int]:
    """What a comment says, without its delimiters."""
    return comment[0] + len(_OPEN), comment[1] - len(_CLOSE)


def is_tags_only(text: str) -> bool:
    """True for a line of nothing but tags without attributes, such as `<INFORMATION>`."""
    return _TAGS_ONLY.fullmatch(text) is not None


def unwrapped(text: str, start: int, end: int) -> tuple[int, int]:
    """The range without white space and tags at its ends; tags with attributes stay, they may hide words."""
    before = None
    while before != (start, end):
        before = start, end
        while start < end and text[start].isspace():
            start += 1
        while end > start and text[end - 1].isspace():
            end -= 1
        head = _BARE.match(text, start, end)
        if head:
            start = head.end()
        if text.endswith(">", start, end):
            tail = _BARE.match(text, max(text.rfind("<", start, end), start), end)
            if tail and tail.end() == end:
                end = tail.start()
        wrapper = _WRAPPER.match(text, start, end)
        if wrapper and text.endswith(f"</{wrapper[1]}>", wrapper.end(), end):
            start, end = wrapper.end(), end - len(wrapper[1]) - 3
    return start, end
