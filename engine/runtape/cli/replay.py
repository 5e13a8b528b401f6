"""`runtape replay`: run an agent's script against a recorded run."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Literal

import typer

from ..errors import BadInput, ReplayDiverged
from ..playback.player import replay
from ..record.recorder import DISABLED
from ..trace.lookup import FOLDER
from . import console
from .options import trace_names

ALLOWED = {"allow_extra_args": True, "ignore_unknown_options": True, "allow_interspersed_args": False}
"""What follows the script is the script's own."""


def command(
    context: typer.Context,
    trace: Annotated[
        str, typer.Argument(metavar="TRACE", help="A trace file, its name, or `last`.", autocompletion=trace_names)
    ],
    script: Annotated[Path, typer.Argument(metavar="SCRIPT", help="The Python file that was recorded.")],
    *,
    on_diverge: Annotated[
        Literal["stop", "live"],
        typer.Option(metavar="stop|live", help="At the first difference: stop, or go on with real calls."),
    ] = "stop",
) -> int:
    """Run an agent's script with the recorded replies and tool results in place of models and tools.

    Every model call through httpx and every tool decorated with rec.tool is answered from the trace. Give the script's
    own arguments after its name. Exit status 1: the script did something that is not in the record.

    Example: runtape replay last my_agent.py
    """
    if not script.is_file():
        raise BadInput(f"there is no script at {str(script)!r}. Give the Python file that was recorded.")
    replayed = replay(trace, on_diverge=on_diverge, capture=True)
    # Tools are replayed where they are recorded: switched off, they would run.
    os.environ.pop(DISABLED, None)
    sys.argv = [str(script), *context.args]
    sys.path.insert(0, str(script.resolve().parent))
    try:
        # The script records itself once more; that trace is not the newest run of anybody.
        with TemporaryDirectory() as folder, replayed:
            os.environ[FOLDER] = folder
            runpy.run_path(str(script), run_name="__main__")
    except ReplayDiverged as diverged:
        console.complain(f"the run diverged from the record.\n{diverged}")
        return console.DOES_NOT_HOLD
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
    if replayed.divergence is not None:
        return console.DOES_NOT_HOLD
    left = replayed.left
    if left:
        events = ", ".join(map(str, left))
        console.complain(f"recorded calls that the script did not make again: events {events}")
        return console.DOES_NOT_HOLD
    console.complain("the run went as recorded")
    return console.DONE
