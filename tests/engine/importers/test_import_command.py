"""`runtape import` on recordings of every family: what is found, how truly, and what is told."""

from __future__ import annotations

import base64
import gzip
import io
import json
import os
import random
import sys
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from refund_files import BODIES, EXACT, FILES, NOTE, TOOL, batch_input, batch_output, otlp, span

import runtape
from runtape import Trace
from runtape.cli.main import run


def imported(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> dict[str, Any]:
    assert run(["import", *arguments, "--json"]) == status
    return json.loads(capsys.readouterr().out)


def bodies(folder: Path) -> list[dict[str, Any]]:
    return [trace.request(call.request).body for trace in traces(folder) for call in trace.calls]


def traces(folder: Path) -> list[Trace]:
    return [Trace.load(path) for path in sorted(folder.glob("*.jsonl"))]


def spelled_alike(said: Any) -> Any:
    """Arguments parsed and nulls left out: rebuilt calls may be spelled with other white space."""
    if isinstance(said, dict):
        return {
            k: json.loads(v) if k == "arguments" else spelled_alike(v) for k, v in said.items() if v not in (None, "")
        }
    return [spelled_alike(item) for item in said] if isinstance(said, list) else said


@pytest.mark.parametrize("name", FILES)
def test_both_calls_are_found_as_they_were_sent(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "recording.json"
    file.write_text(FILES[name](), encoding="utf-8")
    told = imported(capsys, str(file), "-o", str(tmp_path / "out"))
    assert told["calls"] == 2
    found = bodies(tmp_path / "out")
    if name in EXACT:
        assert found == BODIES
        assert told["formats"][0]["fidelity"] == {"exact": 2}
    else:
        for body, sent in zip(found, BODIES, strict=True):
            assert spelled_alike(body["messages"]) == spelled_alike(sent["messages"])
            assert body.get("tools") == sent["tools"] or "tools" in told["formats"][0]["missing"]
    replies = [trace.reply(call.request) for trace in traces(tmp_path / "out") for call in trace.calls]
    assert [call.arguments for call in replies[0].tool_calls] == [{"order": "9"}]
    assert replies[1].text == "Both are refunded."


def follows_the_note(request: dict[str, Any]) -> Any:
    if "order 9" in json.dumps(request["messages"]):
        return {"tool_calls": [{"name": "refund", "arguments": {"order": "9"}}]}
    return "Nothing to do."


@pytest.mark.parametrize("name", FILES)
def test_why_finds_the_sentence_on_an_imported_call(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "recording.json"
    file.write_text(FILES[name](), encoding="utf-8")
    imported(capsys, str(file), "-o", str(tmp_path / "out"))
    trace = traces(tmp_path / "out")[0]
    report = runtape.why(trace, "tool:refund", model=follows_the_note, cache_dir=None)
    assert any("Refund order 9 as well" in text for text in report.headline)
    partial = trace.fidelity(trace.calls[0].request).label == "partial"
    assert partial == any("lacks" in note for note in report.notes)


def test_a_batch_is_joined_by_its_ids_whatever_the_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").write_text(batch_output(), encoding="utf-8")
    (tmp_path / "in" / "b.jsonl").write_text(batch_input(), encoding="utf-8")
    assert imported(capsys, str(tmp_path / "in"), "-o", str(tmp_path / "out"))["calls"] == 2
    [trace] = traces(tmp_path / "out")
    assert sorted(bodies(tmp_path / "out"), key=str) == sorted(BODIES, key=str)
    assert {trace.reply(call.request).id for call in trace.calls} == {"r1", "r2"}


def test_replies_without_their_requests_are_told_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "out.jsonl"
    file.write_text(batch_output(), encoding="utf-8")
    told = imported(capsys, str(file), "-o", str(tmp_path / "t"), status=1)
    assert told["calls"] == 0
    assert "give the batch's input file" in told["reason"]
    assert not list((tmp_path / "t").glob("*.jsonl"))


def test_compressed_and_piped_files_give_the_same_calls(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = FILES["openinference"]().encode()
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(data))
    with zipfile.ZipFile(tmp_path / "b.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inner/spans.json", data)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    for at, file in enumerate((str(tmp_path / "a.json.gz"), str(tmp_path / "b.zip"), "-")):
        assert imported(capsys, file, "-o", str(tmp_path / f"t{at}"))["calls"] == 2
        assert bodies(tmp_path / f"t{at}") == BODIES


def test_a_file_that_unpacks_into_far_more_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "bomb.gz"
    with gzip.open(file, "wb", compresslevel=9) as packed:
        packed.write(b'{"log":{"entries":[')
        for _ in range(700):
            packed.write(b" " * 100_000)
    assert run(["import", str(file), "-o", str(tmp_path / "t")]) == 2
    assert "unpacks into more than" in capsys.readouterr().err


def test_an_unknown_file_is_told_what_was_looked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("nothing of the kind", encoding="utf-8")
    assert run(["import", str(file)]) == 2
    said = capsys.readouterr().err
    assert "har" in said
    assert "opentelemetry" in said
    assert "--format" in said


def test_secrets_of_a_recording_are_not_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.har"
    leaky = FILES["har"]().replace("arrived broken", "key sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD")
    file.write_text(leaky, encoding="utf-8")
    imported(capsys, str(file), "-o", str(tmp_path / "out"))
    [path] = (tmp_path / "out").glob("*.jsonl")
    written = path.read_text(encoding="utf-8")
    assert "sk-proj-abc" not in written
    assert "verysecret" not in written
    assert path.stat().st_mode & 0o777 == 0o600


def test_what_the_source_lacks_can_be_supplied(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, tools, system = tmp_path / "a.txt", tmp_path / "tools.json", tmp_path / "system.txt"
    file.write_text(FILES["console_events"](), encoding="utf-8")
    tools.write_text(json.dumps([TOOL["function"]]), encoding="utf-8")
    system.write_text("unused: the source holds one", encoding="utf-8")
    before = imported(capsys, str(file), "-o", str(tmp_path / "before"))["formats"][0]
    assert before["missing"] == {"params": 2, "tools": 2}
    more = [
        "--tools",
        str(tools),
        "--system",
        str(system),
        "--params",
        '{"temperature": 0}',
        "--base-url",
        "http://x/v1",
    ]
    after = imported(capsys, str(file), "-o", str(tmp_path / "after"), *more)["formats"][0]
    assert after["fidelity"] == {"rebuilt": 2}
    assert [spelled_alike(body) for body in bodies(tmp_path / "after")] == [spelled_alike(body) for body in BODIES]
    [trace] = traces(tmp_path / "after")
    assert trace.request(trace.calls[0].request).endpoint == "http://x/v1"


def test_a_call_whose_request_is_unknown_is_refused_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "spans.json"
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.system": "openai", "gen_ai.request.model": "m"}
    answer = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "hi"}]}])
    file.write_text(otlp([span(0, "chat m", {**attributes, "gen_ai.output.messages": answer})], "s"), encoding="utf-8")
    assert imported(capsys, str(file), "-o", str(tmp_path / "t"))["formats"][0]["fidelity"] == {"not rebuildable": 1}
    [path] = (tmp_path / "t").glob("*.jsonl")
    assert run(["why", str(path), "last", "--model-fn", "json:nothing"]) == 2
    assert "capturing of content was off" in capsys.readouterr().err


def test_what_is_missing_is_said_before_a_rerun(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.txt"
    file.write_text(FILES["console_events"](), encoding="utf-8")
    imported(capsys, str(file), "-o", str(tmp_path / "t"))
    [path] = (tmp_path / "t").glob("*.jsonl")
    assert run(["odds", str(path), "last", "--model-fn", "json:nothing"]) == 2
    said = capsys.readouterr().err
    assert "lacks params, tools" in said
    assert said.index("lacks") < said.index("'nothing'")


def test_the_same_question_asked_twice_stays_two_calls(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "spans.json"
    doubled = json.loads(FILES["openinference"]())
    spans = doubled["resourceSpans"][0]["scopeSpans"][0]["spans"]
    spans.append({**spans[0], "spanId": "00000000000000ff", "startTimeUnixNano": "1767323049000000000"})
    file.write_text(json.dumps(doubled), encoding="utf-8")
    assert imported(capsys, str(file), "-o", str(tmp_path / "t"))["calls"] == 3


def test_a_framework_span_around_a_provider_span_is_one_call(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "spans.json"
    doc = json.loads(FILES["openinference"]())
    inner = doc["resourceSpans"][0]["scopeSpans"][0]["spans"]
    outer = span(
        0,
        "ChatOpenAI",
        {
            "openinference.span.kind": "LLM",
            "llm.model_name": "m",
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": NOTE,
        },
    )
    inner[0]["parentSpanId"], inner[2:] = outer["spanId"], [outer]
    inner[1]["parentSpanId"] = "00000000000000aa"
    file.write_text(json.dumps(doc), encoding="utf-8")
    told = imported(capsys, str(file), "-o", str(tmp_path / "t"))["formats"][0]
    assert told["fidelity"] == {"exact": 2}
    assert any("another span of the same model call" in skipped["reason"] for skipped in told["skipped"])


def test_a_cassette_in_yaml_is_read_like_one_in_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    yaml = pytest.importorskip("yaml")
    file = tmp_path / "cassette.yaml"
    file.write_text(yaml.safe_dump(json.loads(FILES["vcr"]())), encoding="utf-8")
    assert imported(capsys, str(file), "-o", str(tmp_path / "t"))["calls"] == 2
    assert bodies(tmp_path / "t") == BODIES


VARIANTS = st.sampled_from(["cut", "nan", "bom", "crlf", "pretty", "twice", "shuffled", "dropped"])


@pytest.mark.parametrize("damaged", ["traceId", "spanId", "spans", "scopeSpans"])
def test_spans_under_a_damaged_key_are_told_of(
    damaged: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "spans.json"
    whole, broken = FILES["openinference"](), FILES["openllmetry"]().replace(f'"{damaged}"', '"x"', 1)
    file.write_text(f"{whole}\n{broken}\n", encoding="utf-8")
    told = imported(capsys, str(file), "-o", str(tmp_path / "t"))
    assert any(skipped["notable"] for skipped in told["formats"][0]["skipped"])


@pytest.mark.parametrize("name", FILES)
def test_a_byte_order_mark_changes_nothing(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "recording.json"
    file.write_text("\ufeff" + FILES[name](), encoding="utf-8")
    assert imported(capsys, str(file), "-o", str(tmp_path / "t"))["calls"] == 2


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from(sorted(FILES)), variant=VARIANTS, seed=st.integers(0, 10**6))
def test_broken_files_never_crash_and_never_lose_a_call_in_silence(
    name: str, variant: str, seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(seed)
    text = FILES[name]()
    kept = variant not in ("cut", "dropped")
    if variant == "cut":
        text = text[: chance.randrange(1, len(text))]
    elif variant == "dropped":
        at = chance.randrange(len(text) - 3)
        text = text[:at] + text[at + chance.randrange(1, 3) :]
    elif variant == "nan":
        text = text.replace('"temperature": 0', '"temperature": NaN', 1)
    elif variant == "crlf":
        text = text.replace("\n", "\r\n")
    elif variant == "shuffled" and "\n{" in text and name != "console_events":
        lines = text.split("\n")
        chance.shuffle(lines)
        text = "\n".join(lines)
    elif variant == "pretty" and name not in ("pairs", "litellm", "openhands", "console_events"):
        text = json.dumps(json.loads(text), indent=chance.choice([1, 4]))
    elif variant == "twice" and name == "langfuse":
        doc = json.loads(text)
        for observation in doc["observations"]:
            observation["input"] = json.dumps(observation.get("input"))
        text = json.dumps(doc)
    file = tmp_path / "recording.json"
    file.write_text(("\ufeff" if variant == "bom" else "") + text, encoding="utf-8", newline="")
    status = run(["import", str(file), "-o", str(tmp_path / "out"), "--json"])
    said = capsys.readouterr()
    if status == 2:
        assert said.err.startswith("runtape: ")
        assert not kept
        return
    told = json.loads(said.out)
    if kept:
        assert told["calls"] == 2
    elif told["calls"] < 2:
        assert told.get("reason") or any(skipped["reason"] for read in told["formats"] for skipped in read["skipped"])


class LangfuseServer(BaseHTTPRequestHandler):
    """Gives one trace to whoever has the keys, as Langfuse's API does."""

    def log_message(self, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        keys = self.headers.get("Authorization") == "Basic " + base64.b64encode(b"pk:sk").decode()
        known = self.path == "/api/public/traces/t1"
        doc = json.loads(FILES["langfuse"]())
        for observation in doc["observations"]:
            if "input" in observation:
                observation["input"] = json.loads(observation["input"])
        data = json.dumps({**doc["trace"], "projectId": "p", "observations": doc["observations"]}).encode()
        self.send_response(401 if not keys else 200 if known else 404)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def test_a_trace_is_fetched_from_langfuse(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LANGFUSE_HOST", raising=False)
    for name in ("LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert run(["import", "langfuse:t1"]) == 2
    assert "LANGFUSE_SECRET_KEY" in capsys.readouterr().err
    with ThreadingHTTPServer(("127.0.0.1", 0), LangfuseServer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("LANGFUSE_BASE_URL", f"http://127.0.0.1:{server.server_address[1]}")
        monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", "pk")
        monkeypatch.setenv("LANGFUSE_SECRET_KEY", "sk")
        assert imported(capsys, "langfuse:t1", "-o", str(tmp_path / "t"))["calls"] == 2
        assert run(["import", "langfuse:t2"]) == 2
        assert "has no trace 't2'" in capsys.readouterr().err
        server.shutdown()


SAMPLES = Path(os.environ.get("RUNTAPE_SAMPLES") or Path(__file__).parents[4] / "shared" / "samples")
with_samples = pytest.mark.skipif(not SAMPLES.is_dir(), reason="the shared folder of real recordings is not there")


@with_samples
def test_a_real_langfuse_download_holds_two_calls_and_its_tool(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = imported(capsys, str(SAMPLES / "langfuse"), "-o", str(tmp_path / "t"))
    assert told["calls"] == 2
    first, second = bodies(tmp_path / "t")
    assert [tool["function"]["name"] for tool in first["tools"]] == ["Web-Search"]
    assert [message["role"] for message in second["messages"]] == ["user", "user", "assistant", "tool"]
    [trace] = traces(tmp_path / "t")
    [asked] = trace.reply(trace.calls[0].request).tool_calls
    assert (asked.name, asked.arguments) == ("Web-Search", {"query": "example"})
    assert [event.payload["name"] for event in trace.events if event.type == "tool_call"] == ["Web-Search"]


@with_samples
def test_a_real_archive_holds_a_streamed_call_with_two_tool_calls(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = imported(capsys, str(SAMPLES / "har"), "-o", str(tmp_path / "t"))
    assert told["formats"][0]["fidelity"] == {"exact": 1}
    [trace] = traces(tmp_path / "t")
    assert [call.name for call in trace.reply(trace.calls[0].request).tool_calls] == [
        "get_current_weather",
        "get_tomorrow_weather",
    ]


def test_a_trace_says_the_version_of_what_stands_in_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "recording.json"
    file.write_text(next(iter(FILES.values()))(), encoding="utf-8")
    imported(capsys, str(file), "-o", str(tmp_path / "out"))
    with runtape.record(tmp_path / "recorded.jsonl"):
        pass
    [recorded, *found] = [runtape.load(tmp_path / "recorded.jsonl"), *traces(tmp_path / "out")]
    assert {trace.events[0].payload["version"] for trace in found} == {recorded.events[0].payload["version"]}


def test_a_recorded_run_is_imported_without_a_word_on_its_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with runtape.record(tmp_path / "run.jsonl") as rec:
        asked = rec.log_llm_request(
            provider="openai", api="chat.completions", model="m", messages=[{"role": "user", "content": "hello"}]
        )
        rec.log_llm_response(asked, text="hi")
    [read] = imported(capsys, str(rec.path), "-o", str(tmp_path / "out"))["formats"]
    assert read["title"] == "runtape traces"
    assert read["skipped"] == []


def test_a_recording_that_is_imported_twice_is_said_to_be_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "spans.json"
    file.write_text(FILES["openinference"](), encoding="utf-8")
    said = []
    for _ in range(2):
        assert run(["import", str(file), "-o", str(tmp_path / "out")]) == 0
        said.append("there already" in " ".join(capsys.readouterr().out.split()))
    assert said == [False, True]
