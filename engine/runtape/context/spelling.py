"""Finding a text where it may be spelled with JSON escapes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher

from .literals import parse
from .spans import Tree, without
from .tokens import tokens

Spelling = Callable[[str], str]

_COMPARED = 5


def _plain(text: str) -> str:
    return text


def _in_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _in_ascii_json(text: str) -> str:
    return json.dumps(text)[1:-1]


# Inside a JSON string, and inside a JSON string that is itself inside one.
_SPELLINGS: tuple[Spelling, ...] = (
    _plain,
    _in_json,
    _in_ascii_json,
    lambda text: _in_json(_in_json(text)),
    lambda text: _in_ascii_json(_in_json(text)),
    lambda text: _in_ascii_json(_in_ascii_json(text)),
)


def replaced(text: str, old: str, new: str) -> str | None:
    """The text with `new` for every `old`; None when `old` is not in it.

    `old` is searched as it is, then in its JSON-escaped forms, and `new` is spelled like the `old` that was found. What
    was a literal stays one where escaping `new` can do that.
    """
    found = _found(text, old)
    if found is None:
        return None
    plain = found.spell(new).join(found.around)
    if found.spell is _plain and _in_json(new) != new and _is_literal(text) and not _is_literal(plain):
        escaped = _in_json(new).join(found.around)
        return escaped if _is_literal(escaped) else plain
    return plain


def cleaned(tree: Tree, unwanted: str) -> str | None:
    """The text without any `unwanted`; None when it is not in it.

    Leaves that say exactly this go as leaves do, with their glue; occurrences inside other leaves are cut out.
    """
    said = unwanted.strip()
    gone = [number for number, leaf in enumerate(tree.leaves()) if leaf.text == said]
    text = without(tree, gone)
    found = _found(text, unwanted) or _found(text, said)
    if found is None:
        return text if gone else None
    rest, *others = found.around
    for other in others:
        # One space where the text stood between two.
        spaced = not rest or rest[-1].isspace()
        rest += other.lstrip(" ") if spaced else other
    return rest


def nearest(text: str, candidates: Iterable[str]) -> str | None:
    """The candidate most like a text that was not found; None when no candidate shares a word with it."""
    wanted = tokens(text)
    scored = [(len(wanted & tokens(candidate)), candidate) for candidate in candidates]
    shared = sorted(scored, key=_by_words)[:_COMPARED]
    likely = [(words, SequenceMatcher(None, text, candidate).quick_ratio(), candidate) for words, candidate in shared]
    best = max(likely, default=None)
    return best[2] if best and best[0] else None


def _by_words(scored: tuple[int, str]) -> int:
    return -scored[0]


@dataclass(frozen=True, slots=True)
class _Found:
    """Where a text stands in another."""

    spell: Spelling
    around: list[str]
    """What stands before, between and behind its occurrences."""


def _found(text: str, wanted: str) -> _Found | None:
    if not wanted:
        return None
    for spell in _SPELLINGS:
        target = spell(wanted)
        if target in text:
            around = _split_at_letters(text, target) if "\\" in text and _is_literal(text) else text.split(target)
            if len(around) > 1:
                return _Found(spell, around)
    return None


def _split_at_letters(text: str, target: str) -> list[str]:
    """`text.split(target)` for an escaped text, where no occurrence starts or ends in the middle of an escape."""
    parts: list[str] = []
    copied = 0
    at = text.find(target)
    while at >= 0:
        end = at + len(target)
        if _is_inside_escape(text, at) or _is_inside_escape(text, end):
            at = text.find(target, at + 1)
            continue
        parts.append(text[copied:at])
        copied = end
        at = text.find(target, end)
    return [*parts, text[copied:]]


def _is_inside_escape(text: str, at: int) -> bool:
    start = at
    while start and text[start - 1] == "\\":
        start -= 1
    return (at - start) % 2 == 1


def _is_literal(text: str) -> bool:
    return parse(text, lambda _: ()) is not None
