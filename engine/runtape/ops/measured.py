"""The fixes that were measured for a decision, remembered by name beside the reply cache.

A report names its fixes; whoever then asks for a test "with the fix NAME", perhaps in another process, means exactly
the change that was measured.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from .. import canon
from ..context.edits import AddSystem, Clean, Drop, Edit, Replace, SetModel, SetSystem
from ..errors import BadInput
from ..report.results import Candidate
from ..wire.values import Json, JsonObject
from .case import Case
from .changes import changes


def remember(cache_dir: str | os.PathLike[str] | None, case: Case, candidates: Iterable[Candidate]) -> list[str]:
    """Keep the changes of these candidates under their names; nothing happens without a folder or a change.

    Returns:
        A note when the folder cannot be written.
    """
    changed: JsonObject = {
        candidate.name: [_spelled(edit) for edit in candidate.edits] for candidate in candidates if candidate.edits
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
        return [f"The changes cannot be kept by name in {path.parent} ({error}): give write_test the change itself."]
    return []


def recall(cache_dir: str | os.PathLike[str] | None, case: Case, name: str) -> frozenset[Edit]:
    """The change that was measured under that name for this decision.

    Raises:
        BadInput: none was.
    """
    known = {} if cache_dir is None else _read(_path(cache_dir, case))
    edits = known.get(name)
    if not isinstance(edits, list):
        names = f" It has: {', '.join(map(repr, known))}." if known else " Run fix on this event first."
        raise BadInput(f"No measured fix of this decision is named {name!r}.{names}")
    return frozenset[Edit]().union(*(_edit(edit) for edit in edits))


def _path(cache_dir: str | os.PathLike[str], case: Case) -> Path:
    decision = canon.digest([case.request.body, case.decision.label])
    return Path(cache_dir) / "fixes" / f"{decision[:32]}.json"


def _read(path: Path) -> JsonObject:
    try:
        known = canon.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _spelled(edit: Edit) -> Json:
    match edit:
        case Drop(ref):
            return {"drop": ref}
        case Replace(old, new):
            return {"replace": [old, new]}
        case SetSystem(text):
            return {"system": text}
        case AddSystem(text):
            return {"add_system": text}
        case Clean(text):
            return {"clean": text}
        case SetModel(name):
            return {"model_name": name}


def _edit(spelled: Json) -> frozenset[Edit]:
    match spelled:
        case {"drop": str() as ref}:
            return changes(drop=ref)
        case {"replace": [str() as old, str() as new]}:
            return changes(replace=(old, new))
        case {"system": str() as text}:
            return changes(system=text)
        case {"add_system": str() as text}:
            return changes(add_system=text)
        case {"clean": str() as text}:
            return changes(clean=text)
        case {"model_name": str() as name}:
            return changes(model_name=name)
        case _:
            raise BadInput("A remembered fix cannot be read. Run fix on this event again.")
