"""What tells one model function from another, so that an edited function is not answered with stale replies."""

from __future__ import annotations

import dis
import hashlib
import inspect
from pathlib import Path
from types import CellType, CodeType, FunctionType, MethodType

from .. import canon
from ..wire.values import Json, JsonObject


def name_of(function: object) -> str:
    """The name of a function, or of the class of a callable object."""
    of = _definition(function)
    return of.__qualname__


def fingerprint(function: object) -> str:
    """Changes when the function does: its name, the text of its source file, the plain values that it closes over."""
    of = _definition(function)
    hashed = hashlib.sha256(f"{of.__module__}:{of.__qualname__}".encode())
    try:
        hashed.update(Path(inspect.getsourcefile(of) or "").read_bytes())
    except (OSError, TypeError):
        # Typed into a shell: the compiled code has to do.
        if isinstance(of, FunctionType):
            hashed.update(of.__code__.co_code + repr(_constants(of.__code__)).encode())
    if isinstance(of, FunctionType):
        hashed.update(canon.dumps(_settings(of)))
    return hashed.hexdigest()[:16]


def _definition(function: object) -> FunctionType | type:
    """The function behind wrappers and methods, or the class of any other object."""
    plain: object = inspect.unwrap(function) if callable(function) else function
    if isinstance(plain, MethodType):
        plain = plain.__func__
    return plain if isinstance(plain, FunctionType) else type(plain)


def _constants(code: CodeType) -> list[object]:
    return [code.co_names, *(value for value in code.co_consts if not isinstance(value, CodeType))]


def _settings(function: FunctionType) -> JsonObject:
    """The plain values in the closure and the defaults; one that the function rebinds is its state, no setting."""
    state = {step.argval for step in dis.get_instructions(function) if step.opname == "STORE_DEREF"}
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    settings: JsonObject = {name: _content(cell) for name, cell in cells if name not in state}
    settings["defaults"] = [_plain(value) for value in function.__defaults__ or ()]
    return settings


def _content(cell: CellType) -> Json:
    try:
        return _plain(cell.cell_contents)
    except ValueError:  # not bound yet
        return None


def _plain(value: object) -> Json:
    return value if isinstance(value, (str, int, float, bool)) else None
