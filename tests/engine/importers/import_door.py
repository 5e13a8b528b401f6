"""Files imported through the command line, and the traces that came of it."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import runtape
from runtape.cli.main import run
from runtape.trace.fidelity import Fidelity, fidelity_in


@dataclass(frozen=True)
class Imported:
    """What one `runtape import` told and wrote."""

    status: int
    told: dict[str, Any]
    traces: list[runtape.Trace]

    @property
    def calls(self) -> int:
        """Model calls in the traces."""
        return sum(len(trace.calls) for trace in self.traces)

    @property
    def format(self) -> dict[str, Any]:
        """What is told of the one format."""
        [only] = self.told["formats"]
        return only

    @property
    def trace(self) -> runtape.Trace:
        """The one trace."""
        [only] = self.traces
        return only

    @property
    def skipped(self) -> dict[str, int]:
        """How many records were skipped for each reason, over all formats, files that were not read included."""
        told = [(s["reason"], s["count"]) for format_ in self.told["formats"] for s in format_["skipped"]]
        return dict([*told, *((file["reason"], 1) for file in self.told["unread"])])


def import_files(folder: Path, *files: Path, options: tuple[str, ...] = ()) -> Imported:
    """Import files into a new folder of traces."""
    out = folder / "imported"
    shown, complained = io.StringIO(), io.StringIO()
    with redirect_stdout(shown), redirect_stderr(complained):
        status = run(["import", *map(str, files), "-o", str(out), "--json", *options])
    refused: dict[str, Any] = {"calls": 0, "formats": [], "unread": [], "reason": complained.getvalue()}
    told: dict[str, Any] = json.loads(shown.getvalue()) if shown.getvalue() else refused
    paths = [Path(trace["path"]) for format_ in told["formats"] for trace in format_["traces"]]
    return Imported(status, told, [runtape.load(path) for path in paths])


def import_data(folder: Path, file: str, data: bytes, options: tuple[str, ...] = ()) -> Imported:
    """Import the content of one file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / file
    path.write_bytes(data)
    return import_files(folder, path, options=options)


def bodies(trace: runtape.Trace) -> list[dict[str, Any]]:
    """The bodies of all requests."""
    return [trace.request(call.request).body for call in trace.calls]


def fidelities(trace: runtape.Trace) -> list[Fidelity]:
    """The labels of all requests."""
    return [fidelity_in(call.request.meta) for call in trace.calls]


def tool_runs(trace: runtape.Trace) -> list[tuple[str, Any, Any]]:
    """Name, arguments and result of every tool run."""
    results = {event.parent: event.payload for event in trace.events if event.type == "tool_result"}
    return [
        (str(event.payload["name"]), event.payload.get("arguments"), results.get(event.id, {}).get("result"))
        for event in trace.events
        if event.type == "tool_call"
    ]
