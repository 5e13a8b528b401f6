from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runtape.search.decode import USUAL, Observation, decode, hit_ratio

BASE = 0.9


def seen(units, kept, flips):
    return Observation(np.array(sorted(units), dtype=np.intp), kept, flips)


def by_enumeration(prior, observations):
    """The exact chance of each unit, by adding up all combinations of needed units."""
    total, by_unit = 0.0, np.zeros(len(prior))
    for needed in product((False, True), repeat=len(prior)):
        weight = np.prod([chance if flag else 1 - chance for chance, flag in zip(prior, needed, strict=True)])
        for observation in observations:
            if any(needed[unit] for unit in observation.units):
                weight *= hit_ratio(observation.kept, observation.flips, BASE)
        total += weight
        by_unit += weight * np.array(needed)
    return by_unit / total


@st.composite
def disjoint_pools(draw):
    """Up to three pools that share no unit, and a rerun of single units: no loops between them."""
    owner = draw(st.lists(st.integers(0, 3), min_size=8, max_size=8))
    pools = [[unit for unit in range(8) if owner[unit] == pool] for pool in range(3)]
    singles = [[unit] for unit in draw(st.sets(st.integers(0, 7), max_size=3))]
    counts = st.tuples(st.integers(0, 3), st.integers(0, 3))
    return [seen(units, *draw(counts)) for units in pools + singles if units]


@settings(max_examples=60, deadline=None)
@given(disjoint_pools(), st.lists(st.floats(0.01, 0.3), min_size=8, max_size=8))
def test_without_loops_the_decode_is_exact(observations, prior):
    assert decode(prior, observations, BASE) == pytest.approx(by_enumeration(prior, observations), abs=0.01)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 7), st.permutations(range(8)), st.integers(0, 2**32 - 1))
def test_crossing_partitions_are_decoded_as_well_as_by_enumeration(needed, order, seed):
    rng = np.random.default_rng(seed)
    pools = [{0, 1}, {2, 3}, {4, 5}, {6, 7}, *({order[at], order[at + 1]} for at in range(0, 8, 2))]
    kept = [rng.random() < (0.1 if needed in pool else BASE) for pool in pools]
    observations = [seen(pool, int(same), int(not same)) for pool, same in zip(pools, kept, strict=True)]
    prior = [0.1] * 8
    exact, found = by_enumeration(prior, observations), decode(prior, observations, BASE)
    assert found == pytest.approx(exact, abs=0.15)
    assert exact[int(found.argmax())] == pytest.approx(exact.max(), abs=0.05)


@settings(deadline=None)
@given(disjoint_pools(), st.randoms())
def test_the_order_of_observations_does_not_matter(observations, random):
    shuffled = list(observations)
    random.shuffle(shuffled)
    assert decode([0.1] * 8, shuffled, BASE) == pytest.approx(decode([0.1] * 8, observations, BASE))


def test_nothing_seen_leaves_the_prior():
    assert decode([0.1, 0.2], [], BASE).tolist() == [0.1, 0.2]
    assert decode([0.1, 0.2], [seen({0}, 0, 0)], BASE).tolist() == [0.1, 0.2]


def test_a_kept_decision_never_rules_a_unit_out_for_good():
    many, more = (float(decode([0.2], [seen({0}, kept, 0)], BASE)[0]) for kept in (10, 40))
    assert many == pytest.approx(more, rel=0.01)
    assert many > 0.2 * USUAL.weights[-1] / 2


def test_thousands_of_leaves_are_decoded_down_to_the_one():
    """Two crossing partitions of 5,000 units and some zooming, as a search would ask."""
    rng = np.random.default_rng(1)
    order = rng.permutation(5000)
    pools = [set(part.tolist()) for whole in (np.arange(5000), order) for part in np.array_split(whole, 6)]
    hit = [pool for pool in pools if 1234 in pool]
    crossing = sorted(hit[0] & hit[1])
    pools += [set(crossing[at::4]) for at in range(4)] + [set(part.tolist()) for part in np.array_split(crossing, 35)]
    observations = [seen(pool, int(1234 not in pool), int(1234 in pool)) for pool in pools]
    chances = decode([2.5 / 5000] * 5000, observations, BASE)
    assert int(chances.argmax()) == 1234
