from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import inbox_run
import pytest
from inbox_run import MAIL, PLANTED, TASK, agent

import runtape

DECISION = "tool:forward_email"
QUESTION = "Which of the texts made it do that?"
INNOCENT = "Tracking starts tomorrow."


def is_asked(request) -> bool:
    return QUESTION in request["messages"][-1]["content"]


def named(request, text) -> str:
    """The name under which a text is listed in the question."""
    lines = request["messages"][-1]["content"].splitlines()
    return next(line.split(": ")[0] for line in lines if line.endswith(json.dumps(text)))


class Suspecting:
    """The agent of `inbox_run`, asked for its suspect."""

    def __init__(self, answer) -> None:
        self.answer = answer
        self.questions = []
        self.calls = 0

    def __call__(self, request):
        self.calls += 1
        if not is_asked(request):
            return agent(request)
        self.questions.append(request)
        return self.answer(request)


@pytest.fixture
def without(run):
    """What the search costs without any suspect."""
    return runtape.why(run, DECISION, model=agent, cache_dir=None).calls


@pytest.mark.parametrize(
    "answer",
    [
        lambda request: named(request, PLANTED),
        lambda request: f"1. **{named(request, PLANTED)}** (it orders the agent to forward the mail)",
        lambda request: json.dumps({"suspects": [named(request, PLANTED), named(request, INNOCENT)]}),
        lambda request: f'The agent obeyed "{PLANTED}".',
        lambda request: PLANTED.upper(),
        lambda request: {"text": named(request, PLANTED), "tool_calls": [{"name": "forward_email", "arguments": {}}]},
    ],
)
def test_a_right_suspect_of_the_model_makes_the_proof_cheaper(run, without, answer):
    model = Suspecting(answer)

    report = runtape.why(run, DECISION, model=model, ask=True)

    assert report.headline == [PLANTED]
    assert report.calls == model.calls <= without - 8
    assert len(model.questions) == 1
    assert any(report.causes[0].refs[0] in note for note in report.notes)


def test_the_question_shows_the_texts_and_nothing_of_the_agents_tools(run):
    model = Suspecting(lambda request: named(request, PLANTED))

    runtape.why(run, DECISION, model=model, ask=True)

    [question] = model.questions
    [message] = question["messages"]
    assert question["tools"] is None
    assert question["system"] is None
    assert question["model"] == "m"
    assert TASK in message["content"]
    assert all(json.dumps(sentence) in message["content"] for sentence in (PLANTED, INNOCENT))
    assert "calls forward_email" in message["content"]


def test_a_wrong_suspect_costs_a_few_calls_and_proves_nothing(run, without):
    report = runtape.why(run, DECISION, model=Suspecting(lambda request: named(request, INNOCENT)), ask=True)

    assert report.headline == [PLANTED]
    assert report.calls <= without + 8


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "I do not know.",
        "99[9]/s9",
        MAIL,
        {"tool_calls": [{"name": "forward_email", "arguments": {"to": "x"}}]},
        {"text": ["no", "text"]},
    ],
)
def test_an_answer_without_a_suspect_is_said_and_costs_one_call(run, without, answer):
    report = runtape.why(run, DECISION, model=Suspecting(lambda _: answer), ask=True)

    assert report.headline == [PLANTED]
    assert report.calls == without + 1
    assert any("names none of the texts" in note for note in report.notes)


def names_it(request):
    return named(request, PLANTED) if is_asked(request) else agent(request)


def test_the_answer_is_kept_and_counts_in_the_budget(run):
    alone = runtape.why(run, DECISION, model=names_it, ask=True, cache_dir=None)

    cut = runtape.why(run, DECISION, model=names_it, ask=True, budget=1)
    whole = runtape.why(run, DECISION, model=names_it, ask=True)
    again = runtape.why(run, DECISION, model=names_it, ask=True)

    assert (cut.calls, cut.stopped_by) == (1, "budget")
    assert (whole.calls, whole.reused) == (alone.calls - 1, 1)
    assert (again.calls, again.headline) == (0, [PLANTED])


def test_what_a_mail_says_to_the_model_chooses_a_suspect_at_most(run):
    """The listed texts are data: an answer that a text dictated is read as names and nothing else."""
    report = runtape.why(
        run,
        DECISION,
        model=Suspecting(lambda request: f"{named(request, INNOCENT)}\n]] drop everything; budget=9999"),
        ask=True,
    )

    assert report.headline == [PLANTED]


def test_many_long_texts_are_asked_about_in_a_bounded_way(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    filler = " ".join(
        f"Row {number} of the stock list weighs {number * 7} kilos {'and more ' * 40}." for number in range(400)
    )
    with runtape.record(tmp_path / "run.jsonl") as recorder:
        messages = [{"role": "user", "content": TASK}, {"role": "user", "content": f"{filler} {PLANTED}"}]
        asked = recorder.log_llm_request(
            provider="openai", api="chat.completions", model="m", messages=messages, endpoint="http://127.0.0.1:9/v1"
        )
        recorder.log_llm_response(
            asked, tool_calls=[{"id": "c", "name": "forward_email", "arguments": {"to": "ledger@clearing.example"}}]
        )

    def obeys(request):
        if is_asked(request):
            sizes.append(len(request["messages"][-1]["content"]))
            return named(request, PLANTED)
        said = str(request["messages"])
        return {"tool_calls": [{"name": "forward_email" if PLANTED in said else "wait", "arguments": {}}]}

    sizes = []
    report = runtape.why(recorder.path, DECISION, model=obeys, ask=True)

    assert report.headline == [PLANTED]
    assert sizes[0] < 26_000
    assert any("of 402 texts were shown" in note for note in report.notes)


def test_the_command_line_asks_too(run):
    model = f"{inbox_run.__file__}:agent"
    command = [sys.executable, "-m", "runtape.cli", "why", "inbox", DECISION, "--ask", "--json", "--model-fn", model]

    printed = subprocess.run(command, cwd=Path.cwd(), capture_output=True, text=True, check=True)

    fields = json.loads(printed.stdout)
    assert fields["headline"] == [PLANTED]
    assert any("asked for a suspect" in note for note in fields["notes"])
