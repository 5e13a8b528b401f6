import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from planted import context

from runtape.search.pools import partition, zoom
from runtape.search.units import unite


@st.composite
def choices(draw):
    leaves = draw(st.integers(1, 60))
    pairs = [(leaf, leaf + 1) for leaf in range(0, leaves - 1, 2) if draw(st.booleans())] if leaves >= 8 else []
    units = unite(context(leaves, groups=pairs))
    among = sorted(draw(st.sets(st.integers(0, len(units) - 1), min_size=1)))
    chances = draw(st.lists(st.floats(1e-6, 0.999), min_size=len(units), max_size=len(units)))
    return units, among, chances, draw(st.integers(1, 12)), draw(st.integers(1, leaves)), draw(st.integers(0, 99))


@settings(deadline=None)
@given(choices(), st.booleans())
def test_a_partition_puts_each_unit_into_one_pool_within_the_cap(choice, scattered):
    units, among, chances, count, cap, seed = choice
    rng = np.random.default_rng(seed) if scattered else None
    pools = partition(units, among, chances, count=count, cap=cap, rng=rng)
    assert sorted(unit for pool in pools for unit in pool) == among
    assert all(len(units.leaves(pool)) <= cap or len(pool) == 1 for pool in pools)


@settings(deadline=None)
@given(choices())
def test_zooming_removes_only_what_it_may_within_the_cap(choice):
    units, among, chances, count, cap, seed = choice
    pools = zoom(units, np.array(chances), among, count=count, cap=cap, rng=np.random.default_rng(seed))
    assert len(pools) <= count
    assert all(pool and set(pool) <= set(among) for pool in pools)
    assert all(len(units.leaves(pool)) <= cap or len(pool) == 1 for pool in pools)


def test_a_partition_in_context_order_cuts_between_messages_where_one_is_near():
    units = unite(context(100))
    pools = partition(units, range(100), [0.02] * 100, count=5, cap=25)
    assert [(pool[0], pool[-1]) for pool in pools] == [(0, 19), (20, 39), (40, 59), (60, 79), (80, 99)]
    nearly = partition(units, range(100), [0.02] * 51 + [0.0206] * 49, count=5, cap=25)
    assert [pool[-1] for pool in nearly] == [19, 39, 59, 79, 99]


def test_zooming_leaves_out_what_is_cleared():
    units = unite(context(50))
    chances = np.full(50, 1e-5)
    chances[[3, 30]] = 0.5
    pools = zoom(units, chances, range(50), count=6, cap=12, rng=np.random.default_rng(0))
    assert {unit for pool in pools for unit in pool} == {3, 30}
