"""Recording, beside the public package `runtape` 0.5.0 and no recorder, in one run.

    python -m bench.recording [--peer PYTHON] [--kills 200]

Every measurement is a process of its own (`job.py`) with the interpreter of the package that is measured; the public
package's is the one given with --peer, or one that is made for this run. Overheads are differences to the same call
without a recorder, made in turns in the same process, in processor time of the calling thread (everything is written in
it, and nothing is waited for but the disk), so that they depend little on what else the machine does.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.beside import PUBLIC, peer_python

JOB = Path(__file__).with_name("job.py")


class Package:
    """One of the two, and a folder for what it writes."""

    def __init__(self, name: str, python: str, folder: Path) -> None:
        self.name = name
        self._python = python
        self._folder = folder
        self._count = 0

    def here(self) -> Path:
        """A new folder."""
        self._count += 1
        made = self._folder / f"{self._count}"
        made.mkdir(parents=True)
        return made

    def command(self, job: str, here: Path, *arguments: object) -> list[str]:
        """The command of a job."""
        return [self._python, str(JOB), job, str(here), *map(str, arguments)]

    def run(self, job: str, *arguments: object, **environment: str) -> dict[str, Any] | None:
        """What a job found; None when it failed."""
        done = subprocess.run(
            self.command(job, self.here(), *arguments),
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **environment},
            timeout=560,
        )
        if done.returncode != 0:
            print(f"    {self.name}: {job} failed: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
            return None
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return found


def best(package: Package, job: str, key: str, *arguments: object) -> float | None:
    """The least of three runs: what else the machine does only adds."""
    found = [run[key] for _ in range(3) if (run := package.run(job, *arguments)) is not None]
    return min(found, default=None)


def big_trace(path: Path, size: int) -> None:
    """A run whose events have this many bytes, in the format that both read."""
    words = "The customer asked about the delivery of order 4411 and when it would arrive. " * 70
    with path.open("wb") as file:

        def write(number: int, kind: str, parent: int | None, payload: dict[str, Any]) -> None:
            event = {"id": number, "ts": 1e9 + number, "type": kind, "parent": parent, "payload": payload, "meta": {}}
            file.write(json.dumps(event).encode() + b"\n")

        write(0, "run_start", None, {"run_id": "r", "format": "runtape", "version": 1, "name": "big"})
        number, base = 1, None
        while file.tell() < size:
            message = [{"role": "user", "content": words[:3000]}]
            held = {"messages": message} if base is None else {"base": base, "messages_append": message}
            call = {"provider": "openai", "api": "chat.completions", "model": "m", "params": {}}
            write(number, "llm_request", None, {**call, **held})
            raw = {"id": "x", "choices": [{"message": {"role": "assistant", "content": words[:4000]}}]}
            write(number + 1, "llm_response", number, {"text": words[:4000], "tool_calls": [], "raw": raw})
            write(number + 2, "tool_call", None, {"name": "get", "arguments": {"q": 1}})
            write(number + 3, "tool_result", number + 2, {"name": "get", "result": words[:5000]})
            # A conversation of 100 turns, then the next: a request is then as long as one that a model takes.
            base = None if (number // 4) % 100 == 99 else number
            number += 4


def events(path: Path) -> Iterator[dict[str, Any]]:
    """The whole lines of a file, as any JSON reader takes them."""
    for line in path.read_bytes().split(b"\n"):
        try:
            yield json.loads(line)
        except ValueError:
            continue


def kills(package: Package, count: int) -> tuple[int, int]:
    """Traces that can be read, and acknowledged events that are missing, after as many kills."""
    here, rng, readable, lost = package.here(), random.Random(11), 0, 0
    for seed in range(count):
        with subprocess.Popen(
            package.command("victim", here, seed), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            assert process.stdout is not None
            first = process.stdout.readline()
            time.sleep(rng.uniform(0, 0.05))
            process.send_signal(signal.SIGKILL)
            told = (first + process.stdout.read()).split(b"\n")[:-1]
        numbers = {int(line.split()[1]) for line in told}
        found = list(events(here / f"kill-{seed}.jsonl"))
        readable += bool(found)
        kept = {event.get("payload", {}).get("number") for event in found}
        lost += len(numbers - kept)
        (here / f"kill-{seed}.jsonl").unlink()
    return readable, lost


def together(package: Package) -> int:
    """Notes that can be read after two processes wrote 500 each into one path at once."""
    here = package.here()
    running = [subprocess.Popen(package.command("notes", here, name), stdout=subprocess.DEVNULL) for name in "ab"]
    for process in running:
        process.wait()
    found = {
        (event["payload"].get("who"), event["payload"].get("number"))
        for path in here.glob("*.jsonl")
        for event in events(path)
        if event["payload"].get("message", event["payload"].get("text")) == "shared" or "who" in event["payload"]
    }
    return len(found)


def told(value: object, form: str = "{}") -> str:
    return "failed" if value is None else form.format(value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", metavar="PYTHON", help="interpreter that has the public package installed")
    parser.add_argument("--kills", type=int, default=200, help="processes killed (default 200)")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python = peer_python(chosen.peer, folder / "peer")
        mine = Package("runtape-mcp", sys.executable, folder / "mine")
        peer = Package(PUBLIC, python, folder / "theirs")
        print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} processors\n")
        print(f"| what | asked for | {mine.name} | {peer.name} |")
        print("|---|---|---|---|", flush=True)

        def row(what: str, goal: str, *found: str) -> None:
            print(f"| {what} | {goal} | {' | '.join(found)} |", flush=True)

        both = (mine, peer)
        for history, goal in ((10, "0.2"), (200, "0.4"), (1000, "1.5")):
            row(
                f"a recorded call with {history} messages of history, over the call alone, p50",
                f"{goal} ms",
                *(told(best(package, "overhead", "p50", history), "{:.2f} ms") for package in both),
            )
        for key, goal in (("p50", "30 us"), ("p99", "200 us")):
            row(
                f"the two events of a tool call, {key}",
                goal,
                *(told(best(package, "tool", key), "{:.0f} us") for package in both),
            )
        for changing, what in ((0, ""), (1, ", system prompt changed every turn")):
            sizes = [package.run("size", changing) for package in both]
            row(
                f"a run of 300 turns{what}",
                "1.5 MB",
                *(
                    "failed"
                    if found is None
                    else f"{found['bytes'] / 1e6:.2f} MB{'' if found['back'] else ', not as sent'}"
                    for found in sizes
                ),
            )
        for size, goal in ((148_000_000, "1.5 s, 64 MB"), (1_000_000_000, "64 MB")):
            big_trace(folder / "big.jsonl", size)
            cells: list[str] = []
            for package in both:
                found = package.run("reading", folder / "big.jsonl")
                cells.append(
                    "failed"
                    if found is None
                    else f"{found['seconds']:.2f} s, {found['MB']:.0f} MB, last request {found['last']:.2f} s"
                )
            row(f"a trace of {size // 1_000_000} MB opened", goal, *cells)
            (folder / "big.jsonl").unlink()
        results = [kills(package, chosen.kills) for package in both]
        row(
            f"{chosen.kills} processes killed (SIGKILL): readable, acknowledged events lost",
            f"{chosen.kills}, 0",
            *(f"{readable}, {lost}" for readable, lost in results),
        )
        for job, key, what, goal in (
            ("forks", "hung", "100 forks under load: children that hang", "0"),
            ("full", "disturbed", "disk full: of 300 calls disturbed", "0"),
        ):
            row(what, goal, *(told((package.run(job) or {}).get(key)) for package in both))
        row(
            "two processes on one path: of 1,000 events readable",
            "1000",
            *(told(together(package)) for package in both),
        )
        off = [package.run("disabled", RUNTAPE_DISABLED="1") for package in both]
        row(
            "switched off (RUNTAPE_DISABLED=1): a tool call over the bare one; a note; files written",
            "1,000 ns",
            *(
                "failed" if found is None else f"{found['tool']:.0f} ns; {found['note']:.0f} ns; {found['files']}"
                for found in off
            ),
        )


if __name__ == "__main__":
    main()
