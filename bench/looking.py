"""How long `runtape --help` takes beside another program's, and how fast the page of a long run is.

    python -m bench.looking --beside PATH/TO/PROGRAM [--rounds 15] > bench/results/looking.md

Both programs print their help anew in every round, in turn; each was started once before. The page is that of
`runtape view` for a run of 20,000 events, in headless chromium: when it first paints, when its list is there, and the
longest task of the page while the list is scrolled from end to end in 100 steps (browsers report tasks from 50 ms on, 0
stands for none). On a busy machine a task waits in the middle for a processor, so that the list is scrolled once more
under the browser's own tracing, which tells the longest processor time of a task.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

EVENTS = 20_000
SCROLL = """async () => {
    const tasks = [];
    const seen = new PerformanceObserver((list) => tasks.push(...list.getEntries().map((e) => e.duration)));
    seen.observe({type: "longtask"});
    const list = document.getElementById("list");
    for (let at = 0; at <= 100; at++) {
        list.scrollTop = (list.scrollHeight * at) / 100;
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    }
    await new Promise((done) => setTimeout(done, 200));
    return Math.max(0, ...tasks);
}"""


def seconds(command: list[str]) -> float:
    """Seconds that a command takes."""
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - started


def long_run(path: Path) -> None:
    """A trace of many short model calls with a tool each."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(0, EVENTS, 4):
            messages = [{"role": "user", "content": f"Look at number {number} and say what is there. " * 4}]
            call = {"name": "look", "arguments": {"at": number}}
            for at, (kind, payload, parent) in enumerate(
                (
                    (
                        "llm_request",
                        {"api": "chat.completions", "model": "m", "messages": messages, "params": {}},
                        None,
                    ),
                    ("llm_response", {"text": None, "tool_calls": [call]}, number),
                    ("tool_call", call, None),
                    ("tool_result", {"name": "look", "result": f"Nothing at {number}."}, number + 2),
                )
            ):
                event: dict[str, Any] = {"id": number + at, "ts": 1.0 + number, "type": kind, "payload": payload}
                file.write(json.dumps({**event, "meta": {}, "parent": parent}) + "\n")


def opened(browser: Any, address: str) -> tuple[float, float, float, float]:
    """First paint and list in seconds; of the tasks of scrolling the longest, and the most processor time, in ms."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(address)
    page.locator("#list[aria-busy=false]").wait_for()
    there = page.evaluate("performance.now()")
    page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length > 0")
    painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    longest = page.evaluate(SCROLL)
    browser.start_tracing(page=page, categories=["toplevel", "devtools.timeline"])
    page.evaluate(SCROLL)
    traced = json.loads(browser.stop_tracing())["traceEvents"]
    page.close()
    return painted / 1000, there / 1000, longest, busiest(traced)


def busiest(traced: list[dict[str, Any]]) -> float:
    """The most processor time of one task of a page's main thread, in milliseconds."""
    threads = {
        (event["pid"], event["tid"])
        for event in traced
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    tasks = [event for event in traced if event.get("ph") == "X" and (event["pid"], event["tid"]) in threads]
    return max(task.get("tdur", 0) for task in tasks) / 1000


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--beside", required=True, help="the other program")
    options.add_argument("--rounds", type=int, default=15)
    options.add_argument("--pages", type=int, default=5)
    chosen = options.parse_args()
    ours = str(Path(sys.executable).parent / "runtape")
    commands = {"the other": [chosen.beside, "--help"], "runtape": [ours, "--help"]}
    for command in commands.values():
        seconds(command)
    took: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(chosen.rounds):
        for name, command in commands.items():
            took[name].append(seconds(command))
    print("| `--help` of | median, s | fastest, s | slowest, s |\n|---|---|---|---|")
    for name, times in took.items():
        print(f"| {name} | {statistics.median(times):.2f} | {min(times):.2f} | {max(times):.2f} |")
    ratios = [mine / other for other, mine in zip(*took.values(), strict=True)]
    print(f"\nMedian of {chosen.rounds} ratios, pair by pair: {statistics.median(ratios):.2f}\n")

    from playwright.sync_api import sync_playwright  # an extra

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        trace = Path(folder) / "long.jsonl"
        long_run(trace)
        flags = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        with subprocess.Popen([ours, "view", str(trace), "--no-open"], stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            pages = [opened(browser, address) for _ in range(chosen.pages)]
            server.send_signal(signal.SIGINT)
            server.stdout.read()
        browser.close()
    print(f"| page of {EVENTS:,} events | median | slowest of {chosen.pages} |\n|---|---|---|")
    for name, unit, values in zip(
        ("first paint", "list is there", "longest task while scrolling", "most processor time of such a task"),
        ("s", "s", "ms", "ms"),
        zip(*pages, strict=True),
        strict=True,
    ):
        print(f"| {name}, {unit} | {statistics.median(values):.2f} | {max(values):.2f} |")
    print(f"\nLoad average of the last five minutes: {os.getloadavg()[1]:.1f} on {os.cpu_count()} processors")


if __name__ == "__main__":
    main()
