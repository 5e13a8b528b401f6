from __future__ import annotations

from collections.abc import Generator, Sequence

import pytest
from sampling import chat

from runtape.errors import BudgetSpent, EditChangesNothing
from runtape.sample.budget import Budget
from runtape.sample.cache import ReplyCache
from runtape.sample.drive import drive
from runtape.sample.model import Answer
from runtape.sample.oracle import Oracle
from runtape.sample.sampler import Sampler
from runtape.sample.served import served_as
from runtape.search.protocol import Want
from runtape.stats.tally import Outcome, Tally
from runtape.testing.models import ScriptedModel
from runtape.wire.values import Reply, Request

pytestmark = pytest.mark.anyio

SAME, OTHER = Reply("pay", stop="end"), Reply("wait", stop="end")
CUT = Reply("pa", stop="length")


def render(variant: str) -> Request:
    if variant == "unchanged":
        raise EditChangesNothing("'unchanged' changes nothing")
    return chat(variant)


def judge(reply: Reply) -> Outcome:
    if reply.stop == "length":
        return Outcome("truncated", "is cut")
    return Outcome("same", "pays") if reply.text == "pay" else Outcome("other", "waits")


def oracle_for(model: ScriptedModel, cache: ReplyCache, budget: int | None = None) -> Oracle[str]:
    return Oracle(render, judge, Sampler(model, cache, Budget(budget)))


def pays_in(*variants: str) -> ScriptedModel:
    def script(request: Request) -> Reply:
        return SAME if any(request == chat(variant) for variant in variants) else OTHER

    return ScriptedModel(script)


async def test_tallies_come_in_the_order_of_the_wants(memory: ReplyCache) -> None:
    oracle = oracle_for(pays_in("base"), memory)
    base, without = await oracle.answer([Want("base", 3), Want("without", 2)])
    assert base == Tally(kept=3, n=3)
    assert without == Tally(kept=0, n=2, other=2, instead=(("waits", 2),))


async def test_one_variant_in_two_series_is_sampled_for_each(memory: ReplyCache) -> None:
    model = pays_in("base")
    pool, slot = await oracle_for(model, memory).answer([Want("base", 3), Want("base", 2, "slot 1")])
    assert (pool.n, slot.n) == (3, 2)
    assert len(model.asked) == 5


async def test_an_edit_that_changes_nothing_breaks_its_own_want(memory: ReplyCache) -> None:
    broken, base = await oracle_for(pays_in("base"), memory).answer([Want("unchanged", 3), Want("base", 1)])
    assert broken == Tally(broken="'unchanged' changes nothing")
    assert base.n == 1


async def test_a_cut_answer_is_no_sample_and_another_is_drawn(memory: ReplyCache) -> None:
    oracle = oracle_for(ScriptedModel([SAME, CUT, OTHER, SAME]), memory)
    [tally] = await oracle.answer([Want("base", 3)])
    assert tally == Tally(kept=2, n=3, other=1, instead=(("waits", 1),), void=(("truncated", 1),))
    assert any("1 of 4 answers were cut" in note for note in oracle.notes)


async def test_a_variant_whose_answers_are_all_void_says_so(memory: ReplyCache) -> None:
    [tally] = await oracle_for(ScriptedModel([CUT] * 10), memory).answer([Want("base", 2)])
    assert (tally.n, tally.void) == (0, (("truncated", 4),))
    assert tally.broken == "none of its 4 answers counts (4 truncated)"


def looks_twice(seen: list[Sequence[Tally]]) -> Generator[Sequence[Want[str]], Sequence[Tally], int]:
    try:
        seen.append((yield [Want("base", 2)]))
        seen.append((yield [Want("base", 4), Want("without", 2)]))
    finally:
        seen.append([])
    return 42


async def test_a_search_is_driven_to_its_result(memory: ReplyCache) -> None:
    seen: list[Sequence[Tally]] = []
    rounds: list[int] = []
    oracle = oracle_for(pays_in("base"), memory)
    result = await drive(looks_twice(seen), oracle, on_round=lambda: rounds.append(len(seen)))
    assert result == 42
    assert [len(tallies) for tallies in seen] == [1, 2, 0]
    assert rounds == [1], "called when the search knows the answers"


async def test_a_search_that_runs_out_of_budget_is_closed_and_goes_on_from_the_cache(memory: ReplyCache) -> None:
    seen: list[Sequence[Tally]] = []
    model = pays_in("base")
    with pytest.raises(BudgetSpent):
        await drive(looks_twice(seen), oracle_for(model, memory, budget=3), on_round=None)
    assert [len(tallies) for tallies in seen] == [1, 0]
    assert await drive(looks_twice([]), oracle_for(model, memory, budget=3)) == 42
    assert len(model.asked) == 6, "nothing is paid twice"


async def test_a_search_without_a_question_needs_no_model(memory: ReplyCache) -> None:
    def known() -> Generator[Sequence[Want[str]], Sequence[Tally], str]:
        return "known"
        yield []

    assert await drive(known(), oracle_for(ScriptedModel([]), memory)) == "known"


async def test_a_tally_knows_who_answered_and_when(memory: ReplyCache) -> None:
    names = iter(["model-1", "model-2", "model-2"])
    oracle = oracle_for(ScriptedModel(lambda request: Reply("pay", stop="end", model=next(names))), memory)
    base, slot = await oracle.answer([Want("base", 2), Want("base", 1, "slot 1")])
    for tally in (base, slot):
        assert tally.source.since is not None
        assert tally.source.until is not None
        assert tally.source.since <= tally.source.until
    assert base.source.served | slot.source.served == {"model-1", "model-2"}
    (again,) = await oracle_for(pays_in(), memory).answer([Want("base", 2)])
    assert again.source == base.source


def test_the_fingerprint_of_a_system_tells_it_from_others_of_the_same_name() -> None:
    reply = Reply("pay", stop="end", model="model-1")
    assert served_as(Answer(reply, {"system_fingerprint": "fp_1"})) != served_as(
        Answer(reply, {"system_fingerprint": "fp_2"})
    )
    assert served_as(Answer(reply, {})) == "model-1"
    assert served_as(Answer(None, "garbled", "no JSON")) is None
