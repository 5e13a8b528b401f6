"""Which model answers the reruns."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from ..errors import BadModel
from ..wire.values import Request
from .endpoint import endpoint_for
from .function import Answering, FunctionModel
from .http_models import HttpModel
from .model import Model

SPEC = "write module:function or path/to/file.py:function"


def resolve(request: Request, *, model: Model | Answering | str | None = None, base_url: str | None = None) -> Model:
    """The model for reruns of `request`.

    `model` is a model, a function, or names one as `module:function` or `path/to/file.py:function`; with None it is the
    recorded API, asked at `base_url`, or else where the call was recorded, under the rules of `endpoint`.

    Raises:
        BadModel: the function cannot be loaded, or there is no key or no address for the recorded API.
        EndpointNotAllowed: the recorded address is not one that the user named.
    """
    if model is None:
        return HttpModel(request.api, endpoint_for(request, base_url))
    if isinstance(model, str):
        return load_function(model)
    if isinstance(model, Model):
        return model
    if callable(model):
        return FunctionModel(model)
    raise BadModel(f"model= is of type {type(model).__name__}: pass a function, a Model, or a text ({SPEC})")


@dataclass(frozen=True, slots=True)
class Named:
    """What a spec names in Python code."""

    value: object
    name: str
    module: ModuleType


def named(spec: str, role: str = "model") -> Named:
    """What `module:name` or `path/to/file.py:name` names; the code is imported for it.

    `role`: what the function is wanted for, for messages.

    Raises:
        BadModel: it names nothing, or its code cannot be loaded.
    """
    where, name = parts_of(spec, role)
    module = _file(where, role) if where.endswith(".py") else _module(where, role)
    found: object = getattr(module, name, None)
    if found is None:
        near = difflib.get_close_matches(name, [known for known in vars(module) if not known.startswith("_")], 1)
        raise BadModel(f"{where} has no function {name!r}" + (f"; did you mean {near[0]!r}?" if near else f": {SPEC}"))
    return Named(found, name, module)


def load_function(spec: str) -> Model:
    """The model that `module:function` or `path/to/file.py:function` names.

    Raises:
        BadModel: it cannot be loaded.
    """
    found = named(spec)
    if isinstance(found.value, Model):
        return found.value
    if not callable(found.value):
        where = spec.rpartition(":")[0]
        raise BadModel(f"{found.name!r} in {where} is of type {type(found.value).__name__}, not a function")
    return FunctionModel(found.value, found.name, found.module)


def parts_of(spec: str, role: str) -> tuple[str, str]:
    """The module or file that a spec names, and the function in it.

    Raises:
        BadModel: it names nothing.
    """
    where, colon, name = spec.rpartition(":")
    if not colon or not where or not name.isidentifier():
        raise BadModel(f"the {role} function {spec!r} names no function: {SPEC}")
    return where, name


def file_of(where: str, role: str) -> Path:
    """The file of a spec.

    Raises:
        BadModel: there is none.
    """
    path = Path(where).expanduser().resolve()
    if not path.is_file():
        raise BadModel(f"there is no file {where!r} for the {role} function: {SPEC}")
    return path


def _module(name: str, role: str) -> ModuleType:
    also_search_here()
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the user's module raises what it likes
        raise unloadable(name, role, error) from None


def _file(where: str, role: str) -> ModuleType:
    path = file_of(where, role)
    name = f"runtape_{role}_{path.stem}"
    plan = importlib.util.spec_from_file_location(name, path)
    assert plan is not None
    assert plan.loader is not None
    module = importlib.util.module_from_spec(plan)
    # As `python file.py` does, so that it can import what lies beside it.
    _also_search(path.parent)
    sys.modules[name] = module
    try:
        plan.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the user's module raises what it likes
        del sys.modules[name]
        raise unloadable(where, role, error) from None
    return module


def also_search_here() -> None:
    """Find modules as `python -m` does; a console script would not look in the folder it is started from."""
    _also_search(Path.cwd())


def _also_search(folder: Path) -> None:
    """At the end, so that nothing installed is shadowed; for good, as a function may import when it is called."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def unloadable(where: str, role: str, error: BaseException) -> BadModel:
    """The error for code that cannot be loaded."""
    return BadModel(f"the {role} function's file {where} could not be loaded: {type(error).__name__}: {error}")
