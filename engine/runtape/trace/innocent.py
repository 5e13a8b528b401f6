"""A look at a value that tells, most of the time and cheaply, that there is no secret in it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, cast

from ..wire.values import Json
from .key_shapes import may_hold_key
from .named_secrets import may_name_secret
from .secret_names import names_secret

_MOST: Final = 20_000
"""Characters looked at together; of a longer value some text will need a closer look anyway."""
_KNOWN: Final = 4_096

_innocent_names: set[str] = set()
"""Names that were found to stand for no secret; a set, so that all names of a value are looked up in one step."""


def is_innocent(value: Json) -> bool:
    """True when no rule of redaction changes anything in `value`; False when one may."""
    names: set[str] = set()
    texts: set[str] = set()
    left: list[Json] = [value]
    while left:
        item = left.pop()
        if isinstance(item, dict):
            names.update(item)
            members: Iterable[Json] = item.values()
            if "value" in item:  # the name of a header stands beside it
                names.update(name for key in ("name", "key") if isinstance(name := item.get(key), str))
        elif isinstance(item, list):
            members = item
            pieces = [piece for piece in item if isinstance(piece, str)]
            if len(item) > 1 and pieces:  # a secret may run over several, or follow its name
                names.update(piece.strip("-") for piece in pieces)
                texts.add("".join(pieces))
        else:
            members = (item,)
        for member in members:
            kind = type(member)
            if kind is str:
                texts.add(cast("str", member))
            elif kind is dict or kind is list:
                left.append(member)
            elif kind not in _WITHOUT_TEXT:
                return False
    return _are_innocent(names) and sum(map(len, texts)) <= _MOST and _is_plain("\n".join(texts))


_WITHOUT_TEXT: Final = frozenset({int, float, bool, type(None)})


def _are_innocent(names: set[str]) -> bool:
    new = names - _innocent_names
    if not new:
        return True
    if any(map(names_secret, new)) or may_hold_key("\n".join(new)):
        return False
    if len(_innocent_names) > _KNOWN:
        _innocent_names.clear()
    _innocent_names.update(new)
    return True


def _is_plain(text: str) -> bool:
    return not may_hold_key(text) and not may_name_secret(text)
