"""Functions and the data they carry, written as one hash that is the same in every process."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import re
import sys
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from enum import Enum
from pathlib import Path, PurePath
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import TypeGuard

SCALARS = (str, bytes, int, float, complex, bool, type(None), type(...), type(NotImplemented), range)
"""Types whose `repr` says all there is."""

MOST = 50_000
"""Values in one function's state that are looked at."""

POINTER = (sys.maxsize.bit_length() + 1) // 8
"""Bytes."""


class Opaque(Exception):
    """Raised when a function carries more than can be looked at."""


def joined(*parts: str) -> str:
    """One hash over some texts, in their order."""
    hashed = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        hashed.update(f"{len(data)}:".encode() + data)
    return hashed.hexdigest()


def file_of(thing: object) -> str | None:
    """A hash of the source file that a module, class or function comes from; None when there is none."""
    try:
        return hashlib.sha256(Path(inspect.getsourcefile(thing) or "").read_bytes()).hexdigest()  # type: ignore[arg-type]  # TypeError is caught
    except (OSError, TypeError):
        return None


class Writer:
    """Writes values as hashes, and collects those whose state shows no data."""

    def __init__(self) -> None:
        self.opaque: list[object] = []
        self._path: list[object] = []
        """The values that are being written, outermost first: one that is reached again is written as its place."""
        self._looked_at = 0

    def carrier(self, function: object) -> str:
        """A function, method, partial or callable object, with everything that it carries."""
        if isinstance(function, MethodType):
            return joined("method", self.carrier(function.__func__), self._state(function.__self__))
        if _is_partial(function):
            carried = (function.args, function.keywords, vars(function))
            return joined("partial", self.carrier(function.func), *map(self.of, carried))
        if isinstance(function, (FunctionType, type, BuiltinFunctionType)):
            return self.of(function)
        return self._state(function)

    def of(self, value: object) -> str:
        """Any value.

        Raises:
            Opaque: it is too large.
        """
        self._looked_at += 1
        if self._looked_at > MOST:
            raise Opaque
        if type(value) in SCALARS:
            return joined(type(value).__name__, repr(value))
        for depth, outer in enumerate(self._path):
            if outer is value:
                return joined("again", str(len(self._path) - depth))
        self._path.append(value)
        try:
            return self._compound(value)
        finally:
            self._path.pop()

    def _compound(self, value: object) -> str:
        kind = type(value)
        if isinstance(value, Enum):
            return joined("enum", self.of(kind), value.name)
        if isinstance(value, PurePath):
            return joined("path", kind.__name__, str(value))
        if isinstance(value, ModuleType):
            return joined("module", value.__name__)
        if isinstance(value, CodeType):
            return self._code(value)
        if isinstance(value, FunctionType):
            return self._function(value)
        if isinstance(value, MethodType) or _is_partial(value):
            return self.carrier(value)
        if _is_static(value):
            return joined(kind.__name__, self.of(value.__func__))
        if isinstance(value, property):
            return joined("property", *map(self.of, (value.fget, value.fset, value.fdel)))
        if isinstance(value, BuiltinFunctionType):
            return joined("builtin", str(value.__module__), value.__qualname__, self.of(value.__self__))
        if isinstance(value, type):
            return self._class(value)
        if _is_sequence(value):
            return joined(kind.__name__, *map(self.of, value))
        if _is_set(value):
            return joined(kind.__name__, *sorted(map(self.of, value)))
        if _is_dict(value):
            return joined("dict", *(self.of(part) for item in value.items() for part in item))
        return self._object(value)

    def _function(self, function: FunctionType) -> str:
        cells = [self._cell(cell) for cell in function.__closure__ or ()]
        source = file_of(function)
        names = [function.__module__ or "", function.__qualname__, source or ""]
        carried = (function.__code__, function.__defaults__, function.__kwdefaults__, vars(function))
        read: list[str] = []
        if source is None:
            # Typed into a shell or a notebook: no file tells what the names mean.
            known = function.__globals__
            read = [self.of(known[name]) for name in sorted(_names(function.__code__)) if name in known]
        return joined("function", *names, *map(self.of, carried), joined(*cells), *read)

    def _code(self, code: CodeType) -> str:
        names = [*code.co_names, *code.co_freevars, *code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]]
        handlers = getattr(code, "co_exceptiontable", b"")  # from 3.11
        fixed = (code.co_code, code.co_flags, handlers, code.co_consts)
        return joined("code", *map(self.of, fixed), *names)

    def _cell(self, cell: CellType) -> str:
        try:
            return self.of(cell.cell_contents)
        except ValueError:
            return "not bound yet"

    def _class(self, kind: type) -> str:
        names = [kind.__module__, kind.__qualname__]
        bases = [self.of(base) for base in kind.__bases__]
        source = file_of(kind)
        module = sys.modules.get(kind.__module__)
        # Without a source file: a module with a spec is an extension, one without is a shell or a notebook.
        if found_in(module, kind.__qualname__) is kind and (source or getattr(module, "__spec__", None)):
            return joined("class", *names, source or "", *bases)
        # Made while the program runs: what it is stands in no file, or only in part.
        body = [part for name, value in sorted(_body(kind).items()) for part in (name, self.of(value))]
        return joined("class made here", *names, source or "", *bases, *body)

    def _state(self, thing: object) -> str:
        """A callable object, or the object of a method: its class and each of its attributes."""
        if isinstance(thing, (type, ModuleType)) or type(thing) in SCALARS:
            return self.of(thing)
        shown = _shown(thing)
        if shown is None:
            self.opaque.append(thing)
            shown = {}
        self._path.append(thing)
        try:
            written = [part for name in sorted(shown) for part in (name, self.of(shown[name]))]
            return joined("state", self.of(type(thing)), *written)
        finally:
            self._path.pop()

    def _object(self, thing: object) -> str:
        """An object somewhere inside: its state where all of it is plain data.

        One that holds anything else (a client, a logger) is itself opaque: what is deeper in it changes with use.
        """
        shown = _shown(thing)
        before = len(self.opaque)
        if shown is not None:
            written = [part for name in sorted(shown) for part in (name, self.of(shown[name]))]
            if len(self.opaque) == before:
                return joined("object", self.of(type(thing)), *written)
        self.opaque[before:] = [thing]
        plain = {name: value for name, value in (shown or {}).items() if type(value) in SCALARS}
        return joined("opaque", type(thing).__qualname__, self.of(plain))


_NOT_THE_BODY = re.compile(r"_abc_impl|__(annotat\w+|dict|doc|firstlineno|module|static_attributes|weakref)__")
"""Names in a class that say nothing about what it does, or not the same in every process."""


def _is_partial(value: object) -> TypeGuard[functools.partial[object]]:
    return isinstance(value, functools.partial)


def _is_static(value: object) -> TypeGuard[staticmethod[..., object]]:
    return isinstance(value, (staticmethod, classmethod))  # a class method is held in the same way


def _is_sequence(value: object) -> TypeGuard[Sequence[object]]:
    return type(value) in (list, tuple)


def _is_set(value: object) -> TypeGuard[AbstractSet[object]]:
    return type(value) in (set, frozenset)


def _is_dict(value: object) -> TypeGuard[dict[object, object]]:
    return type(value) is dict


def found_in(module: ModuleType | None, name: str) -> object:
    """What a qualified name leads to; None when it leads nowhere."""
    found: object = module
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _body(kind: type) -> dict[str, object]:
    return {
        name: value
        for name, value in vars(kind).items()
        if not _NOT_THE_BODY.fullmatch(name) and not isinstance(value, (MemberDescriptorType, GetSetDescriptorType))
    }


def _shown(thing: object) -> dict[str, object] | None:
    """The attributes of an object; None when it has state that they do not show."""
    shown: dict[str, object] = {}
    slots = 0
    kind = type(thing)
    for base in kind.__mro__:
        for name, slot in vars(base).items():
            if isinstance(slot, MemberDescriptorType):
                slots += "__slots__" in vars(base)
                try:
                    shown[f"{base.__qualname__}.{name}"] = slot.__get__(thing)
                except AttributeError:
                    continue  # not set
    with contextlib.suppress(AttributeError):  # slots only
        shown.update(object.__getattribute__(thing, "__dict__"))
    # The same account that pickle keeps: what is larger than its attributes has something that they do not show.
    seen = object.__basicsize__ + POINTER * (slots + (kind.__dictoffset__ > 0) + (kind.__weakrefoffset__ > 0))
    return None if kind.__itemsize__ or kind.__basicsize__ > seen else shown


def _names(code: CodeType) -> set[str]:
    """The names that code reads, that of inner functions included."""
    inner = (const for const in code.co_consts if isinstance(const, CodeType))
    return set(code.co_names).union(*map(_names, inner))
