import pytest
from planted import PlantedModel, context, investigate, needs, needs_one_of, sets

from runtape.search.settings import Settings
from runtape.stats.exact import fisher_less

FULL = Settings(depth="full")
SEEDS = range(12)


@pytest.mark.parametrize("leaves", [1, 2, 5, 30, 400])
def test_one_needed_leaf_is_named_exactly(leaves):
    for seed in SEEDS:
        cause = (seed * 37) % leaves
        finding = investigate(context(leaves, hot=[cause], seed=seed), PlantedModel(needs(cause), seed=seed))
        assert sets(finding) == [{cause}]
        assert (finding.status, finding.unfinished) == ("found", None)


def test_a_sure_decision_among_a_hundred_leaves_takes_few_calls():
    calls = []
    for seed in range(40):
        cause = 20 + seed
        model = PlantedModel(needs(cause), seed=seed)
        investigate(context(100, pinned=range(20), hot=[cause], seed=seed), model)
        calls.append(model.calls)
    assert sorted(calls)[20] <= 38


def test_a_claim_carries_its_counts_effect_and_exact_p():
    model = PlantedModel(needs(42))
    (claim,) = investigate(context(100, pinned=range(20), hot=[42]), model).claims
    assert claim.kind == "decisive"
    assert (claim.base.kept, claim.base.n) == (10, 10)
    assert (claim.without.kept, claim.without.n) == (0, 6)
    assert claim.without.instead == (("calls archive", 6),)
    assert claim.p == fisher_less(0, 3, 10, 10)
    assert claim.drop == 1.0
    assert claim.low < 0.6 < claim.high == 1.0


def test_full_depth_proves_every_needed_leaf_and_tells_inputs_from_the_cause():
    for seed in SEEDS:
        model = PlantedModel(needs(3, 14, 40, 77), stops=lambda removed: bool(removed & {3, 14, 40}), seed=seed)
        finding = investigate(context(100, pinned=range(20), hot=[77], seed=seed), model, FULL)
        assert sets(finding)[0] == {77}
        assert {(*claim.leaves, claim.kind) for claim in finding.claims} == {
            (77, "decisive"),
            (3, "required"),
            (14, "required"),
            (40, "required"),
        }
        assert finding.kept_only is not None
        assert finding.kept_only.kept == finding.kept_only.n == 2


def test_quick_depth_stops_at_the_cause_and_says_what_it_held():
    model = PlantedModel(needs(3, 14, 77), stops=lambda removed: bool(removed & {3, 14}))
    finding = investigate(context(100, pinned=range(20), hot=[77]), model)
    assert sets(finding) == [{77}]
    assert finding.held == tuple(range(20))


def test_a_cause_in_the_pinned_text_is_found_when_nothing_read_explains():
    finding = investigate(context(100, pinned=range(20)), PlantedModel(needs(7)))
    assert sets(finding) == [{7}]
    assert finding.held == ()


def test_copies_that_are_each_enough_are_proven_as_a_set():
    found = 0
    for seed in SEEDS:
        model = PlantedModel(needs_one_of(33, 71), seed=seed)
        finding = investigate(context(100, pinned=range(20), hot=[33, 71], seed=seed), model, FULL)
        found += sets(finding) == [{33, 71}]
        for claim in finding.claims:
            assert claim.kind == "redundant"
            assert [(leaf, back.kept == back.n) for leaf, back in claim.put_back] == [(33, True), (71, True)]
    assert found >= 11


def test_near_duplicates_are_removed_together_from_the_first_round():
    model = PlantedModel(needs_one_of(33, 71))
    finding = investigate(context(100, pinned=range(20), groups=[(33, 71)]), model)
    assert sets(finding) == [{33, 71}]
    assert finding.claims[0].kind == "redundant"
    apart = [want for batch in model.batches for want in batch if len(want.variant & {33, 71}) == 1]
    assert {want.series.split(":")[0] for want in apart} == {"member"}


def test_a_near_duplicate_that_does_nothing_is_taken_out_of_the_claim():
    finding = investigate(context(100, pinned=range(20), groups=[(33, 71)]), PlantedModel(needs(71)))
    assert sets(finding) == [{71}]
    assert finding.claims[0].kind == "decisive"
    assert finding.claims[0].without.n >= 3
    assert [(leaf, back.kept == back.n > 0) for leaf, back in finding.claims[0].put_back] == [(71, True)]


def test_a_leaf_that_matters_only_while_another_is_there_is_found():
    found = 0
    for seed in range(40):
        model = PlantedModel(lambda removed: 0.0 if 44 in removed and 45 not in removed else 1.0, seed=seed)
        found += sets(investigate(context(100, pinned=range(20), hot=[44], seed=seed), model)) == [{44}]
    assert found >= 34


def test_where_a_call_is_forced_the_larger_drop_leads():
    # Both flips look like another action; leaf 60 matters less, and its wording stands out more.
    def rate(removed):
        return 0.0 if 50 in removed else 0.45 if 60 in removed else 1.0

    for seed in SEEDS:
        problem = context(100, pinned=range(20), suspects=[50, 60], hot=[60], forced=True, seed=seed)
        assert sets(investigate(problem, PlantedModel(rate, seed=seed)))[0] == {50}


def test_a_right_suspect_is_proven_in_twenty_calls_and_three_rounds():
    model = PlantedModel(needs(42))
    finding = investigate(context(100, pinned=range(20), suspects=[42]), model)
    assert sets(finding) == [{42}]
    assert model.calls <= 20
    assert finding.rounds <= 3


def test_a_right_suspect_in_the_pinned_text_is_not_held():
    model = PlantedModel(needs(4))
    assert sets(investigate(context(100, pinned=range(20), suspects=[4]), model)) == [{4}]
    assert model.calls <= 20


def test_wrong_suspects_cost_a_few_calls_and_no_truth():
    extra = []
    for seed in range(30):
        cause = 20 + seed
        plain, misled = PlantedModel(needs(cause), seed=seed), PlantedModel(needs(cause), seed=seed)
        investigate(context(100, pinned=range(20), hot=[cause], seed=seed), plain)
        wrong = context(100, pinned=range(20), hot=[cause], suspects=[90, 95], seed=seed)
        assert sets(investigate(wrong, misled)) == [{cause}]
        extra.append(misled.calls - plain.calls)
    assert sorted(extra)[15] <= 8


def test_an_intermittent_decision_is_explained_with_more_reruns():
    found = 0
    for seed in SEEDS:
        model = PlantedModel(needs(42, rate=0.4), seed=seed)
        finding = investigate(context(60, pinned=range(10), hot=[42], seed=seed), model)
        found += sets(finding) == [{42}]
        assert finding.base.n >= 20
    assert found >= 10


@pytest.mark.parametrize(
    ("model", "status"),
    [
        (PlantedModel(lambda removed: 1.0), "nothing read matters"),
        (PlantedModel(lambda removed: 0.0), "not reproducible"),
        (PlantedModel(lambda removed: 0.05, seed=4), "too rare"),
        (PlantedModel(lambda removed: 1.0, void=0.9), "not enough reruns"),
        (PlantedModel(lambda removed: 1.0, broken=lambda removed: True), "not enough reruns"),
        (PlantedModel(lambda removed: float(len(removed) <= 30)), "nothing found"),
    ],
)
def test_each_way_of_finding_nothing_has_its_own_answer(model, status):
    finding = investigate(context(100, pinned=range(20)), model)
    assert (finding.status, finding.claims) == (status, ())


def test_a_context_that_is_ignored_is_left_after_few_calls():
    model = PlantedModel(lambda removed: 1.0)
    investigate(context(400, pinned=range(20)), model)
    assert model.calls <= 32


def test_a_context_without_leaves_has_no_cause():
    assert investigate(context(0), PlantedModel(lambda removed: 1.0)).status == "nothing found"


def test_where_everything_is_pinned_it_is_examined_all_the_same():
    assert sets(investigate(context(30, pinned=range(30)), PlantedModel(needs(12)))) == [{12}]


def test_pools_get_smaller_where_large_removals_break_the_conversation():
    for seed in range(6):

        def rate(removed):
            return 0.0 if 42 in removed else 0.4 if len(removed) > 26 else 1.0

        model = PlantedModel(rate, seed=seed)
        problem = context(200, pinned=range(20), hot=[42], seed=seed)
        assert sets(investigate(problem, model, FULL)) == [{42}]
        pools = [[len(want.variant) for want in batch if want.series == "pool"] for batch in model.batches]
        assert max(pools[1]) > 26
        assert max(size for sizes in pools[-4:] for size in sizes) <= 25


def test_samples_that_share_a_request_are_asked_for_together():
    per_call, per_context = PlantedModel(needs(42)), PlantedModel(needs(42))
    problem = context(100, pinned=range(20), hot=[42])
    investigate(problem, per_call)
    finding = investigate(problem, per_context, Settings(profile="contexts"))
    assert sets(finding) == [{42}]
    assert len(per_context.drawn) < len(per_call.drawn)
    assert per_context.calls > per_call.calls


def test_what_is_not_proven_is_listed_as_suspected_never_as_a_claim():
    model = PlantedModel(needs(42))
    finding = investigate(context(100, pinned=range(20), hot=[42]), model, batches=3)
    assert finding.status == "stopped"
    assert finding.claims == ()
    assert finding.suspects[0].leaf == 42
    assert finding.suspects[0].probability > 0.5
    assert 0 < finding.cleared == len(finding.cleared_leaves)
    assert 0 < finding.missed < finding.suspects[0].probability, "what is suspected is listed, not missed"


def test_the_expected_number_of_samples_covers_what_was_asked_and_ends_as_what_it_was():
    model = PlantedModel(needs(3, 14, 40, 77, rate=0.9, without=0.1))
    problem = context(100, pinned=range(20))
    for batches in range(1, 8):
        partial = investigate(problem, PlantedModel(model.rate), FULL, batches=batches)
        assert partial.samples < partial.planned
        assert partial.unfinished == "stopped"
    finding = investigate(problem, model, FULL)
    assert finding.planned == finding.samples == model.calls


def test_fast_asks_in_fewer_rounds_for_more_calls():
    usual, fast = [], []
    for seed in range(20):
        cause = 20 + 3 * seed
        problem = context(100, pinned=range(20), hot=[cause], seed=seed)
        for settings, seen in ((Settings(), usual), (Settings(fast=True), fast)):
            model = PlantedModel(needs(cause, rate=0.9, without=0.1), seed=seed)
            finding = investigate(problem, model, settings)
            assert sets(finding)[:1] == [{cause}]
            seen.append((finding.rounds, model.calls))
    assert sum(rounds for rounds, _ in fast) < 0.9 * sum(rounds for rounds, _ in usual)
    assert sum(calls for _, calls in fast) < 1.5 * sum(calls for _, calls in usual)


def test_precise_reruns_both_sides_twenty_times():
    (claim,) = investigate(
        context(100, pinned=range(20), hot=[42]), PlantedModel(needs(42)), Settings(precise=True)
    ).claims
    assert (claim.base.n, claim.without.n) == (20, 20)
    assert claim.low > 0.75


def test_a_leaf_that_pushes_the_decision_away_is_a_hint_and_no_claim():
    hinted = 0
    for seed in range(10):
        model = PlantedModel(lambda removed: 1.0 if 4 in removed else 0.4, seed=seed)
        finding = investigate(context(12, seed=seed), model)
        hinted += any(4 in hint.leaves for hint in finding.against)
        assert all(4 not in claim.leaves for claim in finding.claims)
    assert hinted >= 3


def test_where_nothing_is_proven_the_largest_shifts_are_told():
    finding = investigate(context(60, pinned=range(10)), PlantedModel(lambda removed: 0.7, seed=3))
    assert finding.claims == ()
    assert finding.shifts
    assert all(shift.without.rate < finding.base.rate for shift in finding.shifts)


def test_weaker_causes_are_likelier_to_have_been_missed():
    finding = investigate(context(100, pinned=range(20), hot=[42]), PlantedModel(needs(42, rate=0.9, without=0.1)))
    ratios = [ratio for ratio, _ in finding.missed_by_ratio]
    chances = [chance for _, chance in finding.missed_by_ratio]
    assert ratios == [0.2, 0.35, 0.5]
    assert chances == sorted(chances)
