from hypothesis import given
from hypothesis import strategies as st

from runtape.search.ledger import Record
from runtape.search.slot import Counts, Slot
from runtape.stats.tally import Tally


def judged(counts, *, looks=1, units=(3,), number=0):
    slot = Slot(number, frozenset(units), frozenset(units))
    for _ in range(looks):
        slot.judge(counts, base_rate=0.95)
    return slot


def test_none_of_three_against_ten_of_ten_proves():
    slot = judged(Counts(base_kept=10, kept=0, seen_kept=0, seen=3))
    assert slot.state == "proven"
    assert 0 < slot.p <= 0.0073


def test_none_of_three_against_nine_of_ten_waits_for_more():
    assert judged(Counts(base_kept=9, kept=0, seen_kept=0, seen=3)).state == "open"


def test_the_later_slots_ask_for_more():
    assert judged(Counts(base_kept=10, kept=1, seen_kept=1, seen=3), number=9).state == "open"
    early, late = (
        judged(Counts(base_kept=10, kept=1, seen_kept=1, seen=5), looks=2, number=number) for number in (0, 9)
    )
    assert (early.state, late.state) == ("proven", "open")


def test_a_significant_but_small_drop_of_a_set_is_not_claimed():
    drop = Counts(base_kept=20, kept=5, seen_kept=5, seen=12)
    one, several = Slot(0, frozenset({3}), frozenset({3})), Slot(0, frozenset({3, 4}), frozenset({3, 4}))
    for slot in (one, several):
        slot.look = 3
        slot.judge(drop, base_rate=0.95)
    assert (one.state, several.state) == ("proven", "open")


def test_reruns_that_keep_the_decision_end_the_slot():
    slot = judged(Counts(base_kept=10, kept=3, seen_kept=3, seen=3))
    assert slot.state == "open"
    slot.judge(Counts(base_kept=10, kept=5, seen_kept=5, seen=5), base_rate=0.95)
    assert slot.state == "given up"


def test_a_slot_whose_reruns_never_count_is_void():
    assert judged(Counts(base_kept=10, kept=3, seen_kept=0, seen=0)).state == "void"


@given(st.lists(st.sampled_from(["same", "flip", "void"]), max_size=30), st.integers(0, 20))
def test_bounds_on_the_first_samples_hold_whatever_the_lost_ones_were(answers, n):
    record = Record()
    for asked in (5, 12, 30):
        counting = [answer for answer in answers[:asked] if answer != "void"]
        record.tallies.append(Tally(kept=counting.count("same"), n=len(counting)))
    counting = [answer for answer in answers if answer != "void"]
    missing = max(0, n - len(counting))
    kept = counting[:n].count("same")
    assert record.least_kept(n) <= kept
    assert record.most_kept(n) >= kept + missing


def test_the_bounds_are_exact_where_every_sample_counted():
    record = Record(10, [Tally(kept=4, n=5), Tally(kept=7, n=10)])
    assert [record.least_kept(n) for n in (5, 10)] == [record.most_kept(n) for n in (5, 10)] == [4, 7]
