"""Arguments and flags that several commands share, each described once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from ..errors import BadInput

TraceArgument: TypeAlias = Annotated[
    str, typer.Argument(metavar="TRACE", help="A trace: its path, its name in the trace folder, or `last`.")
]
EventArgument: TypeAlias = Annotated[
    str, typer.Argument(metavar="EVENT", help="The decision: an event number, `tool:NAME` (its last call), or `last`.")
]
Tool: TypeAlias = Annotated[str | None, typer.Option(help="The decision is that this tool is called.")]
Match: TypeAlias = Annotated[
    str | None, typer.Option(metavar="REGEX", help="The decision is that arguments or text match this pattern.")
]
ExactArgs: TypeAlias = Annotated[
    bool, typer.Option("--exact-args", help="The same tool with other arguments is another decision.")
]
ModelFn: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="SPEC", help="Answer with a Python function: `module:function` or `file.py:function`."),
]
BaseUrl: TypeAlias = Annotated[
    str | None, typer.Option(metavar="URL", help="Send reruns to this server (your key for it is used).")
]
NoCache: TypeAlias = Annotated[bool, typer.Option("--no-cache", help="Neither read nor keep replies on disk.")]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def cache_dir(*, no_cache: bool) -> str | None:
    """Where replies are kept: `.runtape` in the working folder, or nowhere."""
    return None if no_cache else ".runtape"


def event_reference(event: str) -> int | str:
    """An event number as an int, any other reference as it is."""
    return int(event) if event.isdecimal() else event


def read_text_option(path: Path | None) -> str | None:
    """The text of a file given by a flag; None when the flag was not given.

    Raises:
        BadInput: the file cannot be read as UTF-8 text.
    """
    if path is None:
        return None
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot read {str(path)!r}: {error}. Pass a UTF-8 text file.") from error


def candidates(texts: list[str]) -> list[dict[str, Any]]:
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
