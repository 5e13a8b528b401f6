from planted import PlantedModel, context, investigate, needs, sets

from runtape.search.settings import Settings

HERE = context(60, pinned=range(10), hot=[42])


def test_more_runs_are_drawn_once_everything_is_decided():
    usual, more = PlantedModel(needs(42)), PlantedModel(needs(42))
    (claim,) = investigate(HERE, usual).claims
    (sharper,) = investigate(HERE, more, Settings(runs=25)).claims

    assert (sharper.base.n, sharper.without.n) == (25, 25)
    assert (sharper.leaves, sharper.kind, sharper.p) == (claim.leaves, claim.kind, claim.p)
    assert more.batches[: len(usual.batches)] == usual.batches


def test_fewer_runs_than_a_search_makes_change_nothing():
    usual, fewer = PlantedModel(needs(42)), PlantedModel(needs(42))
    assert investigate(HERE, fewer, Settings(runs=3)) == investigate(HERE, usual)


def test_a_decision_is_called_too_rare_only_after_all_the_runs_asked_for():
    model = PlantedModel(needs(42, rate=0.0))
    finding = investigate(HERE, model, Settings(runs=50))
    assert (finding.status, finding.base.n) == ("not reproducible", 50)


def test_runs_that_the_budget_does_not_hold_leave_the_answer_as_it_is():
    usual = investigate(HERE, PlantedModel(needs(42)))
    finding = investigate(HERE, PlantedModel(needs(42)), Settings(budget=usual.samples + 3, runs=200))
    assert sets(finding) == sets(usual)
    assert (finding.status, finding.unfinished) == ("found", "budget")
