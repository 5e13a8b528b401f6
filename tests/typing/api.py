"""The public names, used the way a caller uses them; checked for types, never run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Coroutine
from pathlib import Path

import runtape
from runtape.context.edits import AddSystem
from runtape.report.results import Candidate, Cause, Distribution, FixReport, Progress, WhyReport


def record(folder: Path) -> Path:
    with runtape.record(folder / "run.jsonl", name="run", tags={"team": "a"}) as recorder:
        recorder.note("started", attempt=1)

        @recorder.tool
        async def read(name: str) -> list[str]:
            return [name]

        coroutine: Coroutine[object, object, list[str]] = read("a")
        coroutine.close()
        recorder.state("step", 2)
        request: int = recorder.log_llm_request(
            provider="openai", api="chat.completions", model="m", messages=[{"role": "user", "content": "hello"}]
        )
        recorder.log_llm_response(request, text="hi", stop_reason="stop")
        return recorder.path


def read(path: Path) -> int:
    trace: runtape.Trace = runtape.load(path)
    return len(trace.events) + len(trace.calls)


def play(trace: runtape.Trace) -> str:
    with runtape.replay(trace, on_diverge="live") as played:

        @played.tool
        def add(a: int, b: int = 0) -> int:
            return a + b

        total: int = add(1, b=2)
        client: dict[str, int] = played.wrap({"a": total})
    return f"{client}"


def watch(progress: Progress) -> None:
    print(progress.calls, progress.planned, progress.message)


def ask(request: dict[str, object]) -> str:
    return str(request["model"])


def explain(trace: runtape.Trace) -> list[str]:
    report: WhyReport = runtape.why(
        trace,
        "tool:send",
        model=ask,
        suspects=("9[1]/s2",),
        ask=True,
        depth="upstream",
        likelihood=True,
        budget=200,
        on_progress=watch,
    )
    causes: list[Cause] = report.causes
    kept, n = causes[0].with_
    print(kept / n, causes[0].without, causes[0].p, causes[0].instead)
    return report.headline


def mend(path: str) -> Candidate | None:
    report: FixReport = runtape.fix(
        path,
        12,
        candidates=[{"name": "mine", "add_system": "Ask first."}, AddSystem("Ask."), {"name": "code", "guard": check}],
        controls=["last:3", (path, "tool:read")],
        variants=["Please send it on."],
        runs=5,
    )
    for form in report.candidates[0].forms:
        print(form.form, form.outcome, form.count, form.without, form.reason)
    return next((candidate for candidate in report.candidates if candidate.name == report.best), None)


def check(call: dict[str, object], request: dict[str, object]) -> bool:
    return call["name"] != "send" or request["model"] == "m"


def guard(out: Path) -> Path:
    seen: Distribution = runtape.rerun("last", "last", runs=20, replace={"Friday": "Monday"}, system="Be brief.")
    seen.never_calls("send").always_calls("read").never_calls_matching("eve").never_matches("password").never_repeats()
    runtape.rerun("last", 4, guard=check, describe={"send": "Only when asked."}).repeats_above(0.5)
    runtape.write_test("last", "tool:send", out, guard_with="my_agent.guards:check", controls=["4", ("last", 6)])
    counts: Counter[str] = seen.counts()
    print(len(seen), counts, seen.rate("send"))
    return runtape.write_test("last", "tool:send", out, add_system="Ask first.", runs=10)


async def at_once(trace: runtape.Trace) -> tuple[WhyReport, FixReport, Distribution]:
    report = await runtape.aio.why(trace, 12)
    fixes = await runtape.aio.fix(trace, 12)
    return report, fixes, await runtape.aio.rerun(trace, 12, drop=["9[1]/s2"])
