"""Runs the public package's `why` for `public.py`, in that package's own interpreter; standard library beside it.

One JSON object a line on standard input and output: `{"trace", "event", "decision"}` comes in; `{"ask": request}` goes
out for every model call and `{"said": reply}` comes back; `{"answer": ...}` ends the case.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import runtape

out = sys.stdout
sys.stdout = sys.stderr


def tell(message: dict[str, Any]) -> None:
    out.write(json.dumps(message) + "\n")
    out.flush()


def model(request: dict[str, Any]) -> Any:
    tell({"ask": {name: request.get(name) for name in ("model", "system", "messages", "tools", "params")}})
    return json.loads(sys.stdin.readline())["said"]


def texts(trial: dict[str, Any]) -> list[str]:
    return [segment["text"] for segment in trial["removed"]]


def explain(job: dict[str, Any]) -> dict[str, Any]:
    trace = runtape.load(job["trace"])
    event = job["event"]
    if event == "last":
        event = [one.id for one in trace.events if one.type == "llm_response"][-1]
    asked = {} if job.get("live") else {"model": model}
    report = runtape.why(trace, event, cache_dir=None, workers=1, **asked, **job["decision"])
    found = report.to_dict()
    claims = [texts(cause["together"] or cause["chain"][-1]) for cause in found["causes"]]
    if found["joint_cause"]:
        claims.append(texts(found["joint_cause"][-1]))
    return {"claims": claims, "note": report.stopped or ""}


for line in sys.stdin:
    tell({"answer": explain(json.loads(line))})
