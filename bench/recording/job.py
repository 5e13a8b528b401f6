"""One measurement, in a process of its own: `job.py NAME ARGUMENTS...` prints one JSON object.

Runs under both packages: only names that both have are used, and the standard library.
"""

from __future__ import annotations

import contextvars
import functools
import gc
import json
import os
import random
import resource
import signal
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in ("n", "rt", "lse", "mming")]
TOOLS = [
    {
        "type": "function",
        "function": {"name": f"tool_{n}", "description": "looks " * 20, "parameters": {"type": "object"}},
    }
    for n in range(8)
]


def text(rng: random.Random, words: int) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(words))


def completion(said: str) -> bytes:
    call = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"q": 1}'}}
    message = {"role": "assistant", "content": said, "tool_calls": [call]}
    return json.dumps(
        {
            "id": "c",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4},
        }
    ).encode()


def client(body: bytes) -> Any:
    import httpx2
    from openai import OpenAI

    def answer(_: Any) -> Any:
        return httpx2.Response(200, content=body, headers={"content-type": "application/json"})

    return OpenAI(
        api_key="k", base_url="http://127.0.0.1:9/v1", http_client=httpx2.Client(transport=httpx2.MockTransport(answer))
    )


def overhead(here: Path, history: int) -> dict[str, Any]:
    """Milliseconds of processor time that a recorded call takes longer than the same call unrecorded, made in turns."""
    import runtape

    rng = random.Random(history)
    plain, recorded = client(completion(text(rng, 40))), client(completion(text(rng, 40)))
    messages: list[Any] = [{"role": "assistant" if n % 2 else "user", "content": text(rng, 35)} for n in range(history)]
    differences: list[float] = []
    with runtape.record(str(here / "t.jsonl")) as rec:
        rec.wrap(recorded)
        for turn in range(70):
            messages.append({"role": "user", "content": text(rng, 35)})
            took: dict[int, float] = {}
            for one in (plain, recorded) if turn % 2 else (recorded, plain):
                # The plain call is none of the run's, which would have to look at it.
                around = contextvars.copy_context() if one is recorded else contextvars.Context()
                call = functools.partial(one.chat.completions.create, model="m", messages=list(messages), tools=TOOLS)
                started = time.thread_time()
                around.run(call)
                took[id(one)] = time.thread_time() - started
            if turn >= 10:
                differences.append((took[id(recorded)] - took[id(plain)]) * 1e3)
    return {"p50": statistics.median(differences), "p90": sorted(differences)[int(len(differences) * 0.9)]}


def tool(here: Path) -> dict[str, Any]:
    """Microseconds of processor time of a recorded tool call over an unrecorded one."""
    import runtape

    def add(x: int, y: str) -> dict[str, Any]:
        return {"sum": x, "text": y}

    took: list[float] = []
    bare: list[float] = []
    with runtape.record(str(here / "t.jsonl")) as rec:
        recorded = rec.tool(add)
        for turn in range(2300):
            for function, kept in ((add, bare), (recorded, took)):
                started = time.thread_time()
                function(turn, "some text")
                if turn >= 300:
                    kept.append((time.thread_time() - started) * 1e6)
        rec.note("end")
    return {
        "p50": statistics.median(took) - statistics.median(bare),
        "p99": sorted(took)[int(len(took) * 0.99)],
    }


def size(here: Path, changing: int) -> dict[str, Any]:
    """Bytes of a run of 300 turns, with a system prompt that changes every turn or not; and whether it reads back."""
    import runtape

    rng = random.Random(7)
    said = text(rng, 40)
    agent = client(completion(said))
    rules = "\n".join(text(rng, 12) + "." for _ in range(80))
    asked = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"q": 1}'}}
    sent: list[str] = []
    with runtape.record(str(here / "t.jsonl")) as rec:
        rec.wrap(agent)

        @rec.tool
        def look(q: int) -> str:  # noqa: ARG001 - an argument to be recorded
            return text(rng, 50)

        messages: list[Any] = [{"role": "system", "content": rules}, {"role": "user", "content": text(rng, 30)}]
        for turn in range(300):
            if changing:
                head = f"Turn {turn}, the time is 12:{turn % 60:02}."
                messages[0] = {"role": "system", "content": f"{head}\n{rules}\nNoted: {text(rng, 8)}"}
            sent.append(json.dumps(messages))
            agent.chat.completions.create(model="m", messages=list(messages), tools=TOOLS)
            messages.append({"role": "assistant", "content": said, "tool_calls": [asked]})
            messages.append({"role": "tool", "tool_call_id": "call_1", "content": look(1)})
    trace = runtape.load(str(here / "t.jsonl"))
    requests = [event for event in trace.events if event.type == "llm_request"]
    if hasattr(trace, "request"):
        last = trace.request(requests[-1]).body["messages"]
    else:
        last = trace.messages(requests[-1].id)
    return {"bytes": (here / "t.jsonl").stat().st_size, "back": json.dumps(last) == sent[-1]}


def resident(field: str) -> float:
    """Megabytes of this process's own memory: `VmRSS` now, `VmHWM` the most since the peak was reset.

    Not `ru_maxrss`, which a process takes over from the one that started it.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith(f"{field}:"))


def reading(_: Path, path: str) -> dict[str, Any]:
    """Seconds to load a trace, the most megabytes of memory above those before, and seconds to the last request."""
    import runtape

    runtape.load  # noqa: B018 - loaded before the memory is looked at
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak begins anew
    before = resident("VmRSS")
    started = time.perf_counter()
    trace = runtape.load(path)
    count = len(trace.events)
    seconds = time.perf_counter() - started
    started = time.perf_counter()
    requests = [event for event in trace.events if event.type == "llm_request"]
    if hasattr(trace, "request"):
        trace.request(requests[-1])
    else:
        trace.messages(requests[-1].id)
    last = time.perf_counter() - started
    return {"seconds": seconds, "MB": resident("VmHWM") - before, "last": last, "events": count}


def victim(here: Path, seed: int) -> dict[str, Any]:
    """Notes of all sizes until it is killed; each one that was taken is told on standard output."""
    import runtape

    rng = random.Random(seed)
    rec = runtape.record(str(here / f"kill-{seed}.jsonl"))
    for number in range(1_000_000):
        event = rec.note("n", number=number, text="é" * int(10 ** rng.uniform(1, 5.3)))
        os.write(1, f"{event if event is not None else -1} {number}\n".encode())
    return {}


def forks(here: Path) -> dict[str, Any]:
    """Forks out of a process whose other threads record all the time; a child that does not end in 2 s hangs."""
    import threading

    import runtape

    rec = runtape.record(str(here / "forks.jsonl"))
    over = threading.Event()

    def busy() -> None:
        while not over.is_set():
            rec.note("busy", text="x" * 2000)

    threads = [threading.Thread(target=busy, daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()
    hung = 0
    for _ in range(100):
        child = os.fork()
        if child == 0:
            rec.note("child")
            os._exit(0)
        waited = time.monotonic()
        while os.waitpid(child, os.WNOHANG)[0] == 0:
            if time.monotonic() - waited > 2:
                hung += 1
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                break
            time.sleep(0.001)
    over.set()
    for thread in threads:
        thread.join(5)
    return {"hung": hung}


def full(here: Path) -> dict[str, Any]:
    """300 tool calls while the file may not grow beyond 40 kB: how many of them were disturbed."""
    import runtape

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    disturbed = 0
    rec = runtape.record(str(here / "full.jsonl"))

    def work(x: int) -> str:
        return f"{x}" + "y" * 500

    recorded = rec.tool(work)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, resource.RLIM_INFINITY))
    for number in range(300):
        try:
            disturbed += recorded(number) != work(number)
        except BaseException:  # noqa: BLE001
            disturbed += 1
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    try:
        rec.close()
    except BaseException:  # noqa: BLE001
        disturbed += 1
    return {"disturbed": disturbed}


def notes(here: Path, name: str) -> dict[str, Any]:
    """500 notes into a path that another process writes as well."""
    import runtape

    rec = runtape.record(str(here / "shared.jsonl"))
    for number in range(500):
        rec.note("shared", who=name, number=number)
    rec.close()
    return {}


def disabled(here: Path) -> dict[str, Any]:
    """Nanoseconds of a call of a decorated tool over a bare one, and of a note, while recording is switched off."""
    import runtape

    rec = runtape.record(str(here / "t.jsonl"))

    def add(x: int) -> int:
        return x

    def lap(function: Callable[..., Any]) -> float:
        started = time.perf_counter()
        for _ in range(200_000):
            function(1)
        return (time.perf_counter() - started) * 1e9 / 200_000

    recorded = rec.tool(add)
    lap(add)
    bare = min(lap(add) for _ in range(5))
    result = {"tool": min(lap(recorded) for _ in range(5)) - bare, "note": min(lap(rec.note) for _ in range(5))}
    return {**result, "files": len(list(here.iterdir()))}


JOBS = (overhead, tool, size, reading, victim, forks, full, notes, disabled)


def main() -> None:
    name, here, *arguments = sys.argv[1:]
    job: Callable[..., dict[str, Any]] = next(job for job in JOBS if job.__name__ == name)
    gc.collect()
    found = job(Path(here), *(int(value) if value.isdigit() else value for value in arguments))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
