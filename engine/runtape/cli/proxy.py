"""`runtape proxy`: record agents of any language on their way to a model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from . import console


def command(
    *,
    upstream: Annotated[
        str, typer.Option(metavar="URL", help="The model's address; requests go there and nowhere else.")
    ],
    port: Annotated[
        int, typer.Option(min=0, metavar="N", max=65535, help="Port on 127.0.0.1; 0 takes a free one.")
    ] = 8111,
    folder: Annotated[
        Path | None,
        typer.Option("--dir", metavar="DIR", help="Folder for traces; by default $RUNTAPE_DIR, else ./traces."),
    ] = None,
) -> int:
    """Record what agents of any language send to a model, by a proxy that they use in its place.

    Set the agent's base URL (OPENAI_BASE_URL, ANTHROPIC_BASE_URL) to the printed address. Each conversation becomes a
    trace; the header x-runtape-run names one. Ctrl-C ends the proxy and the traces.

    Example: runtape proxy --upstream https://api.openai.com/v1 --port 8111
    """
    from ..proxy.serve import serve  # an HTTP server and client, for this command alone

    serve(upstream, port, folder, _tell)
    return console.DONE


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
