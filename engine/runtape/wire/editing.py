"""Request bodies with a slot changed or left out; what lies beside it is shared, not copied."""

from __future__ import annotations

from collections.abc import Collection

from .. import canon
from .reading import members
from .values import Json, JsonObject, Path, Slot


def put(body: JsonObject, slot: Slot, text: str, block: str = "text") -> JsonObject:
    """`body` with `text` in place of a slot's text; see `Dialect.put`. `block` is the type of a block of text there.

    Raises:
        ValueError: the slot is not of this body, or the text is no JSON where only JSON can stand.
    """
    match slot.form:
        case "text":
            return _replaced(body, slot.path, text)
        case "json":
            return _replaced(body, slot.path, canon.loads(text))
        case _ if text == slot.text:
            return body
        case "block":
            there = members(_at(body, slot.path))
            marks: JsonObject = {"cache_control": there["cache_control"]} if "cache_control" in there else {}
            return _replaced(body, slot.path, {"type": block, "text": text, **marks})
        case "reasoning":
            raise ValueError("reasoning can be left out, but not changed: the provider signs it")


def _replaced(body: JsonObject, path: Path, value: Json) -> JsonObject:
    """`body` with `value` in place of what stands at `path`, which is of the same type."""
    return members(_with(body, path, 0, value))


def _with(there: Json, path: Path, depth: int, value: Json) -> Json:
    if depth == len(path):
        if type(there) is not type(value):
            raise _nothing_at(path)
        return value
    step = path[depth]
    if isinstance(there, dict) and isinstance(step, str) and step in there:
        return {**there, step: _with(there[step], path, depth + 1, value)}
    if isinstance(there, list) and isinstance(step, int) and 0 <= step < len(there):
        return [*there[:step], _with(there[step], path, depth + 1, value), *there[step + 1 :]]
    raise _nothing_at(path)


def _at(body: Json, path: Path) -> Json:
    there = body
    for step in path:
        match there, step:
            case dict(), str() if step in there:
                there = there[step]
            case list(), int() if 0 <= step < len(there):
                there = there[step]
            case _:
                raise _nothing_at(path)
    return there


def without(body: JsonObject, paths: Collection[Path]) -> JsonObject:
    """`body` without the keys and list items at some paths.

    Raises:
        ValueError: there is nothing at one of them.
    """
    changed: Json = body
    # Back to front, so that no index moves before it is used.
    for path in sorted(paths, key=_place, reverse=True):
        changed = _without(changed, path, 0)
    return members(changed)


def _place(path: Path) -> list[tuple[int, str]]:
    return [(step, "") if isinstance(step, int) else (-1, step) for step in path]


def _without(there: Json, path: Path, depth: int) -> Json:
    step, last = path[depth], depth == len(path) - 1
    if isinstance(there, dict) and isinstance(step, str) and step in there:
        if last:
            return {key: value for key, value in there.items() if key != step}
        return {**there, step: _without(there[step], path, depth + 1)}
    if isinstance(there, list) and isinstance(step, int) and 0 <= step < len(there):
        kept = [] if last else [_without(there[step], path, depth + 1)]
        return [*there[:step], *kept, *there[step + 1 :]]
    raise _nothing_at(path)


def _nothing_at(path: Path) -> ValueError:
    return ValueError(f"the request has no text at {'/'.join(map(str, path))}: take the slots from the same body")
