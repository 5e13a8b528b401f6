from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtape.stats.sequential import RateTest

MOST = 100
LIMITS = [0.02, 0.05, 0.1, 0.2, 0.5]


@pytest.mark.parametrize("limit", LIMITS)
def test_a_rate_at_the_limit_or_above_passes_with_at_most_the_stated_error(limit: float) -> None:
    test = RateTest(limit)
    for rate in (limit, *(limit + step * (1 - limit) for step in (0.02, 0.1, 0.3, 1.0))):
        assert test.chances(rate, 600).below <= 0.05


@pytest.mark.parametrize("limit", LIMITS)
def test_a_rate_up_to_the_limit_fails_with_at_most_the_stated_error(limit: float) -> None:
    test = RateTest(limit)
    for share in (0.0, 0.1, 0.5, 0.9, 1.0):
        assert test.chances(share * limit, 600).not_below <= 0.05


def test_one_bad_call_in_a_hundred_is_below_a_tenth_soon() -> None:
    chances = RateTest(0.1).chances(0.01, MOST)
    assert chances.below >= 0.95
    assert chances.samples <= 60
    assert RateTest(0.1).chances(0.0, MOST).samples == RateTest(0.1).shortest == 36


def test_a_call_that_is_always_made_ends_the_test_at_once() -> None:
    chances = RateTest(0.1).chances(1.0, MOST)
    assert (chances.not_below, chances.samples) == (1.0, 3.0)


@pytest.mark.parametrize("rate", [0.0, 0.01, 0.05, 0.1, 0.3])
def test_ten_thousand_simulated_runs_do_what_the_exact_chances_say(rate: float) -> None:
    test, chance, runs = RateTest(0.1), random.Random(f"sequential {rate}"), 10_000
    answers = [test.answer(chance.random() < rate for _ in range(MOST)) for _ in range(runs)]
    exact = test.chances(rate, MOST)
    for answer, share in (("below", exact.below), ("not below", exact.not_below), ("open", exact.open)):
        # Five standard errors: one run in a million would fail by chance, and this one is seeded.
        assert abs(answers.count(answer) / runs - share) <= 5 * (share * (1 - share) / runs) ** 0.5 + 1e-12


@given(st.lists(st.booleans(), max_size=60), st.lists(st.booleans(), max_size=20), st.sampled_from(LIMITS))
def test_an_answer_stands_whatever_comes_after_it(first: list[bool], later: list[bool], limit: float) -> None:
    answer = RateTest(limit).answer(first)
    assert answer == "open" or RateTest(limit).answer(first + later) == answer


@given(st.floats(0, 1), st.sampled_from(LIMITS), st.integers(0, 80))
def test_the_chances_are_a_whole(rate: float, limit: float, most: int) -> None:
    chances = RateTest(limit).chances(rate, most)
    assert chances.below + chances.not_below + chances.open == pytest.approx(1)
    assert chances.samples <= most + 1e-9


@pytest.mark.parametrize(("limit", "error"), [(0, 0.05), (1, 0.05), (-0.1, 0.05), (0.1, 0), (0.1, 1)])
def test_what_is_no_rate_is_refused(limit: float, error: float) -> None:
    with pytest.raises(ValueError, match="no rates between 0 and 1"):
        RateTest(limit, error)
