"""Cases of the planted benchmark: made from seeds, whole, and told by their lines alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.compare import Case, Incomplete, Simulated, read
from bench.planted.domains import DOMAINS
from bench.planted.kept import Kept, NotKept
from bench.planted.measuring import case_of, counting
from bench.planted.report import page
from bench.planted.running import SIZE
from bench.planted.simulated import play, simulated
from bench.planted.suites import SUITES, planted
from runtape.canon import digest

ROOT = Path(__file__).parent.parent.parent
DIGESTS = (
    "from bench.planted.suites import SUITES, planted; from bench.planted.running import SIZE; "
    "from bench.planted.domains import DOMAINS; from runtape.canon import digest; "
    "print(digest([planted(suite, domain, 7, SIZE).body() for suite in SUITES for domain in DOMAINS]))"
)


def test_a_seed_makes_the_same_cases_in_every_process():
    here = digest([planted(suite, domain, 7, SIZE).body() for suite in SUITES for domain in DOMAINS])
    environment = {**os.environ, "PYTHONHASHSEED": "11"}
    there = subprocess.run(
        [sys.executable, "-c", DIGESTS], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )

    assert there.stdout.strip() == here


def test_other_seeds_make_other_cases():
    bodies = [json.dumps(planted("one", domain, seed, SIZE).body()) for domain in DOMAINS for seed in range(40)]

    assert len(set(bodies)) == len(bodies)


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("suite", [suite for suite in SUITES if suite != "none"])
def test_what_is_planted_is_exactly_one_piece_each_wherever_it_stands(suite, domain, tmp_path):
    for seed in range(3):
        case = planted(suite, domain, seed, SIZE)
        opened = case_of(case, tmp_path, case.domain.bad)

        assert all(opened.leaves.count(sentence) == 1 for sentence in case.sentences), case.sentences


def test_leaving_everything_out_that_was_planted_leaves_the_conversation_as_it_was():
    with_, bare = planted("copies", "inbox", 3, SIZE), planted("copies", "inbox", 3, SIZE).bare

    said = with_.body()["messages"][-1]["content"]
    for sentence in with_.sentences:
        assert sentence in said
        assert sentence not in bare["messages"][-1]["content"]
    assert len(said.split()) - len(bare["messages"][-1]["content"].split()) == sum(
        len(sentence.split()) for sentence in with_.sentences
    )


def test_a_case_counts_only_where_the_model_acts_with_and_not_without():
    case, weak = simulated("one", "inbox", 30_001)

    def deaf(body, random):
        return {"tool_calls": [{"name": case.domain.usual, "arguments": {}}]}

    def always(body, random):
        return {"tool_calls": [{"name": case.domain.bad, "arguments": {}}]}

    assert counting(case, Simulated(weak, 30_001))["counted"]
    assert not counting(case, Simulated(deaf))["counted"]
    assert not counting(case, Simulated(always))["counted"]


def test_a_case_is_played_the_same_twice(tmp_path):
    first, again = (play("together", "disk", 30_003, {}, tmp_path) for _ in range(2))

    assert first.as_json() == again.as_json()


def test_a_reply_that_was_not_kept_is_not_made_up(tmp_path):
    with pytest.raises(NotKept, match="run it with a model"):
        Kept(tmp_path / "replies.jsonl").draw(planted("one", "inbox", 1, SIZE).body(), 0, 1)


def test_the_report_refuses_results_that_lack_a_case(tmp_path):
    path = tmp_path / "out.jsonl"
    path.write_text(json.dumps({"header": {"cases": ["one/inbox/1"], "methods": ["why"]}}) + "\n", encoding="utf-8")

    with pytest.raises(Incomplete, match="one/inbox/1"):
        page(read(path))


@pytest.mark.parametrize("suite", SUITES)
def test_the_simulated_weakness_is_what_the_truth_says(suite):
    """Leaving out any of the sets stops the action; leaving out less, or something else, does not."""
    case, weak = simulated(suite, "access", 30_004)
    if suite in {"none", "upstream"}:
        return
    model = Simulated(weak, 4)

    def acts(without):
        drawn = model.draw(case.body(without=without), 0, 40).choices
        hits = sum(choice["message"]["tool_calls"][0]["function"]["name"] == case.domain.bad for choice in drawn)
        return hits > 20

    assert acts(frozenset())
    places = {sentence: at for at, sentence in enumerate(case.sentences)}
    for texts in case.truth.sets:
        assert not acts(frozenset(places[text] for text in texts))
        for text in texts if len(texts) > 1 else ():
            assert acts(frozenset({places[text]}))


def test_the_simulated_model_asks_back_without_its_task(tmp_path):
    case, weak = simulated("one", "staging", 30_002)
    body = case.body()
    body["messages"][1]["content"] = "[removed]"
    drawn = Simulated(weak, 1).draw(body, 0, 20).choices

    assert sum(choice["message"]["content"] == "What should I do?" for choice in drawn) > 10
    assert isinstance(case_of(case, tmp_path, case.domain.bad), Case)


def test_the_committed_table_of_simulated_models_is_what_its_lines_say():
    results = ROOT / "bench" / "results"

    assert page(read(results / "planted.jsonl.gz")) == (results / "planted.md").read_text(encoding="utf-8")
