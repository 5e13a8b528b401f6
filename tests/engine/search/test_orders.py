"""The order of the tools as an answer."""

from planted import PlantedModel, context, investigate, needs

ORDERS = range(100, 104)


def test_the_order_of_the_tools_is_named_when_nothing_in_the_text_matters():
    for seed in range(8):
        model = PlantedModel(lambda removed: 0.1 if removed.intersection(ORDERS) else 0.95, seed=seed)
        finding = investigate(context(100, pinned=range(20), reorderings=4, seed=seed), model)
        assert finding.status == "found"
        assert {claim.kind for claim in finding.claims} == {"order"}
        assert {leaf for claim in finding.claims for leaf in claim.leaves} <= set(ORDERS)
        assert len(finding.claims) >= 2
        assert len(finding.orders) == 4


def test_an_order_that_changes_nothing_is_reported_with_its_counts():
    finding = investigate(context(100, pinned=range(20), reorderings=2), PlantedModel(lambda removed: 1.0))
    assert finding.status == "nothing read matters"
    assert [(seen.kept, seen.n) for seen in finding.orders] == [(3, 3), (3, 3)]


def test_orders_are_not_tried_where_a_text_explains():
    model = PlantedModel(needs(42))
    investigate(context(100, pinned=range(20), reorderings=4), model)
    assert not any(want.variant.intersection(ORDERS) for batch in model.batches for want in batch)


def test_orders_that_only_look_different_by_chance_are_rarely_claimed():
    false = 0
    for seed in range(60):
        model = PlantedModel(lambda removed: 0.75, seed=seed)
        false += bool(investigate(context(60, pinned=range(10), reorderings=4, seed=seed), model).claims)
    assert false <= 3
