"""The simulated suites in several processes, each with a process of the public package of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from bench.compare import ALL_CALLS, ASKING, METHODS, PEER, Line, Method, Writer, peer

from .running import say
from .simulated import play
from .suites import Suite

_stack = ExitStack()
_methods: dict[str, Method] = {}
_folder = Path()


def methods_of(python: str | None) -> list[str]:
    """The names of the methods that a simulated model is compared on: it has no opinion to ask for."""
    return [*(name for name in METHODS if name != ASKING), *([PEER] if python else []), ALL_CALLS]


def _prepare(python: str | None) -> None:
    global _folder  # noqa: PLW0603 - one set of methods for each process of the pool
    _folder = Path(_stack.enter_context(tempfile.TemporaryDirectory(prefix="runtape-planted-")))
    _methods.update({name: method for name, method in METHODS.items() if name != ASKING})
    if python:
        _methods[PEER] = _stack.enter_context(peer(python))


def _play(job: tuple[Suite, str, int]) -> Line:
    return play(*job, _methods, _folder)


def play_all(path: Path, jobs: Sequence[tuple[Suite, str, int]], python: str | None, workers: int, about: str) -> None:
    """Plays every case that has no line yet, in order."""
    names = {f"{suite}/{domain}/{seed}": (suite, domain, seed) for suite, domain, seed in jobs}
    writer = Writer(path, {"cases": list(names), "methods": methods_of(python), "about": about})
    left = [job for name, job in names.items() if name not in writer.done]
    with ProcessPoolExecutor(workers, initializer=_prepare, initargs=(python,)) as pool:
        for at, line in enumerate(_in_order(pool, left), 1):
            writer.add(line)
            if at % 20 == 0 or at == len(left):
                say(f"{at} of {len(left)} cases")


def _in_order(pool: ProcessPoolExecutor, jobs: Sequence[tuple[Suite, str, int]]) -> Iterator[Line]:
    return pool.map(_play, jobs, chunksize=2)
