import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from runtape.stats.rates import newcombe, wilson

counts = st.integers(1, 80).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts)
def test_the_interval_of_a_rate_agrees_with_scipy(count):
    kept, n = count
    expected = binomtest(kept, n).proportion_ci(method="wilson")
    assert wilson(kept, n).low == pytest.approx(expected.low, abs=1e-12)
    assert wilson(kept, n).high == pytest.approx(expected.high, abs=1e-12)


def test_a_rate_without_samples_may_be_anything():
    assert (wilson(0, 0).low, wilson(0, 0).high) == (0.0, 1.0)


def test_the_interval_of_a_drop_agrees_with_newcombes_published_example():
    # Newcombe, Statistics in Medicine 17 (1998), table II, 56/70 against 48/80, method 10.
    drop = newcombe(56, 70, 48, 80)
    assert drop.drop == pytest.approx(0.2)
    assert drop.low == pytest.approx(0.0524, abs=5e-5)
    assert drop.high == pytest.approx(0.3339, abs=5e-5)


@given(counts, counts)
def test_the_interval_of_a_drop_holds_the_drop_and_stays_a_difference_of_rates(base, without):
    drop = newcombe(*base, *without)
    assert -1.0 <= drop.low <= drop.drop <= drop.high <= 1.0


def test_a_drop_needs_samples_on_both_sides():
    with pytest.raises(ValueError, match="both sides"):
        newcombe(10, 10, 0, 0)


def test_more_repeats_than_samples_are_refused():
    with pytest.raises(ValueError, match="not a rate"):
        wilson(4, 3)
