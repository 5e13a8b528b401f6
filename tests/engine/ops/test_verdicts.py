from __future__ import annotations

import pytest

from runtape.ops.verdicts import ALPHA, LOOKS, ControlPair, Judgement, judge, judge_guard
from runtape.stats.slots import Look, size
from runtape.stats.tally import Tally

BASE = Tally(10, 10)
KEPT = ControlPair("event 3", Tally(5, 5), Tally(5, 5))


def test_a_decision_that_is_gone_with_all_controls_kept_passes():
    judgement = judge(BASE, Tally(0, 10), [KEPT], 4)

    assert (judgement.verdict, judgement.reason) == ("PASS", "")
    assert judgement.p == pytest.approx(1 / 184756)


@pytest.mark.parametrize(
    ("fixed", "reason"),
    [
        (Tally(10, 10), "the decision is still made in 10 of 10 reruns"),
        (Tally(8, 10), "the decision is still made in 8 of 10 reruns; the drop may be chance"),
        (Tally(), "it could not be measured: no answer counts"),
        (Tally(broken="too long"), "it could not be measured: too long"),
    ],
)
def test_a_change_without_a_proven_drop_fails(fixed, reason):
    judgement = judge(BASE, fixed, [KEPT], 4)

    assert (judgement.verdict, judgement.reason) == ("FAIL", reason)


def test_a_decision_that_still_happens_now_and_then_is_only_part():
    assert judge(BASE, Tally(2, 10), [KEPT], 4).verdict == "PART"


def test_a_rest_that_is_bounded_below_a_tenth_passes():
    assert judge(BASE, Tally(1, 100), [KEPT], 4).verdict == "PASS"


def test_a_control_that_is_always_lost_is_named():
    lost = ControlPair("event 7", Tally(5, 5), Tally(1, 5))
    many = [KEPT] * 9

    judgement = judge(BASE, Tally(0, 10), [*many, lost], 4)

    assert (judgement.verdict, judgement.reason) == ("PART", "other decisions are lost: event 7")


def test_a_loss_spread_over_the_controls_is_seen():
    spread = [ControlPair(f"event {i}", Tally(5, 5), Tally(4, 5)) for i in range(5)]

    assert judge(BASE, Tally(0, 10), spread, 4).verdict == "PART"


def test_one_lost_rerun_of_many_is_chance():
    controls = [KEPT, KEPT, KEPT, ControlPair("event 9", Tally(5, 5), Tally(4, 5))]

    assert judge(BASE, Tally(0, 10), controls, 4).verdict == "PASS"


def test_more_candidates_need_more_evidence():
    assert judge(Tally(5, 5), Tally(0, 5), [], 1).verdict == "PASS"
    assert judge(Tally(5, 5), Tally(0, 5), [], 20).verdict == "PART"


@pytest.mark.parametrize("candidates", [1, 4, 9])
def test_all_looks_together_claim_a_drop_that_is_none_at_most_as_often_as_promised(candidates):
    cutoffs = [ALPHA / (candidates * LOOKS)] * LOOKS

    assert candidates * size(cutoffs, [Look(10, 10), Look(20, 20)]) <= ALPHA


def test_a_large_drop_that_few_reruns_do_not_show_is_left_open():
    judgement = judge(Tally(4, 10), Tally(0, 10), [KEPT], 4)

    assert (judgement.verdict, judgement.open) == ("PART", True)
    assert judgement.reason == "made in 0 of 10 reruns, as recorded in 4 of 10: too few reruns to tell; raise runs"
    assert judge(Tally(4, 10), Tally(3, 10), [KEPT], 4).verdict == "FAIL"


def test_a_guard_is_judged_without_chance():
    assert judge_guard(Tally(4, 10), Tally(0, 10), [KEPT]) == Judgement(
        "PASS", "checked on the 10 replies as recorded", 1.0
    )
    assert judge_guard(Tally(4, 10), Tally(1, 10), [KEPT]).reason.endswith("it lets 1 of 4 through")
    assert judge_guard(Tally(4, 10), Tally(4, 10), [KEPT]).verdict == "FAIL"
    assert judge_guard(Tally(4, 10), Tally(), [KEPT]).verdict == "FAIL"
    lost = ControlPair("event 7", Tally(5, 5), Tally(0, 5))
    assert judge_guard(Tally(4, 10), Tally(0, 10), [lost]).verdict == "PART"
