"""What tells one model function from another, so that no function is answered with another one's replies.

A fingerprint covers the code with everything that is fixed in it, the text of the source file, and the plain data that
the function carries: defaults, closure, attributes, the arguments of a partial, the object of a method. It does not
cover what a function reads when it runs: other files, the environment, and what the globals of its file hold beyond
what the text of the file says.

What carries state that shows no data (a client, a lock, an iterator) is told apart by which object it is, and so only
within one process. A function that stands in a source file under its own name needs none of that: the text of the file
says how its state came to be, and its replies are found again by every later process.
"""

from __future__ import annotations

import functools
import inspect
import sys
import weakref
from dataclasses import dataclass
from types import FunctionType, MethodType, ModuleType
from uuid import uuid4

from .written import Opaque, Writer, file_of, found_in, joined


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Equal for functions that answer alike, as far as their code and data say."""

    text: str
    opaque: str | None
    """What the function carries that another process cannot recognise, if anything; its type."""


def name_of(function: object) -> str:
    """The name of a function, of the one behind a partial or a method, or of the class of a callable object."""
    inner = _inner(function)
    named = inner if isinstance(inner, (FunctionType, type)) else type(inner)
    return named.__qualname__


def fingerprint(function: object, module: ModuleType | None = None) -> Fingerprint:
    """Changes when the function does. `module`: where the function was found by its name."""
    writer = Writer()
    try:
        written = writer.carrier(function)
    except (RecursionError, Opaque):
        # Too large or too deep to be written: known by its name and its object.
        writer.opaque[:] = [function]
        written = joined(name_of(function))
    if not writer.opaque:
        return Fingerprint(written[:16], None)
    anchor = _file_that_names(function, module)
    if anchor is not None:
        return Fingerprint(joined(written, anchor)[:16], None)
    nonces = [_nonce(thing) for thing in writer.opaque]
    return Fingerprint(joined(written, *nonces)[:16], type(writer.opaque[0]).__qualname__)


def _inner(function: object) -> object:
    """What is behind partials, methods and wrappers."""
    seen: list[object] = []
    while not any(function is known for known in seen):
        seen.append(function)
        if isinstance(function, functools.partial):
            function = function.func
        elif isinstance(function, MethodType):
            function = function.__func__
        else:
            function = inspect.getattr_static(function, "__wrapped__", function)
    return function


def _file_that_names(function: object, module: ModuleType | None) -> str | None:
    """The text of the source file in which `function` has a name that leads to it; None when there is no such file."""
    if module is None:
        module = sys.modules.get(str(getattr(function, "__module__", "")))
        if found_in(module, str(getattr(function, "__qualname__", ""))) is not function:
            return None
    return file_of(module)


_NONCES: dict[int, tuple[str, object]] = {}
"""By id, the nonce of an object; and the object where nothing else would keep its id its own."""


def _nonce(thing: object) -> str:
    known = _NONCES.get(id(thing))
    if known is None:
        kept: object = None
        try:
            weakref.finalize(thing, _NONCES.pop, id(thing), None).atexit = False
        except TypeError:
            kept = thing
        known = _NONCES[id(thing)] = (uuid4().hex, kept)
    return known[0]
