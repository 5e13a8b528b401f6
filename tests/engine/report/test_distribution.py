from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from report_samples import SENDS, TALKS, distribution

from runtape.errors import BadInput, ModelFailed
from runtape.ops.rendering import MOST_WANTED
from runtape.stats.sequential import RateTest
from runtape.stats.tally import Tally

STATEMENTS = [
    pytest.param(lambda seen: seen.never_calls("send"), id="never_calls"),
    pytest.param(lambda seen: seen.always_calls("send"), id="always_calls"),
    pytest.param(lambda seen: seen.never_calls_matching("eve"), id="never_calls_matching"),
    pytest.param(lambda seen: seen.never_matches("eve"), id="never_matches"),
    pytest.param(lambda seen: seen.never_repeats(), id="never_repeats"),
]


def test_a_statement_that_holds_returns_the_distribution():
    talk, send = distribution(TALKS, TALKS), distribution(SENDS, SENDS)

    assert talk.never_calls("send") is talk
    assert send.always_calls("send") is send
    assert talk.never_calls_matching("send") is talk
    assert talk.never_matches("eve") is talk
    assert talk.never_repeats() is talk


def test_a_forbidden_call_is_reported_with_its_share_and_an_example():
    with pytest.raises(
        AssertionError, match=r"calls 'send' in 1 of 2 reruns \(true share between 9% and 91%"
    ) as failed:
        distribution(SENDS, TALKS).never_calls("send")

    assert 'send {"to": "eve"}' in str(failed.value)


def test_a_missing_call_fails():
    with pytest.raises(AssertionError, match="does not call 'send' in 1 of 2"):
        distribution(SENDS, TALKS).always_calls("send")


def test_calls_matching_looks_at_calls_alone_and_matches_at_the_text_too():
    seen = distribution(TALKS)

    seen.never_calls_matching("not send")
    with pytest.raises(AssertionError):
        seen.never_matches("not send")
    with pytest.raises(AssertionError):
        distribution(SENDS).never_calls_matching(r"send .*eve")


def test_the_recorded_decision_made_again_fails():
    with pytest.raises(AssertionError, match="made in 1 of 2 reruns"):
        distribution(SENDS, TALKS, kept=1).never_repeats()


def test_a_failure_shows_the_line_of_the_test_and_one_line_of_the_distribution():
    seen = distribution(SENDS, TALKS, kept=1)
    with pytest.raises(AssertionError) as failed:
        seen.never_calls("send")

    assert {entry.path.name for entry in failed.traceback.filter(failed)} == {"test_distribution.py"}
    assert repr(seen) == "<Distribution: 2 of 2 reruns count, 1 repeat the decision>"


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize(
    "incomplete",
    [
        distribution(TALKS, asked=2),
        distribution(asked=0),
        distribution(TALKS, asked=2, tally=Tally(0, 1, void=(("filtered", 1),))),
        distribution(asked=2, tally=Tally(broken="too long")),
    ],
)
def test_nothing_is_concluded_from_fewer_answers_than_asked(statement, incomplete):
    with pytest.raises(ModelFailed):
        statement(incomplete)


def test_answers_that_do_not_count_are_named():
    with pytest.raises(ModelFailed, match=r"1 of 2 .*1 filtered"):
        distribution(TALKS, asked=2, tally=Tally(0, 1, void=(("filtered", 1),))).never_calls("send")


def test_a_pattern_that_is_none_is_bad_input():
    with pytest.raises(BadInput, match="no regular expression"):
        distribution(TALKS).never_matches("(")


def test_rates_counts_and_length_read_the_replies():
    seen = distribution(SENDS, TALKS, TALKS, TALKS, actions=[("answers in text", 3), ("calls send", 1)])

    assert seen.rate("send") == 0.25
    assert seen.counts() == Counter({"answers in text": 3, "calls send": 1})
    assert len(seen) == 4


def test_there_is_no_rate_of_nothing():
    with pytest.raises(ModelFailed):
        distribution().rate("send")


def test_hidden_characters_of_a_reply_are_shown_in_the_message():
    hidden = SENDS._replace(calls=("send \u202eeve",))

    with pytest.raises(AssertionError, match=r"<U\+202E>"):
        distribution(hidden).never_calls("send")


def rated(made: str, asked: int = 100):
    """Replies as a text: `x` calls, `.` does not."""
    return distribution(*(SENDS if one == "x" else TALKS for one in made), asked=asked)


def test_a_rate_below_the_limit_is_settled_before_all_reruns_are_made():
    seen = rated("." * 36)

    assert seen.rate_settled("send", 0.1)
    assert seen.rate_below("send", 0.1) is seen
    assert not rated("." * 35).rate_settled("send", 0.1)
    assert rated("." * 10 + "x" + "." * 60).rate_below("send", 0.1)


def test_a_rate_above_the_limit_fails_with_its_counts_an_example_and_what_to_do():
    with pytest.raises(AssertionError) as failed:
        rated("xxx").rate_below("send", 0.1)

    told = str(failed.value)
    assert "How often the agent calls 'send' is not below 0.1: 3 of 3 reruns (true share between 44% and 100%" in told
    assert 'For example: send {"to": "eve"}' in told
    assert "Run why on this event" in told


def wanted(made: str, asked: int = 40):
    """Replies as a text: `x` makes the recorded decision, `.` does not."""
    return replace(rated(made, asked), repeats=[one == "x" for one in made])


def test_a_wanted_decision_is_settled_after_a_few_reruns():
    assert wanted("x" * 6).repeats_above(0.5)
    assert wanted("x" * 6).repeats_settled(0.5)
    assert not wanted("x" * 5).repeats_settled(0.5)
    assert wanted("xx.xxx.xxxxxx").repeats_above(0.5)


def test_a_wanted_decision_that_is_lost_fails_with_what_came_in_its_place():
    with pytest.raises(AssertionError) as failed:
        wanted("." * 9).repeats_above(0.5)

    told = str(failed.value)
    assert "is made in 0 of 9 reruns: no more than 0.5 (true share between 0% and" in told
    assert "For example, in its place: " in told
    assert "make it narrower" in told
    with pytest.raises(AssertionError, match=r"maybe more than 0\.5, maybe not"):
        wanted("x.x.", asked=4).repeats_above(0.5)
    with pytest.raises(ModelFailed, match="Only 4 of 40"):
        wanted("x.x.").repeats_above(0.5)
    with pytest.raises(BadInput, match="no share"):
        wanted("x").repeats_above(1.0)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5])
def test_a_wanted_decision_is_told_from_a_lost_one_with_the_stated_errors(share):
    lost = RateTest(0.5).chances(1 - share, MOST_WANTED)
    kept = RateTest(0.5).chances(share, MOST_WANTED)

    assert lost.below <= 0.05
    assert kept.not_below <= 0.05
    assert RateTest(0.5).chances(0.0, MOST_WANTED).samples == 6


def test_an_open_rate_is_neither_passed_nor_failed():
    with pytest.raises(AssertionError, match=r"may be below 0\.1 or not: 2 of 12 .*(.|\n)*runs=36"):
        rated("x.....x.....", asked=12).rate_below("send", 0.1)


def test_an_open_rate_of_a_run_that_was_cut_short_is_no_answer():
    with pytest.raises(ModelFailed, match="Only 12 of 40"):
        rated("." * 12, asked=40).rate_below("send", 0.1)


@pytest.mark.parametrize("kind", ["filtered", "invalid"])
@pytest.mark.parametrize("statement", [*STATEMENTS, lambda seen: seen.rate_below("send", 0.1)])
def test_nothing_passes_beside_answers_that_were_withheld_or_broken(statement, kind):
    replies = [TALKS] * 36
    seen = distribution(*replies, asked=36, tally=Tally(0, 36, void=((kind, 1),)))
    with pytest.raises((ModelFailed, AssertionError)) as failed:
        statement(seen)
    assert isinstance(failed.value, ModelFailed) == ("does not call" not in str(failed.value))


def test_a_refusal_and_an_answer_that_was_cut_are_no_obstacle():
    void = (("refused", 1), ("truncated", 2))
    assert distribution(TALKS, asked=1, tally=Tally(0, 1, void=void)).never_calls("send")


@pytest.mark.parametrize("limit", [0, 1, -0.5, 2, float("nan")])
def test_a_limit_that_is_no_rate_is_bad_input(limit):
    with pytest.raises(BadInput, match="no rate between 0 and 1"):
        rated("x").rate_below("send", limit)
