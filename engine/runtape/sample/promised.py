"""Whether a spec can name a function, as far as that is seen without running the code."""

from __future__ import annotations

import ast
import difflib
import importlib.util
from collections.abc import Iterator

from ..errors import BadModel
from .resolve import SPEC, also_search_here, file_of, parts_of, unloadable


def check_spec(spec: str, role: str = "model") -> None:
    """Refuse a spec that names no function, before anything is done for the sake of it.

    What only the code can tell is left to it: names that it makes as it runs, or takes over from elsewhere.

    Raises:
        BadModel: there is no such file or module, the file is no Python, or nothing in it has that name.
    """
    where, name = parts_of(spec, role)
    if not where.endswith(".py"):
        also_search_here()
        package = where.partition(".")[0]
        if importlib.util.find_spec(package) is None:
            raise unloadable(where, role, ModuleNotFoundError(f"No module named {package!r}"))
        return
    try:
        tree = ast.parse(file_of(where, role).read_bytes())
    except (OSError, SyntaxError, ValueError) as error:
        raise unloadable(where, role, error) from None
    names = set(_names(tree))
    if not names & {name, "*", "globals", "__getattr__"}:
        near = difflib.get_close_matches(name, sorted(names), 1)
        raise BadModel(f"{where} has no function {name!r}" + (f"; did you mean {near[0]!r}?" if near else f": {SPEC}"))


def _names(tree: ast.AST) -> Iterator[str]:
    """Every name that a module gives to something or uses, `*` where it takes over those of another."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Name(id=name):
                yield name
            case ast.alias(name=name, asname=alias):
                yield alias or name
            case _:
                pass
