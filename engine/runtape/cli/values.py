"""Checks of what flags are given, made when the command line is read: before a run is opened or a model is asked.

Each takes and returns the value of a flag, None for one that was not given, and raises `BadInput` for one that cannot
be right. What is needed for it is imported for it alone.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..errors import BadInput

Texts = list[str] | None


def condition(text: str | None) -> str | None:
    """A condition on arguments."""
    from ..decision.condition_text import condition as read

    if text is not None:
        read(text)
    return text


def pattern(text: str | None) -> str | None:
    """A regular expression."""
    from ..decision.pattern import compiled

    if text is not None:
        compiled(text)
    return text


def arguments(texts: Texts) -> Texts:
    """Names of arguments."""
    from ..decision.paths import argument

    for text in texts or ():
        argument(text)
    return texts


def question(text: str | None) -> str | None:
    """A question for a judge."""
    from ..ops.judges import JudgeModel

    if text is not None:
        JudgeModel(text)
    return text


def model_function(spec: str | None) -> str | None:
    """A model function; its code is read, not run."""
    return _function(spec, "model")


def judge_function(spec: str | None) -> str | None:
    """A function that judges; its code is read, not run."""
    return _function(spec, "judge")


def base_url(url: str | None) -> str | None:
    """The address of a server."""
    from ..sample.endpoint import host_of

    if url is not None:
        host_of(url)
    return url


def prices(source: str | None) -> str | None:
    """A file of prices, or the public table."""
    from ..sample.prices import Prices

    if source is not None:
        Prices(source)
    return source


def readable(path: Path | None) -> Path | None:
    """A text file to be read."""
    text_of(path)
    return path


def text_of(path: Path | None) -> str | None:
    """The text of a file; None without one.

    Raises:
        BadInput: the file cannot be read as UTF-8 text.
    """
    if path is None:
        return None
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot read {str(path)!r}: {error}. Pass a UTF-8 text file.") from error


def writable(path: Path | None) -> Path | None:
    """A file to be written, in a folder that exists."""
    if path is not None and (path.is_dir() or not path.parent.is_dir()):
        what = "it is a folder" if path.is_dir() else f"there is no folder {str(path.parent)!r}"
        raise BadInput(f"cannot write {str(path)!r}: {what}. Name a file in a folder that exists.")
    return path


def new_test(path: Path | None) -> Path | None:
    """A test file to be written."""
    from ..ops.placing import place

    if path is not None:
        place(path, None)
    return path


def replacement(text: str | None) -> str | None:
    """A replacement of one text by another."""
    from ..ops.changes import replacements

    replacements(text)
    return text


def marking(style: str | None) -> str | None:
    """A way to mark what tools returned."""
    from ..ops.changes import changes

    changes(mark=style)
    return style


def variants(texts: Texts) -> Texts:
    """Other words for a cause."""
    from ..ops.forms import checked

    checked(texts or ())
    return texts


def candidates(texts: Texts) -> Texts:
    """Candidate fixes."""
    from ..ops.proposals import proposed

    proposed(candidates_in(texts or []))
    return texts


def candidates_in(texts: list[str]) -> list[dict[str, Any]]:
    """Candidate fixes from the command line: a JSON object each, or a sentence to add to the system prompt.

    Raises:
        BadInput: a JSON object that does not parse.
    """
    found: list[dict[str, Any]] = []
    for text in texts:
        if not text.lstrip().startswith("{"):
            found.append({"add_system": text})
            continue
        try:
            found.append(json.loads(text))
        except ValueError as error:
            raise BadInput(f"--candidate {text!r} is no JSON object: {error}.") from error
    return found


def rate(below: float | None) -> float | None:
    """A rate to stay below."""
    if below is not None and not 0 < below < 1:
        raise BadInput(f"rate_below={below} is no rate between 0 and 1. Give one such as 0.1.")
    return below


def system_import(spec: str | None) -> str | None:
    """What a written test imports as the system prompt."""
    return _import(spec, "system_from")


def cleaner_import(spec: str | None) -> str | None:
    """What a written test imports to clean texts."""
    return _import(spec, "clean_with")


def guard_import(spec: str | None) -> str | None:
    """What a written test imports to check tool calls."""
    return _import(spec, "guard_with")


def _import(spec: str | None, option: str) -> str | None:
    from ..ops.rendering import parse_import

    if spec is not None:
        parse_import(spec, option)
    return spec


def _function(spec: str | None, role: str) -> str | None:
    from ..sample.promised import check_spec

    if spec is not None:
        check_spec(spec, role)
    return spec
