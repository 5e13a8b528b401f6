"""The fixes that were measured for a decision, remembered by name beside the reply cache.

A report names its fixes; whoever then asks for a test "with the fix NAME", perhaps in another process, means exactly
the change that was measured, and the decision that it was measured on.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .. import canon
from ..context.edit_forms import parsed, spelled
from ..context.edits import Edit
from ..errors import BadInput
from ..report.results import Candidate
from ..said import Quoted, Said
from ..wire.values import Json, JsonObject
from .case import Case, Selection
from .controls import Address
from .judges import Judge, JudgeFunction, JudgeModel


@dataclass(frozen=True, slots=True)
class Remembered:
    """A change that was measured, and on which part of the reply."""

    edits: frozenset[Edit]
    selection: Selection
    wanted: tuple[Address, ...] = ()
    """The benign decisions that were made in every rerun with it."""


def remember(cache_dir: str | os.PathLike[str] | None, case: Case, candidates: Iterable[Candidate]) -> list[Said]:
    """Keep the changes of these candidates under their names; nothing happens without a folder or a candidate.

    A name that was measured before, also on another part of the reply, now stands for this measurement.

    Returns:
        A note when the folder cannot be written.
    """
    selection = case.selection
    measured: JsonObject = {
        "tool": selection.tool,
        "match": selection.match,
        "exact_args": selection.exact_args,
        "args": [*selection.args],
        "where": selection.where,
        "judge": selection.judge.identity if selection.judge else None,
    }
    changed: JsonObject = {
        candidate.name: {
            **measured,
            "edits": [spelled(edit) for edit in candidate.edits],
            "wanted": [[trace, event] for trace, event in candidate.wanted],
        }
        for candidate in candidates
    }
    if cache_dir is None or not changed:
        return []
    path = _path(cache_dir, case)
    known: JsonObject = {**_read(path), **changed}
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_bytes(canon.dumps(known))
        fresh.replace(path)
    except OSError as error:
        told = f"The changes cannot be kept by name in {path.parent} ("
        return [Said(told, Quoted(str(error)), "): give write_test the change itself.")]
    return []


def recall(cache_dir: str | os.PathLike[str] | None, case: Case, name: str) -> Remembered:
    """The newest change that was measured under that name for this model call.

    Raises:
        BadInput: none was.
    """
    known = {} if cache_dir is None else _read(_path(cache_dir, case))
    if name not in known:
        names = f" It has: {', '.join(map(repr, known))}." if known else " Run fix on this event first."
        raise BadInput(f"No measured fix of this decision is named {name!r}.{names}")
    return _remembered(known[name], case.selection.judge)


def _remembered(value: Json, given: Judge | None) -> Remembered:
    match value:
        case {"edits": []}:
            raise BadInput(
                "This fix is a guard: it acts outside the model, so no rerun tests it. Put the check into the agent's "
                "code, and test that code: guard_with names it."
            )
        case {
            "edits": [_, *_] as edits,
            "tool": str() | None as tool,
            "match": str() | None as match,
            "exact_args": bool() as exact_args,
            "args": list() as args,
            "where": str() | None as where,
            "judge": judge,
        }:
            named = tuple(name for name in args if isinstance(name, str))
            selection = Selection(tool, match, exact_args, named, where, _judge(judge, given))
            return Remembered(frozenset(map(parsed, edits)), selection, tuple(_addresses(value)))
        case _:
            raise BadInput("A remembered fix cannot be read. Run fix on this event again.")


def _addresses(measurement: Json) -> Iterator[Address]:
    wanted = measurement.get("wanted") if isinstance(measurement, dict) else None
    for address in wanted if isinstance(wanted, list) else []:
        match address:
            case [str() as trace, int() | str() as event]:
                yield trace, event
            case _:
                pass


def _judge(identity: Json, given: Judge | None) -> Judge | None:
    """The judge of a measurement. A function is never loaded because a file names it: it has to be given again."""
    match identity:
        case None:
            return None
        case ["question", str(text)]:
            return JudgeModel(text)
        case ["function", str(name), *_] if isinstance(given, JudgeFunction) and given.name == name:
            return given
        case ["function", str(name), *_]:
            raise BadInput(f"This fix was measured with the judge function {name!r}. Pass it as judge once more.")
        case _:
            raise BadInput("The judge of a remembered fix cannot be read. Run fix on this event again.")


def _path(cache_dir: str | os.PathLike[str], case: Case) -> Path:
    return Path(cache_dir) / "fixes" / f"{canon.digest(case.request.body)[:32]}.json"


def _read(path: Path) -> JsonObject:
    try:
        known = canon.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}
