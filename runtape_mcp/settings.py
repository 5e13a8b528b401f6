"""What the launch decides: folders, the model, and what may be spent.

Nothing here can be changed by a tool argument, a prompt or a trace.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

JOB_CALLS = 150
"""Model calls one investigation may cost."""
PROCESS_CALLS = 1000
"""Model calls one server process may cost."""
ASK_ABOVE = 100
"""Model calls after which an investigation needs the user's word."""
LEASE = 180.0
"""Seconds without anyone asking after which a job stops spending."""
SLICE = 45.0
"""Seconds one call may last; clients built on the TypeScript SDK give up after 60."""
PATIENT = {"claude-code": 600.0}
"""Seconds for clients that are known to wait: their clock starts again with each progress message."""
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY")
"""Variables that hold keys; their values are used by the engine and never shown."""
PULSE = 5.0
"""Seconds between two progress messages at most."""


@dataclass(frozen=True, slots=True)
class Settings:
    """One launch of the server."""

    traces: Path
    """Folder of the traces; nothing outside it is read."""
    project: Path | None = None
    """Folder in which new tests may be written; None when the launch named none."""
    model_fn: str | None = None
    """Model function to rerun with, as `module:function` or `file.py:function`; None is the recorded API."""
    judge_fn: str | None = None
    """Function that judges answers in text, as `module:function` or `file.py:function`; None is none."""
    base_url: str | None = None
    """Address the user allows reruns and keys to go to."""
    max_calls: int = JOB_CALLS
    max_calls_named: bool = False
    """The launch names `max_calls` itself, which stands for the user's word where the client cannot ask."""
    process_calls: int = PROCESS_CALLS
    max_usd: float | None = None
    """US dollars that one server process may cost; None is no limit in money."""
    prices: str | None = None
    """File of prices; None is the public table, where money is limited."""
    ask_above: int = ASK_ABOVE
    slice: float | None = None
    """Seconds one call may last, for every client; None chooses by client."""
    lease: float = LEASE
    pulse: float = PULSE
    patient: Mapping[str, float] = field(default_factory=lambda: PATIENT)

    @property
    def state(self) -> Path:
        """Where the reply cache lives: in the project, else where the trace folder lies.

        That is the folder in which `runtape` keeps its replies when it is run in the project: each finds the other's.
        """
        return (self.project or self.traces.parent) / ".runtape"

    def seconds_for(self, client: str) -> float:
        """How long one call of this client may last."""
        return self.slice or self.patient.get(client.lower(), SLICE)


def parser() -> argparse.ArgumentParser:
    """The command line of `runtape-mcp`."""
    command = argparse.ArgumentParser(
        prog="runtape-mcp",
        description="MCP server over standard input and output: finds out why a recorded agent took a bad decision.",
        allow_abbrev=False,
    )
    add = command.add_argument
    add("--traces", metavar="DIR", help="folder of the traces (RUNTAPE_TRACES; default: traces in the project)")
    add("--project", metavar="DIR", help="folder in which new tests may be written (RUNTAPE_PROJECT; default: none)")
    add("--model-fn", metavar="SPEC", help="model function, module:function or file.py:function (RUNTAPE_MODEL_FN)")
    add("--judge-fn", metavar="SPEC", help="function that judges answers in text, as --model-fn (RUNTAPE_JUDGE_FN)")
    add("--base-url", metavar="URL", help="address that reruns and keys may go to (RUNTAPE_BASE_URL)")
    add(
        "--max-calls",
        metavar="N",
        type=_at_least_one,
        help=f"most model calls of one investigation (RUNTAPE_MAX_CALLS; default {JOB_CALLS})",
    )
    add(
        "--max-usd",
        metavar="USD",
        type=_dollars,
        help="most US dollars of one server process, all investigations together (RUNTAPE_MAX_USD; default: no limit)",
    )
    add(
        "--prices",
        metavar="FILE",
        help="file of prices for --max-usd (RUNTAPE_PRICES; default: those of the package genai-prices)",
    )
    add(
        "--slice",
        metavar="SECONDS",
        type=_seconds,
        help=f"longest wait of one call (RUNTAPE_SLICE; default {SLICE:.0f}, longer for clients known to wait)",
    )
    add("--check", action="store_true", help="print what this launch would serve, then end")
    add("--version", action="store_true", help="print the version, then end")
    return command


def from_launch(options: argparse.Namespace, environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings of a parsed command line; the environment fills what it leaves out.

    Raises:
        ValueError: an environment variable or the project folder is unusable; the text names it.
    """

    def chosen(name: str) -> str | None:
        given: str | None = getattr(options, name)
        return given or environment.get(f"RUNTAPE_{name.upper()}") or None

    def number(name: str, read: Callable[[str], float]) -> float | None:
        given: float | None = getattr(options, name)
        variable = f"RUNTAPE_{name.upper()}"
        text = environment.get(variable)
        if given is not None or not text:
            return given
        try:
            return read(text)
        except argparse.ArgumentTypeError as exc:
            raise ValueError(f"{variable}: {exc}") from None

    named = chosen("project")
    project = Path(named).expanduser().resolve() if named else None
    if project is not None and not project.is_dir():
        raise ValueError(f"--project {str(project)!r} is not a folder. Name the folder of your project.")
    traces = chosen("traces")
    folder = Path(traces).expanduser() if traces else (project or Path.cwd()) / "traces"
    named_calls = number("max_calls", _at_least_one)
    max_calls = int(named_calls or JOB_CALLS)
    max_usd, model_fn = number("max_usd", _dollars), chosen("model_fn")
    if max_usd is not None and model_fn is not None:
        raise ValueError("--max-usd cannot limit a model function, which names no price. Leave out it or --model-fn.")
    return Settings(
        traces=folder.resolve(),
        project=project,
        model_fn=model_fn,
        judge_fn=chosen("judge_fn"),
        base_url=chosen("base_url"),
        max_calls=max_calls,
        max_calls_named=named_calls is not None,
        process_calls=max(PROCESS_CALLS, max_calls),
        max_usd=max_usd,
        prices=chosen("prices"),
        slice=number("slice", _seconds),
    )


def read(arguments: Sequence[str], environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings of a command line."""
    return from_launch(parser().parse_args(arguments), environment)


def _at_least_one(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 1 or more")
    return value


def _seconds(text: str) -> float:
    return _above_zero(text, "seconds", 86_400)


def _dollars(text: str) -> float:
    return _above_zero(text, "US dollars", 1_000_000)


def _above_zero(text: str, what: str, most: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= most:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of {what} above 0")
    return value
