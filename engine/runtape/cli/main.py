"""The command line `runtape`: one file per command, errors turned into one message and an exit status."""

from __future__ import annotations

import functools
import io
import sys
from collections.abc import Callable
from typing import TypeAlias

import typer

from ..errors import RuntapeError
from ..installed import conflict, version
from . import cache, console, demo, doctor, fix, import_traces, ls, odds, proxy, replay, rerun, show, test, why

Command: TypeAlias = Callable[..., int]


def _exits_with_status(command: Command) -> Command:
    """The command as the library wants it: its status is raised, and Ctrl-C has a status of its own."""

    @functools.wraps(command)
    def run_command(*arguments: object, **options: object) -> int:
        try:
            status = command(*arguments, **options)
        except KeyboardInterrupt:
            status = console.INTERRUPTED
        raise typer.Exit(status)

    return run_command


app = typer.Typer(
    name="runtape",
    help="Find out why a recorded AI agent took a bad decision, measure fixes, and keep it fixed.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for _name, _module in (
    ("demo", demo),
    ("ls", ls),
    ("show", show),
    ("why", why),
    ("odds", odds),
    ("rerun", rerun),
    ("fix", fix),
    ("test", test),
    ("import", import_traces),
    ("replay", replay),
    ("proxy", proxy),
    ("doctor", doctor),
):
    app.command(_name, context_settings=replay.ALLOWED if _module is replay else None)(
        _exits_with_status(_module.command)
    )
app.add_typer(cache.app, name="cache")


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


def main() -> None:
    """Console script."""
    for stream in (sys.stdout, sys.stderr):
        # A report that was paid for is not lost because the terminal cannot show one of its characters.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(run(sys.argv[1:]))
