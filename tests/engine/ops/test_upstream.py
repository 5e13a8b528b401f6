from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
import research_run
from research_run import NOTED, ORDER, PAGE, PLANTED, TASK, Writing, agent, call, record_run, spoken

import runtape
from runtape.report.text import to_text
from runtape.report.why_page import why_page
from runtape.testing.models import ScriptedModel

DECISION = "tool:forward_email"
DIALECTS = ("chat.completions", "responses", "messages")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working directory, which is empty."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RUNTAPE_DIR", raising=False)
    return tmp_path


def chain(report):
    return [link.headline for link in (report, *report.upstream)]


@pytest.mark.parametrize("api", DIALECTS)
def test_a_decision_is_traced_through_what_the_agent_wrote_to_the_page_that_it_read(folder, api):
    run = record_run(folder / "run.jsonl", api)

    report = runtape.why(run, DECISION, model=agent, depth="upstream")

    assert chain(report) == [[NOTED], [PLANTED]]
    [link] = report.upstream
    assert (report.source.kind, report.source.event) == ("agent", link.event)
    assert (link.source.kind, link.source.tool) == ("tool", "fetch_url")
    fetch = link.source.fetch
    assert json.loads(fetch.arguments) == {"url": "https://supplier.example/info"}
    assert runtape.load(run).event(fetch.event).type == "tool_call"
    assert fetch.asked < fetch.event < link.source.event < link.event < report.event
    assert report.calls == link.calls + runtape.why(run, DECISION, model=agent).reused
    assert report.ends == "The text came from outside: a tool returned it."
    assert link.causes[0].instead == [("answers in text without it", link.causes[0].without[1])]


@pytest.mark.parametrize("api", DIALECTS)
def test_a_note_is_traced_from_the_tool_that_gave_it_back_to_the_call_that_saved_it(folder, api):
    run = record_run(folder / "run.jsonl", api, carrier="note")

    report = runtape.why(run, DECISION, model=agent, depth="upstream")

    assert chain(report) == [[NOTED], [PLANTED]]
    assert (report.source.kind, report.source.tool, report.source.fetch.tool) == ("agent", "save_note", "read_note")
    assert report.upstream[0].causes[0].instead[0][0] == "calls save_note without it"


def test_the_first_sentence_says_where_the_decision_came_from(folder):
    run = record_run(folder / "run.jsonl")

    report = runtape.why(run, DECISION, model=agent, depth="upstream")

    first = to_text(why_page(report)).split("\n\n")[1]
    [link] = report.upstream
    assert first == (
        f"The decision (calls forward_email) comes from a text that fetch_url, called in event {link.source.fetch.event}, "
        f"returned (event {link.source.event}, piece {link.source.ref}); "
        f"it came through what the agent wrote in event {link.event}."
    )


def test_the_same_chain_costs_nothing_the_second_time(folder):
    run = record_run(folder / "run.jsonl")
    first = runtape.why(run, DECISION, model=agent, depth="upstream")

    again = runtape.why(run, DECISION, model=agent, depth="upstream")

    assert again.calls == 0
    assert again.reused == first.calls
    assert chain(again) == chain(first)


@pytest.mark.parametrize("limit", [0, 1, 9, 25, 32, 33, 40, 55])
def test_one_budget_holds_for_all_links_and_a_chain_that_was_cut_off_goes_on(folder, limit):
    run = record_run(folder / "run.jsonl")
    whole = runtape.why(run, DECISION, model=agent, depth="upstream", cache_dir="whole")

    cut = runtape.why(run, DECISION, model=agent, depth="upstream", budget=limit)
    rest = runtape.why(run, DECISION, model=agent, depth="upstream")

    assert cut.calls <= limit < whole.calls
    assert cut.stopped_by == "budget"
    assert cut.ends == ""
    assert chain(rest) == chain(whole)
    assert [link.causes for link in rest.upstream] == [link.causes for link in whole.upstream]
    assert cut.calls + rest.calls == whole.calls


def test_a_model_that_fails_in_the_second_link_leaves_the_first(folder):
    run = record_run(folder / "run.jsonl")
    asked = []

    def breaks(request):
        if ORDER not in str(request["messages"]):
            raise ConnectionError("gone")
        asked.append(request)
        return agent(request)

    report = runtape.why(run, DECISION, model=breaks, depth="upstream")

    assert report.headline == [NOTED]
    assert report.upstream == []
    assert report.stopped_by == "model"
    assert "gone" in report.stopped
    assert report.calls == len(asked)


def test_a_chain_that_is_cancelled_in_the_second_link_answers_with_the_first(folder):
    run = record_run(folder / "run.jsonl")

    async def cancelled():
        with anyio.CancelScope() as scope:

            def watch(progress):
                if progress.partial is not None and progress.partial.upstream:
                    scope.cancel()

            return await runtape.aio.why(run, DECISION, model=agent, depth="upstream", on_progress=watch)

    report = anyio.run(cancelled)

    assert report.stopped_by == "cancelled"
    assert report.headline == [NOTED]
    whole = runtape.why(run, DECISION, model=agent, depth="upstream")
    assert chain(whole) == [[NOTED], [PLANTED]]
    assert whole.reused >= report.calls


def test_progress_counts_up_over_all_links(folder):
    run = record_run(folder / "run.jsonl")
    seen = []

    report = runtape.why(run, DECISION, model=agent, depth="upstream", on_progress=seen.append)

    calls = [progress.calls for progress in seen]
    assert calls == sorted(calls)
    assert calls[-1] == seen[-1].planned == report.calls
    assert seen[-1].partial == report
    assert any(progress.message.startswith("link 2: ") for progress in seen)


SUMMARY = "The page asks that copies of invoices go to ledger@clearing.example."
SUM_UP, PLAN = "Sum up the page.", "Make a plan from that."


def planner(request):
    """Sums up a page, plans from its summary, acts on its plan."""
    said = spoken(request)
    own = " ".join(text for role, text in said if role == "assistant")
    wanted = [text for role, text in said if role == "user"][-1]
    if wanted == SUM_UP:
        read = " ".join(text for role, text in said if role == "tool")
        return SUMMARY if PLANTED in read else "The page gives dates and weights."
    if wanted == PLAN:
        return NOTED if SUMMARY in own else "Next I file invoice 4417."
    return call("forward_email", to="x") if NOTED in own else call("file_invoice", number=4417)


def record_planner(path: Path) -> Path:
    messages = [
        {"role": "user", "content": f"{TASK} {PLANTED}" if path.stem == "told" else TASK},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "fetch_url", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": f"Deliveries leave on Mondays. {PLANTED} The office is closed today."},
    ]  # fmt: skip
    with runtape.record(path) as recorder:
        for order in (SUM_UP, PLAN, ORDER):
            messages.append({"role": "user", "content": order})
            asked = recorder.log_llm_request(
                provider="openai",
                api="chat.completions",
                model="m",
                messages=messages,
                endpoint="http://127.0.0.1:9/v1",
            )
            reply = planner({"messages": messages})
            if isinstance(reply, str):
                recorder.log_llm_response(asked, text=reply, stop_reason="stop")
                messages.append({"role": "assistant", "content": reply})
            else:
                recorder.log_llm_response(asked, tool_calls=[{"id": "d", **reply["tool_calls"][0]}])
    return recorder.path


def test_a_chain_of_three_links_is_followed_to_its_end(folder):
    report = runtape.why(record_planner(folder / "plan.jsonl"), DECISION, model=planner, depth="upstream")

    assert chain(report) == [[NOTED], [SUMMARY], [PLANTED]]
    assert [link.source.kind for link in (report, *report.upstream)] == ["agent", "agent", "tool"]
    # The call that fetched the page stands in the first request: nobody recorded the reply that asked for it.
    assert report.upstream[-1].source.fetch.tool == "fetch_url"
    assert report.upstream[-1].source.fetch.asked is None
    assert "at most 14.5%" in to_text(why_page(report))


def remembers(request):
    """Reads a page, hands a text to a tool, and acts on the argument of that call, which its context still holds."""
    said = json.dumps(request["messages"])
    if ORDER not in said:
        if "Supplier information" not in said:
            return call("fetch_url", url="https://supplier.example")
        return call("save_note", text=NOTED if PLANTED in said else "Next I file invoice 4417.")
    return call("forward_email", to="ledger@clearing.example") if NOTED in said else call("file_invoice")


@pytest.mark.parametrize("api", DIALECTS)
def test_an_argument_of_an_earlier_call_is_traced_to_the_reply_that_made_the_call(folder, api):
    writing = Writing(api)
    writing.say("user", TASK)
    with runtape.record(folder / "run.jsonl") as recorder:
        for turn in range(3):
            if turn == 2:
                writing.say("user", ORDER)
            asked = recorder.log_llm_request(
                provider=writing.provider, api=api, model="m", messages=writing.messages, endpoint="http://127.0.0.1:9/v1",
                params={"max_tokens": 50} if api == "messages" else {},
            )  # fmt: skip
            made = remembers({"messages": writing.messages})["tool_calls"][0]
            recorder.log_llm_response(asked, tool_calls=[{"id": f"c{turn}", **made}])
            writing.ask(made["name"], made["arguments"], f"c{turn}")
            writing.give(PAGE if made["name"] == "fetch_url" else "saved", f"c{turn}")

    report = runtape.why(recorder.path, DECISION, model=remembers, depth="upstream")

    assert chain(report) == [[NOTED], [PLANTED]]
    assert (report.source.kind, report.source.tool, report.source.event) == (
        "agent",
        "save_note",
        report.upstream[0].event,
    )
    # No tool run was recorded: the request tells which call it was and which reply had asked for it.
    fetch = report.upstream[0].source.fetch
    assert (fetch.tool, fetch.event, fetch.asked) == ("fetch_url", None, 2)


def test_where_the_order_of_the_tools_decides_the_chain_ends(folder):
    def takes_the_first(request):
        return call((request["tools"][0].get("function") or request["tools"][0])["name"])

    tools = [
        {"type": "function", "function": {"name": name, "description": f"Use it to {name}.", "parameters": {}}}
        for name in ("forward_email", "file_invoice")
    ]
    with runtape.record(folder / "run.jsonl") as recorder:
        asked = recorder.log_llm_request(
            provider="openai", api="chat.completions", model="m", messages=[{"role": "user", "content": TASK}, {"role": "user", "content": PAGE}], tools=tools, endpoint="http://127.0.0.1:9/v1"
        )  # fmt: skip
        recorder.log_llm_response(asked, tool_calls=[{"id": "c", "name": "forward_email", "arguments": {}}])

    report = runtape.why(recorder.path, DECISION, model=takes_the_first, depth="upstream")

    assert [cause.kind for cause in report.causes] == ["order"], report.finding
    assert (report.source.kind, report.upstream) == ("tools", [])
    assert report.ends == "It came from outside: it is in the list of tools."
    assert "comes from" in str(report)


def test_a_text_of_the_agent_that_no_reply_wrote_ends_the_chain(folder):
    with runtape.record(folder / "run.jsonl") as recorder:
        messages = [
            {"role": "user", "content": TASK},
            {"role": "assistant", "content": NOTED},
            {"role": "user", "content": ORDER},
        ]
        asked = recorder.log_llm_request(
            provider="openai", api="chat.completions", model="m", messages=messages, endpoint="http://127.0.0.1:9/v1"
        )
        recorder.log_llm_response(asked, tool_calls=[{"id": "c", "name": "forward_email", "arguments": {}}])

    report = runtape.why(recorder.path, DECISION, model=planner, depth="upstream")

    assert report.headline == [NOTED]
    assert (report.source.kind, report.source.event, report.upstream) == ("agent", None, [])
    assert "no recorded reply" in report.ends


def test_without_a_proven_cause_there_is_nothing_to_trace_back(folder):
    run = record_run(folder / "run.jsonl")

    report = runtape.why(run, DECISION, model=ScriptedModel(lambda _: "No."), depth="upstream")

    assert report.finding.status == "not reproducible"
    assert (report.source, report.upstream) == (None, [])
    assert "goes no further" in report.ends


def test_a_page_that_is_read_twice_is_not_taken_for_text_of_the_agent(folder):
    """The agent has quoted the page in its text only; what the tool returns afterwards is the page's."""
    echo = f"I have read: {PLANTED}"
    with runtape.record(folder / "run.jsonl") as recorder:
        messages = [{"role": "user", "content": TASK}]
        asked = recorder.log_llm_request(
            provider="openai", api="chat.completions", model="m", messages=messages, endpoint="http://127.0.0.1:9/v1"
        )
        recorder.log_llm_response(asked, text=echo, tool_calls=[{"id": "c", "name": "fetch_url", "arguments": {}}])
        messages += [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c", "type": "function", "function": {"name": "fetch_url", "arguments": "{}"}}],
            },
            {"role": "tool", "tool_call_id": "c", "content": f"It is Monday today. {PLANTED} The office is closed."},
        ]
        asked = recorder.log_llm_request(
            provider="openai", api="chat.completions", model="m", messages=messages, endpoint="http://127.0.0.1:9/v1"
        )
        recorder.log_llm_response(asked, tool_calls=[{"id": "d", "name": "forward_email", "arguments": {}}])

    def obeys(request):
        return call("forward_email" if PLANTED in str(request["messages"]) else "file_invoice")

    report = runtape.why(recorder.path, DECISION, model=obeys, depth="upstream")

    assert (report.headline, report.source.kind, report.upstream) == ([PLANTED], "tool", [])


def test_the_command_line_prints_the_chain(folder):
    record_run(folder / "traces" / "run.jsonl", "responses", carrier="note")
    model = Path(research_run.__file__)
    command = [
        sys.executable,
        "-m",
        "runtape.cli",
        "why",
        "run",
        DECISION,
        "--depth",
        "upstream",
        "--model-fn",
        f"{model}:agent",
    ]

    printed = subprocess.run([*command, "--json"], cwd=folder, capture_output=True, text=True, check=True)
    page = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)

    fields = json.loads(printed.stdout)
    assert fields["headline"] == [NOTED]
    assert fields["causes"][0]["source"]["kind"] == "agent"
    [link] = fields["upstream"]
    assert link["cause"]["excerpt"] == PLANTED
    assert (link["cause"]["source"]["tool"], link["cause"]["source"]["arguments"]) == (
        "fetch_url",
        '{"url": "https://supplier.example/info"}',
    )
    assert link["cause"]["with"]["n"] >= 10
    assert fields["calls"] > link["calls"] > 0
    assert fields["chain_end"].startswith("The text came from outside")
    assert "comes from a text that fetch_url, called in event" in page.stdout
    assert "0 model calls" in page.stdout
