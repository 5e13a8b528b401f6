from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted import context, needs, needs_one_of

from runtape.search.likelihood import MOST, Guess, guess
from runtape.search.problem import Problem

Chance = Callable[[frozenset[int]], "float | None"]


def reading(problem: Problem, chance: Chance, most: int = MOST) -> tuple[Guess, list[list[frozenset[int]]]]:
    """The guess, and the batches that it read."""
    search, batches = guess(problem, most), []
    try:
        wants = next(search)
        while True:
            batches.append(list(wants))
            wants = search.send([chance(variant) for variant in wants])
    except StopIteration as end:
        return end.value, batches


@given(st.integers(0, 59), st.sampled_from([(1.0, 0.0), (0.9, 0.1), (0.4, 0.1), (0.8, 0.3)]))
def test_a_single_cause_is_found_wherever_it_stands(cause, rates):
    rate, without = rates

    found, _ = reading(context(60, seed=cause), needs(cause, rate=rate, without=without))

    assert found.alone == (frozenset({cause}),)
    assert found.together == ()
    assert found.base == rate
    assert found.passes <= MOST


def test_a_suspicious_cause_takes_seven_readings():
    scores = tuple(2.0 if leaf == 17 else float(leaf % 2) for leaf in range(60))
    problem = Problem(60, frozenset(), scores, (0,) * 60, forced=False, seed=0)

    found, batches = reading(problem, needs(17))

    assert found.alone == (frozenset({17}),)
    assert found.passes == 7
    assert [len(batch) for batch in batches] == [1, 1, 5]


@given(st.sets(st.integers(0, 59), min_size=2, max_size=2), st.integers(0, 20))
def test_copies_that_stand_out_are_found_as_a_set(copies, seed):
    scores = tuple(5.0 if leaf in copies else float(leaf % 3) for leaf in range(60))
    problem = Problem(60, frozenset(), scores, tuple(leaf // 10 for leaf in range(60)), forced=False, seed=seed)

    found, _ = reading(problem, needs_one_of(*copies))

    assert found.together == (frozenset(copies),)
    assert found.alone == ()


def test_a_set_is_rid_of_members_that_are_idle():
    scores = tuple(9.0 - leaf for leaf in range(60))
    problem = Problem(60, frozenset(), scores, (0,) * 60, forced=False, seed=0)

    found, _ = reading(problem, needs_one_of(0, 5, 7))

    assert found.together == (frozenset({0, 5, 7}),)


def test_a_context_in_which_nothing_matters_takes_eleven_readings_at_most():
    found, _ = reading(context(100, pinned=range(20)), lambda removed: 1.0)

    assert (found.alone, found.together) == ((), ())
    assert found.passes <= 11


@pytest.mark.parametrize("base", [0.0, 0.05, 0.1, None])
def test_a_decision_that_is_hardly_made_is_read_once(base):
    found, batches = reading(context(60), lambda removed: base)

    assert (found.base, found.alone, found.passes) == (base, (), 1)
    assert batches == [[frozenset()]]


@given(st.integers(0, 1000))
def test_changes_below_the_noise_of_a_caching_server_point_nowhere(seed):
    noise = count(seed)

    found, _ = reading(context(60, seed=seed), lambda removed: 0.6 - 0.09 * (next(noise) % 2))

    assert found.alone == found.together == ()
    assert found.passes <= MOST


@given(st.integers(1, MOST), st.integers(0, 59))
def test_no_more_contexts_are_read_than_allowed_and_none_twice(most, cause):
    found, batches = reading(context(60), needs(cause), most)

    read = [variant for batch in batches for variant in batch]
    assert found.passes == len(read) == len(set(read)) <= most


def test_contexts_that_cannot_be_read_count_as_unchanged():
    found, _ = reading(context(60, hot=[17], seed=3), lambda removed: None if removed == {17} else needs(17)(removed))

    assert found.alone == ()


def test_each_batch_changes_the_end_of_the_context_first():
    _, batches = reading(context(60), needs(31))

    for batch in batches:
        assert [min(variant, default=0) for variant in batch] == sorted(
            (min(variant, default=0) for variant in batch), reverse=True
        )


def test_the_task_is_looked_at_when_nothing_that_was_read_matters():
    found, _ = reading(context(20, pinned=[0, 1]), needs(1))

    assert found.alone == (frozenset({1}),)


def test_near_duplicates_are_read_together():
    found, _ = reading(context(60, groups=[(3, 44)]), needs_one_of(3, 44))

    assert found.alone == (frozenset({3, 44}),)
