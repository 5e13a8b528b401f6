"""What holds for every batch of every search, whatever the model does."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planted import PlantedModel, context, investigate, needs

from runtape.search.attribute import Attribution
from runtape.search.protocol import POOL
from runtape.search.settings import Settings
from runtape.stats.tally import Tally


@st.composite
def cases(draw):
    leaves = draw(st.integers(0, 60))
    some = st.sets(st.integers(0, max(0, leaves - 1)), max_size=8) if leaves else st.just(set())
    seed = draw(st.integers(0, 10_000))
    pairs = [(leaf, leaf + 1) for leaf in range(0, leaves - 1, 7)] if leaves >= 8 and draw(st.booleans()) else []
    problem = context(
        leaves,
        pinned=range(draw(st.integers(0, leaves))),
        groups=pairs,
        suspects=draw(some),
        forced=draw(st.booleans()),
        seed=seed,
    )
    cause = draw(some)
    rate, without = draw(st.sampled_from([(1.0, 0.0), (0.9, 0.1), (0.7, 0.3), (0.3, 0.0), (0.05, 0.05)]))
    spoiled = Random(seed).sample(range(leaves), leaves // 10)
    harm = draw(st.sampled_from(["none", "void", "broken"]))
    model = PlantedModel(
        needs(*cause, rate=rate, without=without),
        void=0.3 if harm == "void" else 0.0,
        broken=lambda removed: harm == "broken" and not removed.isdisjoint(spoiled),
        seed=seed,
    )
    depth = draw(st.sampled_from(["quick", "full"]))
    profile = draw(st.sampled_from(["calls", "contexts", "waves"]))
    return problem, model, Settings(depth=depth, profile=profile, budget=draw(st.sampled_from([0, 15, 60, 400])))


@settings(max_examples=120, deadline=None)
@given(cases())
def test_every_search_keeps_its_promises_to_the_end(case):
    problem, model, chosen = case
    attribution = Attribution(problem, chosen)
    search = attribution.run()
    asked, variants_of = {}, {}
    try:
        wants = next(search)
        while True:
            held = frozenset(attribution.finding().held)
            assert wants
            assert len({(want.variant, want.series) for want in wants}) == len(wants)
            assert any(want.n for want in wants), "nothing is only named ahead"
            for want in wants:
                key = (want.variant, want.series)
                assert want.n > asked.get(key, 0) or want.ahead > want.n == 0, "asks only for more than there is"
                asked[key] = max(want.n, asked.get(key, 0))
                variants_of.setdefault(want.series, set()).add(want.variant)
                assert want.variant <= frozenset(range(problem.leaves))
                if want.series == POOL:
                    assert 0 < len(want.variant) <= max(1, problem.leaves // 4)
                    assert want.variant.isdisjoint(held)
            assert sum(asked.values()) <= chosen.budget
            wants = search.send(model.answer(wants))
    except StopIteration as done:
        finding = done.value
    assert finding == attribution.finding()
    assert finding.samples == sum(asked.values())
    for series, variants in variants_of.items():
        if series.startswith(("confirm:", "member:")):
            assert len(variants) == 1, "a series of fresh reruns belongs to one claim"
    assert variants_of.get("base", {frozenset()}) == {frozenset()}
    for claim in finding.claims:
        fresh = [want for batch in model.batches for want in batch if want.series.startswith("confirm:")]
        own = {want.series for want in fresh if want.variant == frozenset(claim.leaves)}
        assert claim.without in [model.tally(want) for want in fresh if want.series in own]


@settings(max_examples=25, deadline=None)
@given(cases())
def test_the_same_problem_and_samples_give_the_same_search(case):
    problem, model, chosen = case
    first = investigate(problem, model, chosen)
    again = PlantedModel(model.rate, void=model.void, broken=model.broken, seed=model.seed)
    assert investigate(problem, again, chosen) == first
    assert again.batches == model.batches


def test_a_search_killed_at_any_batch_resumes_to_the_same_finding():
    problem = context(100, pinned=range(20), hot=[77], seed=3)

    def model():
        return PlantedModel(needs(3, 40, 77, rate=0.9, without=0.1), seed=3)

    whole = model()
    finding = investigate(problem, whole, Settings(depth="full"))
    for batches in range(1, len(whole.batches)):
        killed = model()
        investigate(problem, killed, Settings(depth="full"), batches=batches)
        paid = dict(killed.drawn)
        killed.batches.clear()
        assert investigate(problem, killed, Settings(depth="full")) == finding
        assert killed.batches == whole.batches
        assert all(killed.drawn[key] >= n for key, n in paid.items())
        assert killed.drawn == whole.drawn


def test_confirming_reruns_are_never_those_that_nominated():
    """A model whose pool series lie: every leaf looks needed while pooling, and none is."""
    luck = Random(5)

    class TwoFaced(PlantedModel):
        def tally(self, want):
            liar = PlantedModel(lambda removed: float(luck.random() < 0.3), seed=self.seed)
            return liar.tally(want) if want.series == POOL else super().tally(want)

    finding = investigate(context(60, pinned=range(10)), TwoFaced(lambda removed: 1.0))
    assert finding.claims == ()


def test_a_sample_that_does_not_count_is_read_against_the_claim():
    class Losing(PlantedModel):
        """Loses one of the first three fresh reruns of every claim."""

        def tally(self, want):
            whole = super().tally(want)
            if not want.series.startswith("confirm:") or want.n > 3:
                return whole
            return Tally(kept=0, n=2, other=2, instead=(("calls archive", 2),), void=(("truncated", 1),))

    attribution = Attribution(context(100, pinned=range(20), hot=[42]))
    search = attribution.run()
    model = Losing(needs(42))
    asked = []
    wants = next(search)
    while not attribution.finding().claims:
        asked += [want.n for want in wants if want.series == "confirm:0"]
        wants = search.send(model.answer(wants))
    assert asked == [3, 5]


def test_a_model_that_stops_answering_ends_the_search_with_what_was_proven():
    class Tiring(PlantedModel):
        def tally(self, want):
            self.void = 1.0 if len(self.batches) > 6 else 0.0
            return super().tally(want)

    model = Tiring(needs(25, 60, 85), stops=lambda removed: True)
    finding = investigate(context(100, pinned=range(20), hot=[25, 60]), model, Settings(depth="full"))
    assert finding.unfinished == "void answers"
    assert finding.status == "found"
    assert finding.claims
    assert len(model.batches) <= 12


def test_a_spent_budget_keeps_what_was_proven_and_says_so():
    model = PlantedModel(needs(25, 60, 85), stops=lambda removed: True)
    finding = investigate(context(100, pinned=range(20), hot=[25]), model, Settings(depth="full", budget=45))
    assert finding.unfinished == "budget"
    assert finding.samples <= 45
    assert finding.claims


def test_a_search_killed_at_any_call_resumes_to_the_same_claims_for_the_same_calls():
    class Killed(Exception):
        pass

    class Mortal(PlantedModel):
        """Dies before one of its calls, in the middle of a batch; what it drew before is kept."""

        calls_left: int = 10**6

        def tally(self, want):
            have = self.drawn.get((want.variant, want.series), 0)
            for n in range(have + 1, want.n + 1):
                if not self.calls_left:
                    raise Killed
                self.calls_left -= 1
                self.drawn[want.variant, want.series] = n
            return super().tally(want)

    problem = context(60, pinned=range(10), hot=[42], seed=3)
    rate = needs(3, 42, rate=0.9, without=0.1)
    whole = Mortal(rate, seed=3)
    finding = investigate(problem, whole, Settings(depth="full"))
    for call in range(whole.calls):
        model = Mortal(rate, seed=3)
        model.calls_left = call
        with pytest.raises(Killed):
            investigate(problem, model, Settings(depth="full"))
        assert model.calls == call
        model.calls_left = whole.calls - call
        assert investigate(problem, model, Settings(depth="full")) == finding
        assert model.drawn == whole.drawn


@settings(max_examples=60, deadline=None)
@given(cases())
def test_a_search_learns_nothing_from_samples_that_it_only_named_ahead(case):
    class Lying(PlantedModel):
        """Tells of every sample that was only named ahead that it flipped."""

        def answer(self, wants):
            told = super().answer(wants)
            lie = Tally(kept=0, n=9, other=9, instead=(("other", 9),))
            return [tally if want.n else lie for want, tally in zip(wants, told, strict=True)]

    problem, model, chosen = case
    finding = investigate(problem, model, chosen)
    lying = Lying(model.rate, void=model.void, broken=model.broken, seed=model.seed)
    assert investigate(problem, lying, chosen) == finding
    assert lying.batches == model.batches


def test_half_of_what_is_named_ahead_comes_next():
    used = named = 0
    for seed in range(20):
        model = PlantedModel(needs(70, rate=0.95), seed=seed)
        investigate(context(100, pinned=range(10), seed=seed), model, Settings(profile="contexts"))
        foretold = [{(w.variant, w.series): w.ahead for w in batch if w.ahead > w.n} for batch in model.batches]
        later = [
            {(w.variant, w.series): w.n for batch in model.batches[at + 1 :] for w in batch}
            for at in range(len(foretold))
        ]
        named += sum(len(batch) for batch in foretold)
        used += sum(later[at].get(key, 0) >= n for at, batch in enumerate(foretold) for key, n in batch.items())
    assert used > 0.5 * named
