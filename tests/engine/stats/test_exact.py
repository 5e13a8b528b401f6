from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from runtape.stats.exact import fisher_less


@given(st.data())
def test_the_exact_test_agrees_with_scipy(data):
    n, base_n = data.draw(st.integers(1, 60)), data.draw(st.integers(1, 60))
    kept, base_kept = data.draw(st.integers(0, n)), data.draw(st.integers(0, base_n))
    expected = float(hypergeom.cdf(kept, n + base_n, kept + base_kept, n))
    assert fisher_less(kept, n, base_kept, base_n) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("kept", "n", "base_kept", "base_n"), [(0, 3, 5, 5), (1, 4, 4, 5), (2, 4, 2, 4), (0, 2, 0, 5)])
def test_the_exact_test_counts_the_ways_to_deal_out_the_repeats(kept, n, base_kept, base_n):
    deals = [sum(deal[:n]) for deal in product((0, 1), repeat=n + base_n) if sum(deal) == kept + base_kept]
    as_low = sum(repeats <= kept for repeats in deals)
    assert fisher_less(kept, n, base_kept, base_n) == pytest.approx(as_low / len(deals))


def test_ten_of_ten_against_none_of_three_is_a_third_of_a_percent():
    assert fisher_less(0, 3, 10, 10) == pytest.approx(1 / 286)


@given(st.integers(0, 20), st.integers(0, 20))
def test_more_repeats_without_a_piece_never_speak_more_against_it(kept, base_kept):
    assert fisher_less(kept, 20, base_kept, 20) <= fisher_less(min(20, kept + 1), 20, base_kept, 20)
    assert fisher_less(kept, 20, base_kept, 20) <= fisher_less(kept, 20, max(0, base_kept - 1), 20)


def test_nothing_drawn_is_no_evidence():
    assert fisher_less(0, 0, 7, 10) == 1.0
    assert fisher_less(0, 3, 0, 0) == 1.0


@pytest.mark.parametrize("counts", [(4, 3, 5, 10), (-1, 3, 5, 10), (1, 3, 11, 10)])
def test_impossible_counts_are_refused(counts):
    with pytest.raises(ValueError, match="not counts of repeats"):
        fisher_less(*counts)
