"""`runtape doctor`: whether recording works here, and whether secrets stay out of traces."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, cast

import typer

from ..errors import BadInput, RuntapeError
from ..installed import conflict, version
from ..ops.canary import canaries, leaks
from ..record.recorder import DISABLED, is_disabled
from ..sample.resolve import named
from ..text import visible
from ..trace.lookup import FOLDER, trace_folder
from ..trace.redact import Redact
from . import console, options

OURS_ONLY = 0o077
"""Permissions that let others than the owner at a file."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    ok: bool
    told: str
    """What was found; for a problem also what to do."""


def command(
    *,
    redact: Annotated[
        str | None, typer.Option(metavar="SPEC", help="Your redact function, as module:function or file.py:function.")
    ] = None,
    canary: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="A text that must not get into a trace; may be given again."),
    ] = None,
    as_json: options.AsJson = False,
) -> int:
    """Check this installation, the trace folder, and that secrets do not get into traces.

    Made-up secrets of every known kind are recorded into a temporary trace, which is then searched for them.

    Example: runtape doctor
    """
    function = None if redact is None else cast("Redact", named(redact, "redact").value)
    if function is not None and not callable(function):
        raise BadInput(f"--redact {redact!r} is of type {type(function).__name__}, not a function.")
    own = canary or []
    if any(not text.strip() for text in own):
        raise BadInput("--canary needs a text to look for.")
    checks = [_installation(), _switched_on(), _folder(), _redaction(own, function)]
    if as_json:
        console.print_json({"checks": [{"name": c.name, "ok": c.ok, "told": c.told} for c in checks]})
    else:
        for check in checks:
            sys.stdout.write(f"{'ok     ' if check.ok else 'PROBLEM'}  {check.name}: {visible(check.told)}\n")
    return console.DONE if all(check.ok for check in checks) else console.DOES_NOT_HOLD


def _installation() -> Check:
    problem = conflict()
    return Check(
        "installation", problem is None, problem or f"runtape-mcp {version()}, Python {sys.version.split()[0]}"
    )


def _switched_on() -> Check:
    off = is_disabled()
    return Check("recording", not off, f"{DISABLED} is set: nothing is recorded. Unset it." if off else "switched on")


def _folder() -> Check:
    folder = trace_folder()
    where = f"{folder.absolute()}"
    if not folder.exists():
        parent = next((above for above in folder.absolute().parents if above.exists()), None)
        if parent is not None and os.access(parent, os.W_OK):
            return Check("trace folder", ok=True, told=f"{where} is made by the first recording")
        return Check("trace folder", ok=False, told=f"{where} cannot be made. Set {FOLDER} to a folder of yours.")
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        return Check("trace folder", ok=False, told=f"{where} cannot be written. Set {FOLDER} to a folder of yours.")
    traces = sorted(folder.glob("*.jsonl"))
    open_to_others = [path.name for path in traces if path.stat().st_mode & OURS_ONLY] if os.name == "posix" else []
    if open_to_others:
        shown = ", ".join(open_to_others[:3]) + (" and others" if len(open_to_others) > 3 else "")
        told = f"{len(open_to_others)} of {len(traces)} traces can be read by others: {shown}. Mend it with chmod 600."
        return Check("trace folder", ok=False, told=told)
    return Check("trace folder", ok=True, told=f"{where}, {len(traces)} traces, readable by you alone")


def _redaction(own: list[str], function: Redact | None) -> Check:
    recorded = canaries(own)
    # Where a recorder that is switched off would prove nothing.
    before = os.environ.pop(DISABLED, None)
    try:
        with TemporaryDirectory() as folder:
            found = leaks(recorded, Path(folder), function)
    except (OSError, RuntapeError) as error:
        return Check("redaction", ok=False, told=f"no trace could be recorded: {error}")
    finally:
        if before is not None:
            os.environ[DISABLED] = before
    kinds = len({canary.kind for canary in recorded})
    if not found:
        return Check("redaction", ok=True, told=f"none of {len(recorded)} secrets of {kinds} kinds is in the trace")
    leaked = ", ".join(dict.fromkeys(f"{leak.kind} ({leak.places} places)" for leak in found))
    told = f"{len(found)} of {len(recorded)} secrets are in the trace: {leaked}. Pass record(redact=...) a function."
    return Check("redaction", ok=False, told=told)
