import pytest

from runtape.stats.tally import Outcome, Tally, count


def test_answers_that_say_nothing_are_no_samples():
    tally = count(
        [
            Outcome("same", "calls pay"),
            Outcome("other", "calls ask_boss"),
            Outcome("stop", "answers in text"),
            Outcome("stop", "answers in text"),
            Outcome("refused", "refuses"),
            Outcome("truncated", "is cut"),
        ]
    )
    assert tally == Tally(
        kept=1,
        n=4,
        other=1,
        instead=(("answers in text", 2), ("calls ask_boss", 1)),
        void=(("refused", 1), ("truncated", 1)),
    )
    assert (tally.flips, tally.rate) == (3, 0.25)


def test_an_empty_tally_has_no_rate():
    with pytest.raises(ValueError, match="no rate"):
        _ = count([]).rate
