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

_SHORT: Final = 100
"""Characters of a text that is worth remembering: roles, models, addresses and the like come in every event."""

_innocent_names: set[str] = set()
"""Names that were found to stand for no secret; a set, so that all names of a value are looked up in one step."""
_innocent_texts: set[str] = set()
"""Short texts that were found to hold no secret."""


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
    return _name_no_secret(names) and _hold_no_secret(texts)


_WITHOUT_TEXT: Final = frozenset({int, float, bool, type(None)})


def _name_no_secret(names: set[str]) -> bool:
    new = names - _innocent_names
    if not new:
        return True
    if any(map(names_secret, new)) or may_hold_key("\n".join(new)):
        return False
    _remember(new, _innocent_names)
    return True


def _hold_no_secret(texts: set[str]) -> bool:
    new = texts - _innocent_texts
    if not new:
        return True
    text = "\n".join(new)
    if len(text) > _MOST or may_hold_key(text) or may_name_secret(text):
        return False
    _remember({text for text in new if len(text) <= _SHORT}, _innocent_texts)
    return True


def _remember(new: set[str], known: set[str]) -> None:
    if len(known) > _KNOWN:
        known.clear()
    known.update(new)
