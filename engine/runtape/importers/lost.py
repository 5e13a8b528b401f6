"""What tracers put where they left something out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ..wire.values import Json

_MARKS: Final = (
    ("attachments", re.compile(r"\A(?:attachment|tc)://[0-9a-zA-Z_-]+\Z")),
    ("images", re.compile(r"@@@langfuseMedia:|<base64-data-removed>|\Adata:image/[\w.+-]+;base64,[^,]*(?:…|\.\.\.)")),
    ("cut texts", re.compile(r"__truncated__|…\(truncated\)|litellm_truncated|\[\.\.\. ?truncated|<truncated>")),
    ("redacted texts", re.compile(r"\A\s*(?:<redacted>|\[?REDACTED\]?|__REDACTED__|\[sanitized[^\]]*\])\s*\Z")),
)


def lost_in(value: Json) -> tuple[str, ...]:
    """Names of what is left out somewhere in `value`, sorted: attachments, cut texts, images, redacted texts."""
    return tuple(sorted({name for text in _texts(value) for name, mark in _MARKS if mark.search(text)}))


def _texts(value: Json) -> Iterator[str]:
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, list):
            waiting += item
        elif isinstance(item, dict):
            waiting += item.values()
