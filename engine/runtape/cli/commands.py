"""Which commands there are. The file of a command is loaded when the command is run or asked for its help."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, cast

import typer
from typer.core import TyperGroup
from typer.main import get_command

from . import console, typed
from .grouped import flags, gathered


@dataclass(frozen=True, slots=True)
class Listed:
    """One command as the list of all of them shows it."""

    module: str
    """In this package; it has the function `command`, or for a group of commands the Typer `app`."""
    line: str
    """The first line of its help."""


COMMANDS: Final = {
    "demo": Listed(
        "demo", "Record an example agent that forwards an invoice to a stranger, explain it, fix it, and write a test."
    ),
    "ls": Listed("ls", "List recorded runs, newest first."),
    "summary": Listed("summary", "Count what a recorded run did: calls, tokens, tools, time and errors."),
    "timeline": Listed("timeline", "Show the events of a recorded run, one line each, in pages."),
    "show": Listed("show", "Show the timeline of a recorded run, or everything in one event."),
    "context": Listed(
        "context", "Show what the model saw at a decision: each message in pieces with their references."
    ),
    "grep": Listed("grep", "Show where a text stands in a recorded run, and where it first entered it."),
    "diff": Listed("diff", "Show how the contexts of two decisions differ."),
    "view": Listed(
        "view", "Look at a recorded run in the browser: timeline, events, what the model saw, where a text came from."
    ),
    "browse": Listed("browse", "Walk through a recorded run in the terminal, and ask why of the event one is at."),
    "why": Listed(
        "why",
        "Find the sentence that a recorded decision depends on, by rerunning that one model call with parts left out.",
    ),
    "odds": Listed("odds", "Rerun a recorded decision as it was and count how often it is made again."),
    "rerun": Listed(
        "rerun", "Ask the model again, with the recorded context or with a change to it, and count what it does."
    ),
    "fix": Listed("fix", "Measure fixes on the exact context that failed, and on decisions that they must not break."),
    "test": Listed("test", "Write a regression test for a recorded decision, with the trace beside it."),
    "import": Listed(
        "import_traces", "Turn recordings of other tools into traces, and say how truly each call could be rebuilt."
    ),
    "replay": Listed(
        "replay", "Run an agent's script with the recorded replies and tool results in place of models and tools."
    ),
    "proxy": Listed(
        "proxy", "Record what agents of any language send to a model, by a proxy that they use in its place."
    ),
    "doctor": Listed("doctor", "Check this installation, the trace folder, and that secrets do not get into traces."),
    "cache": Listed("cache", "Show, prune, export or import the replies that were paid for."),
}
"""In the order in which they are listed."""


class Commands(TyperGroup):
    """The commands by name; Typer reads the signature of one only when it is wanted."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        # Only its keys are read: for the near name when one is misspelled.
        self.commands = cast("Any", dict.fromkeys(COMMANDS))

    def list_commands(self, ctx: Any) -> list[str]:
        """Every name, in order."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """One command, loaded; None when there is none of that name."""
        del ctx
        return loaded(cmd_name) if cmd_name in COMMANDS else None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The list in `runtape --help`, for which no command is loaded."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, listed.line) for name, listed in COMMANDS.items()])


def loaded(name: str) -> Any:
    """The command of that name, for Typer to run."""
    module = import_module(f".{COMMANDS[name].module}", __package__)
    group = getattr(module, "app", None)
    if isinstance(group, typer.Typer):
        return get_command(group)
    alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    alone.command(name, context_settings=getattr(module, "ALLOWED", None))(_exits_with_status(name, module.command))
    return get_command(alone)


def _exits_with_status(name: str, command: Callable[..., int]) -> Callable[..., int]:
    """The command as the library wants it: each flag a parameter, its status raised; Ctrl-C has a status of its own."""
    signature = flags(command)

    @functools.wraps(command)
    def run_command(**given: object) -> int:
        typed.begin(name, signature.parameters.values(), given)
        try:
            status = command(**gathered(command, given))
        except KeyboardInterrupt:
            status = console.INTERRUPTED
        raise typer.Exit(status)

    # the library reads both.
    run_command.__dict__["__signature__"] = signature
    run_command.__annotations__ = {name: flag.annotation for name, flag in signature.parameters.items()}
    return run_command
