"""`runtape import`: traces that something else recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ..errors import BadInput
from ..importers.importing import import_sources
from ..importers.source import Source, sources
from ..importers.supplied import Supplied
from ..trace.lookup import trace_folder
from ..wire.values import Json, JsonObject
from . import console, options, values
from .import_page import import_fields, import_page
from .langfuse_server import fetched


def command(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...", help="Files or folders (also gzip and zip), `-` for standard input, or `langfuse:TRACE`."
        ),
    ],
    *,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="DIR", help="Where traces go; the trace folder by default.")
    ] = None,
    format: Annotated[
        str | None, typer.Option("--format", metavar="NAME", help="Take every file as of this format.")
    ] = None,
    tools: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A JSON list of tools, for calls whose source kept none.")
    ] = None,
    system: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The system prompt, for calls whose source kept none.")
    ] = None,
    params: Annotated[
        str | None, typer.Option(metavar="JSON|FILE", help="Parameters that the source did not keep.")
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The server that reruns of these calls go to.", callback=values.base_url),
    ] = None,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="The model that reruns of these calls ask.")] = None,
    as_json: options.AsJson = False,
) -> int:
    """Turn recordings of other tools into traces, and say how truly each call could be rebuilt.

    Example: runtape import spans.jsonl
    """
    supplied = Supplied(values.text_of(system), _tools(tools), _params(params), base_url, model)
    with fetched(files) as paths, console.reading() as bar, sources(paths, bar.advance) as found:
        bar.expect(sum(source.size or 0 for source in found if isinstance(source, Source)))
        outcome = import_sources(found, out or trace_folder(), format, supplied)
    if as_json:
        console.print_json(import_fields(outcome))
    else:
        console.print_page(import_page(outcome))
    return console.DONE if outcome.calls else console.DOES_NOT_HOLD


def _tools(path: Path | None) -> list[Json] | None:
    text = values.text_of(path)
    if text is None:
        return None
    value = _json(text, f"--tools {str(path)!r}")
    listed = value.get("tools") if isinstance(value, dict) else value
    if not isinstance(listed, list):
        raise BadInput(f"--tools {str(path)!r} holds no JSON list of tools")
    return listed


def _params(text: str | None) -> JsonObject | None:
    if text is None:
        return None
    given = text if text.lstrip().startswith("{") else values.text_of(Path(text)) or ""
    value = _json(given, "--params")
    if not isinstance(value, dict):
        raise BadInput("--params is no JSON object")
    return value


def _json(text: str, where: str) -> Json:
    try:
        value: Json = json.loads(text)
    except ValueError as error:
        raise BadInput(f"{where} is not JSON: {error}") from error
    return value
