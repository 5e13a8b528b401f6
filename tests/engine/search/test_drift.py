"""A model that is exchanged for another one while it is asked."""

from dataclasses import dataclass, replace
from random import Random

from planted import PlantedModel, context, investigate, needs, sets

from runtape.search.attribute import Attribution
from runtape.search.settings import Settings
from runtape.stats.tally import Provenance, Tally

STEADY = 600


@dataclass
class Exchanged(PlantedModel):
    """Answers as another model from some batch on; a batch takes `pace` seconds."""

    at: int = 2
    pace: float = 1.0
    named: bool = True
    later: float = 0.3

    def answer(self, wants):
        self.batches.append(list(wants))
        batch = len(self.batches)
        now = self.pace * batch
        tallies = []
        for want in wants:
            self.drawn[want.variant, want.series] = max(want.n, self.drawn.get((want.variant, want.series), 0))
            other = batch > self.at
            model = PlantedModel(lambda removed: self.later, seed=batch) if other else self
            name = {f"model-{2 if other else 1}"} if self.named else set()
            tallies.append(replace(PlantedModel.tally(model, want), source=Provenance(now, now, frozenset(name))))
        return tallies


def checks(model):
    return [want.series for batch in model.batches for want in batch if want.series.startswith("base:check")]


def test_a_drop_that_comes_from_another_model_is_not_claimed():
    for seed in range(6):
        model = Exchanged(needs(42), later=0.0, seed=seed)
        finding = investigate(context(100, pinned=range(20), hot=[42], seed=seed), model)
        assert checks(model)
        assert (finding.claims, finding.unfinished) == ((), "drift")


def test_without_names_ten_minutes_are_enough_to_check_again():
    slow = Exchanged(needs(42), named=False, pace=STEADY, at=10**6)
    assert sets(investigate(context(100, pinned=range(20), hot=[42]), slow)) == [{42}]
    assert checks(slow)
    quick = Exchanged(needs(42), named=False, pace=5, at=10**6)
    assert sets(investigate(context(100, pinned=range(20), hot=[42]), quick)) == [{42}]
    assert not checks(quick)


@dataclass
class Replaced(PlantedModel):
    """Makes the decision less often from its third batch on, and says so by its name; samples stay as they were."""

    def __post_init__(self):
        self.random = Random(self.seed)
        self.kept = {}

    def answer(self, wants):
        self.batches.append(list(wants))
        late = len(self.batches) > 2
        tallies = []
        for want in wants:
            outcomes = self.kept.setdefault((want.variant, want.series), [])
            while len(outcomes) < want.n:
                outcomes.append((self.random.random() < self.rate(want.variant) * (0.3 if late else 1.0), late))
            kept = sum(repeated for repeated, _ in outcomes[: want.n])
            names = frozenset("new" if other else "old" for _, other in outcomes[: want.n])
            flips = want.n - kept
            told = Tally(kept=kept, n=want.n, other=flips, instead=(("other", flips),) if flips else ())
            tallies.append(replace(told, source=Provenance(0.0, 0.0, names)))
        return tallies


def test_a_cause_is_found_on_the_new_model_after_the_base_was_begun_anew():
    found = 0
    for seed in range(8):
        model = Replaced(needs(42), seed=seed)
        finding = investigate(context(100, pinned=range(20), hot=[42], seed=seed), model)
        if finding.restarts:
            found += sets(finding) == [{42}]
            assert all(claim.base.rate < 0.6 for claim in finding.claims)
    assert found >= 6


def test_a_model_that_changes_again_and_again_ends_the_search_and_says_so():
    class Restless(PlantedModel):
        """Another model in every batch; each check of the base meets one that never makes the decision."""

        def answer(self, wants):
            self.batches.append(list(wants))
            name = frozenset({f"model-{len(self.batches)}"})
            lost = PlantedModel(lambda removed: 0.0)
            return [
                replace((lost if "check" in want.series else self).tally(want), source=Provenance(served=name))
                for want in wants
            ]

    finding = investigate(context(100, pinned=range(20), hot=[42]), Restless(needs(42)))
    assert finding.unfinished == "drift"
    assert (finding.restarts, finding.claims) == (2, ())


class Fading:
    """Makes the decision whatever it reads, and after its first samples rarely."""

    def __init__(self, seed, *, last=10, later=0.3):
        self.random = Random(seed)
        self.last, self.later = last, later
        self.drawn = {}
        self.samples = 0

    def answer(self, wants):
        tallies = []
        for want in wants:
            outcomes = self.drawn.setdefault((want.variant, want.series), [])
            while len(outcomes) < want.n:
                self.samples += 1
                outcomes.append(self.random.random() < (0.95 if self.samples <= self.last else self.later))
            kept = sum(outcomes[: want.n])
            tallies.append(Tally(kept=kept, n=want.n, other=want.n - kept, instead=(("other", want.n - kept),)))
        return tallies


def test_a_decision_that_is_made_no_more_within_minutes_and_under_one_name_is_hardly_ever_blamed_on_a_text():
    wrong = noticed = 0
    for last in (14, 20, 26, 32):
        for seed in range(8):
            model = Fading(seed, last=last, later=0.0)
            finding = drained(Attribution(context(60, pinned=range(10), seed=seed)).run(), model)
            wrong += bool(finding.claims)
            noticed += finding.unfinished == "drift"
    assert wrong <= 2
    assert noticed >= 16


def test_a_claim_that_later_reruns_as_recorded_contradict_is_not_made():
    contradicted = 0
    for seed in range(24):
        attribution = Attribution(context(60, pinned=range(10), seed=seed), Settings("full"))
        search, model = attribution.run(), Fading(seed, last=20)
        finding = drained(search, model)
        assert all(claim.low > 0 for claim in finding.claims)
        if len(attribution.claims) > len(finding.claims):
            contradicted += 1
            assert finding.unfinished == "drift"
    assert contradicted


def drained(search, model):
    try:
        wants = next(search)
        while True:
            wants = search.send(model.answer(wants))
    except StopIteration as done:
        return done.value
