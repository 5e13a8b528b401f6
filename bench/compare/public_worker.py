"""Runs the public package's `why` for `public.py`, in that package's own interpreter; standard library beside it.

One JSON object a line on standard input and output: `{"trace", "event", "decision"}` comes in; `{"ask": request, "n"}`
goes out for every request and `{"said": replies}` comes back; `{"answer": ...}` ends the case.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from runtape.rerun import OpenAIChatModel, Reply

import runtape

out = sys.stdout
sys.stdout = sys.stderr


def tell(message: dict[str, Any]) -> None:
    out.write(json.dumps(message) + "\n")
    out.flush()


def said(request: dict[str, Any], n: int) -> list[dict[str, Any]]:
    tell({"ask": {name: request.get(name) for name in ("model", "system", "messages", "tools", "params")}, "n": n})
    heard: list[dict[str, Any]] = json.loads(sys.stdin.readline())["said"]
    return heard


def one(request: dict[str, Any]) -> dict[str, Any]:
    return said(request, 1)[0]


class Many(OpenAIChatModel):
    """Takes `n`, as the API does."""

    def __call__(self, req: dict[str, Any]) -> Reply:
        return self.batch(req, 1)[0]

    def batch(self, req: dict[str, Any], n: int) -> list[Reply]:
        return [Reply.from_any(reply) for reply in said(req, n)]


def texts(trial: dict[str, Any]) -> list[str]:
    return [segment["text"] for segment in trial["removed"]]


def explain(job: dict[str, Any]) -> dict[str, Any]:
    trace = runtape.load(job["trace"])
    replies = [event for event in trace.events if event.type == "llm_response"]
    event = replies[-1].id if job["event"] == "last" else job["event"]
    claims, notes = found(trace, event, job, job["decision"])
    headline = claims[0] if claims else []
    if job["upstream"] is not None:
        # It has no such search: whoever reads its answer asks again where the agent wrote the text that was named.
        wrote = [one.id for one in replies if one.id < event and headline and plain(headline[0]) in said_by(one)]
        earlier, more = found(trace, wrote[-1], job, {"match": job["upstream"]}) if wrote else ([], [])
        headline = earlier[0] if earlier else headline
        claims, notes = claims + earlier, notes + more
    return {"claims": claims, "headline": headline, "note": "; ".join(notes)}


def found(trace: Any, event: int, job: dict[str, Any], decision: dict[str, Any]) -> tuple[list[list[str]], list[str]]:
    model = Many() if job["many"] else one
    report = runtape.why(trace, event, model=model, cache_dir=None, workers=1, **decision)
    read = report.to_dict()
    # What it calls prerequisites, inputs without which the agent cannot act, comes last, as no answer to "why".
    decisive = [cause for cause in read["causes"] if cause["kind"] == "decisive"]
    others = [cause for cause in read["causes"] if cause["kind"] != "decisive"]
    joint = [texts(read["joint_cause"][-1])] if read["joint_cause"] else []
    claims = [*map(claimed, decisive), *joint, *map(claimed, others)]
    return claims, [report.stopped] if report.stopped else []


def claimed(cause: dict[str, Any]) -> list[str]:
    return texts(cause["together"] or cause["chain"][-1])


def said_by(reply: Any) -> str:
    return plain(str(reply.payload.get("text") or ""))


def plain(text: str) -> str:
    return " ".join(text.split())


for line in sys.stdin:
    tell({"answer": explain(json.loads(line))})
