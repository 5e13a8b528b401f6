"""The command line `runtape`: errors turned into one message and an exit status."""

from __future__ import annotations

import gc
import io
import sys

import typer

from ..errors import RuntapeError
from ..installed import conflict, version
from . import console
from .commands import Commands

app = typer.Typer(
    name="runtape",
    cls=Commands,
    help="Find out why a recorded AI agent took a bad decision, measure fixes, and keep it fixed.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - the library calls it with the flag's value
    if wanted:
        sys.stdout.write(f"runtape {version()}\n")
        raise typer.Exit


@app.callback()
def _common(
    *,
    show_version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Find out why a recorded AI agent took a bad decision, measure fixes, and keep it fixed."""


def run(arguments: list[str]) -> int:
    """Run one command line; returns its exit status and never raises for a deliberate error."""
    if problem := conflict():
        console.complain(problem)
        return console.BAD_INPUT
    try:
        app(arguments)
    except RuntapeError as error:
        console.complain(str(error))
        return console.exit_status(error)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else console.DONE
    return console.DONE


SELDOM = (200_000, 30, 30)
"""Allocations between garbage collections, and collections between larger ones: a full one of all that is imported
takes a tenth of a second, and comes between two requests."""


def main() -> None:
    """Console script."""
    gc.set_threshold(*SELDOM)
    for stream in (sys.stdout, sys.stderr):
        # A report that was paid for is not lost because the terminal cannot show one of its characters.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(run(sys.argv[1:]))
