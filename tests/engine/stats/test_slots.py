from itertools import product

import pytest

from runtape.stats.exact import fisher_less
from runtape.stats.slots import (
    ALPHAS,
    CUTOFFS,
    FALSE_CLAIM,
    GRID,
    LOOKS,
    MEMBER_CUTOFFS,
    MEMBER_LOOKS,
    MEMBER_SLOTS,
    Cutoffs,
    Look,
    size,
)


def test_the_exact_sizes_of_all_slots_of_a_search_sum_to_less_than_five_percent():
    slots = sum(size(CUTOFFS[alpha], LOOKS) for alpha in ALPHAS)
    members = MEMBER_SLOTS * size(MEMBER_CUTOFFS, MEMBER_LOOKS)
    assert slots + members <= FALSE_CLAIM <= 0.05


@pytest.mark.parametrize("alpha", sorted(set(ALPHAS)))
def test_no_slot_claims_more_often_than_its_alpha(alpha):
    assert size(CUTOFFS[alpha], LOOKS) <= alpha


def test_the_size_agrees_with_playing_through_every_sequence_of_outcomes():
    looks, cutoffs = (Look(2, 1), Look(4, 3), Look(5, 4)), Cutoffs((0.4, 0.3, 0.15), (0.0, 0.6, 0.0))

    def claims(base, fresh):
        p = [fisher_less(sum(fresh[: look.fresh]), look.fresh, sum(base[: look.base]), look.base) for look in looks]
        rare = fisher_less(sum(fresh[:3]), 3, min(1, sum(base[:4])), 4) <= 0.6
        return p[0] <= 0.4 or p[1] <= 0.3 or rare or p[2] <= 0.15

    claiming = [sum(bits) for bits in product((0, 1), repeat=9) if claims(bits[:5], bits[5:])]
    by_hand = max(sum(p**k * (1 - p) ** (9 - k) for k in claiming) for p in GRID)
    assert size(cutoffs, looks) == pytest.approx(by_hand)
    assert by_hand > 0.05  # the tables of this test are loose enough to claim often


@pytest.mark.parametrize(
    ("base_kept", "look", "most"),
    [
        (10, 0, 0),
        (9, 0, None),
        (10, 1, 1),
        (9, 1, 0),
        (10, 2, 2),
        (9, 2, 1),
        (20, 3, 6),
        (9, 4, None),
        (9, 5, 0),
        (8, 5, None),
        (18, 5, 3),
    ],
)
def test_how_many_repeats_a_look_allows(base_kept, look, most):
    sizes = LOOKS[look]
    allowed = [
        kept
        for kept in range(sizes.fresh + 1)
        if CUTOFFS[0.005].claim(look, sizes, kept, base_kept) and kept / sizes.fresh <= 0.5 * base_kept / sizes.base
    ]
    assert (max(allowed) if allowed else None) == most


@pytest.mark.parametrize("alpha", sorted(set(ALPHAS)))
@pytest.mark.parametrize("place", range(len(LOOKS)))
def test_fewer_repeats_without_or_more_with_never_take_a_claim_away(alpha, place):
    look = LOOKS[place]
    claims = [
        [CUTOFFS[alpha].claim(place, look, kept, base_kept) for kept in range(look.fresh + 1)]
        for base_kept in range(look.base + 1)
    ]
    assert all(row == sorted(row, reverse=True) for row in claims)
    assert all(list(column) == sorted(column) for column in zip(*claims, strict=True))


def test_a_table_of_the_wrong_length_is_refused():
    with pytest.raises(ValueError, match="1 cut-offs for 6 looks"):
        size((0.01,), LOOKS)
