import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted import context

from runtape.search.problem import Problem
from runtape.search.units import largest_pool, unite


@st.composite
def problems(draw):
    leaves = draw(st.integers(0, 30))
    names = st.integers(0, 4)
    named = draw(st.lists(st.none() | names, min_size=leaves, max_size=leaves))
    groups = [[leaf for leaf, name in enumerate(named) if name == group] for group in range(5)]
    pinned = draw(st.sets(st.integers(0, max(0, leaves - 1)))) if leaves else set()
    return context(leaves, pinned=pinned, groups=[group for group in groups if group])


@given(problems())
def test_every_leaf_is_in_exactly_one_unit(problem):
    units = unite(problem)
    assert sorted(leaf for members in units.members for leaf in members) == list(range(problem.leaves))
    assert all(leaf in units.members[units.of[leaf]] for leaf in range(problem.leaves))


@given(problems())
def test_no_unit_joins_pinned_leaves_with_others_or_exceeds_a_pool(problem):
    for members in unite(problem).members:
        assert members <= problem.pinned or members.isdisjoint(problem.pinned)
        assert len(members) <= largest_pool(problem)


@given(problems())
def test_no_pool_holds_more_than_half_of_what_is_not_pinned(problem):
    loose = problem.leaves - len(problem.pinned)
    assert largest_pool(problem) <= max(1, loose / 2 if loose else problem.leaves / 4)


def test_near_duplicates_are_one_unit_at_the_place_of_the_first():
    units = unite(context(12, groups=[(1, 7)]))
    assert units.members[1] == {1, 7}
    assert len(units) == 11


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"groups": (frozenset({1, 2}), frozenset({2, 3}))}, "two groups"),
        ({"pinned": frozenset({9})}, r"leaves \[9\] do not exist"),
        ({"scores": (0.0,)}, "1 scores"),
    ],
)
def test_a_problem_that_contradicts_itself_is_refused(broken, message):
    fields = {
        "leaves": 5,
        "pinned": frozenset(),
        "scores": (0.0,) * 5,
        "message_of": (0,) * 5,
        "forced": False,
        "seed": 0,
    }
    with pytest.raises(ValueError, match=message):
        Problem(**(fields | broken))
