"""How often a search claims something false, by simulation."""

import numpy as np
import pytest
from planted import PlantedModel, context, investigate, needs

from runtape.search.settings import Settings
from runtape.search.slot import Counts, Slot
from runtape.stats.slots import ALPHAS, LOOKS

SEEDS = 120


@pytest.mark.parametrize(("rate", "depth"), [(0.95, "full"), (0.7, "quick"), (0.5, "full")])
def test_a_model_that_ignores_its_context_is_rarely_given_a_cause(rate, depth):
    false = 0
    for seed in range(SEEDS):
        problem = context(60, pinned=range(10), seed=seed)
        model = PlantedModel(lambda removed: rate, seed=seed)
        false += bool(investigate(problem, model, Settings(depth=depth, budget=250)).claims)
    assert false <= 0.05 * SEEDS


def test_beside_a_true_cause_nothing_false_is_claimed():
    false = 0
    for seed in range(SEEDS):
        problem = context(60, pinned=range(10), hot=[42], seed=seed)
        finding = investigate(
            problem, PlantedModel(needs(42, rate=0.8, without=0.1), seed=seed), Settings(depth="full")
        )
        false += any(42 not in claim.leaves for claim in finding.claims)
    assert false <= 0.05 * SEEDS


@pytest.mark.parametrize("rate", [0.3, 0.7, 0.9])
def test_ten_slots_wasted_on_pieces_that_change_nothing_stay_within_five_percent(rate):
    """The worst that any way of choosing can do: every slot irrelevant, every look taken, one base for all."""
    rng = np.random.default_rng(7)
    searches, false = 1500, 0
    for _ in range(searches):
        base = rng.random(LOOKS[-1].base) < rate
        claimed = False
        for number in range(len(ALPHAS)):
            slot = Slot(number, frozenset({number}), frozenset({number}))
            fresh = rng.random(LOOKS[-1].fresh) < rate
            while slot.state == "open":
                kept = int(fresh[: slot.sizes.fresh].sum())
                base_kept = int(base[: slot.sizes.base].sum())
                slot.judge(Counts(base_kept, kept, kept, slot.sizes.fresh), base_rate=1.0)
            claimed |= slot.state == "proven"
        false += claimed
    assert false <= 0.05 * searches


def test_intervals_cover_the_true_drop_although_proven_claims_stop_early():
    rates = [(1.0, 0.0), (0.9, 0.1), (0.9, 0.3), (0.5, 0.05)]
    covered = claims = 0
    for seed in range(SEEDS):
        rate, without = rates[seed % len(rates)]
        problem = context(60, pinned=range(10), hot=[42], seed=seed)
        model = PlantedModel(needs(42, rate=rate, without=without), seed=seed)
        for claim in investigate(problem, model).claims:
            claims += 1
            covered += claim.low <= rate - without <= claim.high
    assert claims >= 0.9 * SEEDS
    assert covered >= 0.94 * claims
