from __future__ import annotations

import random

import pytest

from runtape.stats.keeping import WRONGLY_KEPT, KeepTest


def chance_of_kept(rate: float, test: KeepTest, most: int) -> float:
    """Exact chance that `kept` is ever the answer when it is asked after every sample."""
    said, going = 0.0, {0: 1.0}
    for n in range(1, most + 1):
        step: dict[int, float] = {}
        for kept, share in going.items():
            for more, chance in ((0, 1 - rate), (1, rate)):
                step[kept + more] = step.get(kept + more, 0.0) + share * chance
        said += sum(share for kept, share in step.items() if test.answer(kept, n) == "kept")
        going = {kept: share for kept, share in step.items() if test.answer(kept, n) == "open"}
    return said


@pytest.mark.parametrize("usual", [1.0, 0.9, 0.6])
@pytest.mark.parametrize("loss", [0.3, 0.5, 1.0])
def test_a_harmful_loss_is_hardly_ever_called_kept(usual: float, loss: float) -> None:
    assert chance_of_kept(usual * (1 - loss), KeepTest(usual), 300) <= WRONGLY_KEPT


@pytest.mark.parametrize("usual", [1.0, 0.9])
def test_a_change_that_loses_nothing_is_called_kept(usual: float) -> None:
    assert chance_of_kept(usual, KeepTest(usual), 300) >= 0.97


def test_twenty_eight_samples_without_a_loss_are_enough() -> None:
    test = KeepTest()

    assert test.needed(0, 0) == 28
    assert [test.answer(n, n) for n in (27, 28)] == ["open", "kept"]
    assert test.needed(28, 28) == 0


def test_the_samples_that_are_needed_settle_it_when_none_is_a_loss() -> None:
    chance = random.Random(3)
    for _ in range(300):
        n = chance.randint(0, 60)
        kept = chance.randint(0, n)
        test = KeepTest(chance.uniform(0.5, 1.0))
        more = test.needed(kept, n)
        assert test.answer(kept + more, n + more) == "kept"
        assert not more or test.answer(kept + more - 1, n + more - 1) != "kept"


def test_many_losses_end_it() -> None:
    assert KeepTest().answer(0, 1) == "open"
    assert KeepTest().answer(0, 2) == "lost"
