from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from runtape_mcp.identity import job_id
from runtape_mcp.settings import Settings

HERE = Settings(traces=Path("traces"))


def test_the_same_question_has_the_same_name_whatever_it_may_cost() -> None:
    name = job_id("why", "d", {"event": "4", "tool": None}, HERE)
    assert job_id("why", "d", {"tool": None, "event": "4"}, replace(HERE, max_calls=9, slice=3.0)) == name
    assert name.startswith("why-")


def test_another_question_trace_verb_or_model_has_another_name(tmp_path: Path) -> None:
    model = tmp_path / "model.py"
    model.write_text("a", encoding="utf-8")
    named = replace(HERE, model_fn=f"{model}:f")
    names = [
        job_id("why", "d", {"event": "4"}, HERE),
        job_id("fix", "d", {"event": "4"}, HERE),
        job_id("why", "e", {"event": "4"}, HERE),
        job_id("why", "d", {"event": "5"}, HERE),
        job_id("why", "d", {"event": "4"}, replace(HERE, base_url="http://127.0.0.1:1")),
        job_id("why", "d", {"event": "4"}, named),
        job_id("why", "d", {"event": "4"}, replace(HERE, judge_fn=f"{model}:f")),
    ]
    model.write_text("b", encoding="utf-8")
    names.append(job_id("why", "d", {"event": "4"}, named))
    assert len(set(names)) == len(names)
