"""What reruns cost in seconds, CPU and input, beside the public package `runtape` 0.5.0, in one run.

    python -m bench.reruns [--peer PYTHON] [--kills N] [--only-kills]

Every row is one recorded run of an example agent, explained by both against the same server, which answers after
`latency` seconds and keeps each request. Nothing leaves 127.0.0.0/8.
"""

from __future__ import annotations

import argparse
import socket
import sys
from collections.abc import Iterable
from pathlib import Path

from .. import beside
from .billing import Billed
from .cpu import cpu_per_rerun
from .flight import LIMIT, mean_in_flight
from .kills import kill_and_resume
from .rows import LATENCIES, Measured, Row, Setting, measure, settings

A_THIRD, BUSY, CPU, CONTEXTS = 1 / 3, 0.6, 2.0, 15.0
"""Goals: share of the other's time at most, share of the limit at least, milliseconds at most, contexts at most."""


def other_name() -> str:
    """A name of this machine that does not say that it is on loopback, and is."""
    try:
        name = socket.gethostname()
        if socket.gethostbyname(name).startswith("127."):
            return name
    except OSError:
        pass
    return "127.0.0.2"


def table(*heads: str) -> None:
    print(f"\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}")


def told(good: object) -> str:
    return "yes" if good else "**no**"


def wall_clock(rows: list[Row], peer: str, wanted: Iterable[Setting]) -> bool:
    table("example", "server", "`n`", "latency", "ours", "0.5.0", "share", "at most a third", "whole command", "exact")
    for setting in wanted:
        row = measure(setting, peer)
        rows.append(row)
        n = "honoured" if setting.honours_n else "ignored"
        ours, theirs = row.ours, row.theirs
        share = f"{ours.asking:.1f} s | {theirs.asking:.1f} s | {row.ratio:.2f} | {told(row.ratio <= A_THIRD)}"
        whole = f"{ours.seconds:.1f} s, {theirs.seconds:.1f} s"
        exact = f"{told(ours.exact)}, {told(theirs.exact)}"
        print(
            f"| {setting.example.name} | {setting.host} | {n} | {setting.latency} s | {share} | {whole} | {exact} |",
            flush=True,
        )
    return all(row.ratio <= A_THIRD for row in rows)


def billing(rows: list[Row]) -> bool:
    table("example", "price model", "ours", "0.5.0", "lower", f"at most {CONTEXTS:.0f}")
    good = True
    for row in rows:
        if row.setting.latency != LATENCIES[1] or row.setting.host != "127.0.0.1":
            continue
        name = row.setting.example.name
        for model, ours, theirs, limited in _priced(row.ours, row.theirs, honours_n=row.setting.honours_n):
            fits = not limited or ours <= CONTEXTS
            good &= ours < theirs and fits
            most = told(fits) if limited else ""
            print(f"| {name} | {model} | {ours:.1f} | {theirs:.1f} | {told(ours < theirs)} | {most} |")
    return good


def _priced(ours: Measured, theirs: Measured, *, honours_n: bool) -> list[tuple[str, float, float, bool]]:
    a: Billed = ours.billed
    b: Billed = theirs.billed
    if honours_n:
        return [("`n` honoured, once for each request", a.every_request, b.every_request, True)]
    return [
        ("every sample", a.every_sample, b.every_sample, False),
        ("cached beginning at a tenth", a.cached_prefix, b.cached_prefix, True),
    ]


def in_flight() -> bool:
    table("latency", "`n`", f"mean requests on their way, of {LIMIT}", f"at least {BUSY:.0%}")
    good = True
    for latency in LATENCIES[:2]:
        for honours_n in (True, False):
            mean = mean_in_flight(latency, honours_n=honours_n)
            good &= mean >= BUSY * LIMIT
            n = "honoured" if honours_n else "ignored"
            print(f"| {latency} s | {n} | {mean:.1f} | {told(mean >= BUSY * LIMIT)} |", flush=True)
    return good


def computing(folder: Path) -> bool:
    table("pieces", "`n`", "reruns", "CPU for each", f"at most {CPU:.0f} ms")
    good = True
    for max_n in (1, 16):
        cost = cpu_per_rerun(folder, max_n=max_n)
        good &= cost.milliseconds <= CPU
        n = "honoured" if max_n > 1 else "ignored"
        fits = told(cost.milliseconds <= CPU)
        print(f"| {cost.pieces} | {n} | {cost.reruns} | {cost.milliseconds:.2f} ms | {fits} |", flush=True)
    return good


def killing(folder: Path, kills: int) -> bool:
    table("kills", "samples wanted", "requests", "paid twice", "lost after being acknowledged", "unreadable caches")
    done = kill_and_resume(folder, kills)
    good = not (done.paid_twice or done.lost or done.unreadable)
    print(
        f"| {done.kills} | {done.wanted} | {done.requests} | {done.paid_twice} | {done.lost} | {done.unreadable} |",
        flush=True,
    )
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", metavar="PYTHON", help="interpreter that has the public package installed")
    parser.add_argument("--only-kills", action="store_true", help="only the process that is killed")
    parser.add_argument("--kills", metavar="N", type=int, default=100, help="SIGKILLs (default 100)")
    chosen = parser.parse_args()
    hosts = ("127.0.0.1", other_name())
    rows: list[Row] = []
    with beside.folder() as here:
        if chosen.only_kills:
            return 0 if killing(here, chosen.kills) else 1
        peer = beside.peer_python(chosen.peer, here / "peer")
        print("Requests on their way while samples are left to be sent.")
        good = [in_flight()]
        print("\nCPU of the engine.")
        good.append(computing(here))
        print("\nA process that is killed again and again, and its reply cache.")
        good.append(killing(here, chosen.kills))
        print("\nSeconds of `why` from its first request to its last answer; beside them those of the whole commands.")
        good.append(wall_clock(rows, peer, settings(hosts)))
        print(f"\nInput billed for one `why`, in contexts; latency {LATENCIES[1]} s, server 127.0.0.1.")
        good.append(billing(rows))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
