from __future__ import annotations

from math import comb

import pytest

from runtape.ops.verdicts import ALPHA, GONE, LOOKS, ControlPair, Judgement, verdict_on, verdict_on_guard
from runtape.stats.slots import Look, size
from runtape.stats.tally import Tally

BASE = Tally(10, 10)
GONE_NOW = Tally(0, GONE)
KEPT = ControlPair("event 3", Tally(3, 3), Tally(28, 28))
SORTED = ControlPair("event 3", Tally(3, 3), Tally(3, 3))


def test_a_decision_that_is_gone_with_all_controls_kept_passes():
    judgement = verdict_on(BASE, GONE_NOW, [KEPT], 4)

    assert (judgement.verdict, judgement.reason) == ("PASS", "")
    assert judgement.p == pytest.approx(1 / comb(GONE + 10, 10))


def test_a_decision_that_is_gone_in_a_few_reruns_is_not_called_gone():
    judgement = verdict_on(BASE, Tally(0, 10), [KEPT], 4)

    assert (judgement.verdict, judgement.open) == ("PART", True)
    assert judgement.reason == "made in 0 of 10 reruns, which is too few to call it gone: that takes 34"
    assert 0.9**GONE < ALPHA


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
    judgement = verdict_on(BASE, fixed, [KEPT], 4)

    assert (judgement.verdict, judgement.reason) == ("FAIL", reason)


def test_a_decision_that_still_happens_now_and_then_is_only_part():
    assert verdict_on(BASE, Tally(2, 10), [KEPT], 4).verdict == "PART"


def test_one_bad_call_of_many_reruns_is_only_part():
    judgement = verdict_on(BASE, Tally(1, 100), [KEPT], 4)

    assert (judgement.verdict, judgement.open) == ("PART", False)
    assert judgement.reason == "the decision is made less often, but still in 1 of 100 reruns"


def test_a_control_that_is_always_lost_is_named():
    lost = ControlPair("event 7", Tally(5, 5), Tally(1, 5))
    many = [KEPT] * 9

    judgement = verdict_on(BASE, GONE_NOW, [*many, lost], 4)

    assert (judgement.verdict, judgement.reason) == ("PART", "other decisions are lost: event 7")


def test_a_loss_spread_over_the_controls_is_seen():
    spread = [ControlPair(f"event {i}", Tally(3, 3), Tally(5, 8)) for i in range(4)]

    judgement = verdict_on(BASE, GONE_NOW, spread, 4)

    assert (judgement.verdict, judgement.open) == ("PART", False)
    assert judgement.reason == "other decisions are made in 20 of 32 reruns, without the change in 12 of 12"


def test_one_lost_rerun_of_many_is_chance():
    controls = [KEPT, KEPT, KEPT, ControlPair("event 9", Tally(3, 3), Tally(4, 5))]

    assert verdict_on(BASE, GONE_NOW, controls, 4).verdict == "PASS"


def test_too_few_reruns_of_the_controls_are_no_pass():
    judgement = verdict_on(BASE, GONE_NOW, [ControlPair("event 3", Tally(3, 3), Tally(27, 27))], 4)

    assert (judgement.verdict, judgement.open) == ("PART", True)
    assert judgement.reason.endswith("without the change in 3 of 3: too few to tell that none is lost")


def test_controls_that_are_not_rerun_yet_are_no_pass():
    judgement = verdict_on(BASE, GONE_NOW, [ControlPair("event 3", Tally(3, 3), Tally())], 4)

    assert (judgement.verdict, judgement.reason) == ("PART", "other decisions were not rerun with it yet")


def test_a_control_that_the_change_does_not_touch_has_nothing_to_lose():
    same = ControlPair("event 3", Tally(3, 3), Tally(3, 3), touched=False)

    assert verdict_on(BASE, GONE_NOW, [same], 4).verdict == "PASS"
    assert verdict_on(BASE, GONE_NOW, [], 4).verdict == "PASS"


def test_a_control_that_is_not_always_made_is_compared_with_itself():
    unsteady = ControlPair("event 3", Tally(9, 12), Tally(68, 80))

    assert verdict_on(BASE, GONE_NOW, [unsteady], 4).verdict == "PASS"
    assert verdict_on(BASE, GONE_NOW, [ControlPair("event 3", Tally(12, 12), Tally(56, 80))], 4).verdict == "PART"


def test_more_candidates_need_more_evidence():
    assert verdict_on(Tally(4, 10), GONE_NOW, [], 1).verdict == "PASS"
    assert verdict_on(Tally(4, 10), GONE_NOW, [], 40).verdict == "PART"


@pytest.mark.parametrize("candidates", [1, 4, 9])
def test_all_looks_together_claim_a_drop_that_is_none_at_most_as_often_as_promised(candidates):
    cutoffs = [ALPHA / (candidates * LOOKS)] * LOOKS

    assert candidates * size(cutoffs, [Look(10, GONE), Look(20, GONE)]) <= ALPHA


def test_a_decision_that_is_rare_as_recorded_needs_more_reruns_as_recorded():
    judgement = verdict_on(Tally(2, 10), GONE_NOW, [KEPT], 4)

    assert (judgement.verdict, judgement.open) == ("PART", False)
    assert judgement.reason == "made in 0 of 34 reruns, as recorded in 2 of 10: too few reruns to tell; raise runs"
    assert verdict_on(Tally(4, 10), Tally(3, 10), [KEPT], 4).verdict == "FAIL"
    assert verdict_on(Tally(4, 10), Tally(1, 5), [KEPT], 4).verdict == "PART"


def test_a_guard_is_judged_without_chance():
    assert verdict_on_guard(Tally(4, 10), Tally(0, 10), [SORTED]) == Judgement(
        "PASS", "checked on the 10 replies as recorded", 1.0
    )
    assert verdict_on_guard(Tally(4, 10), Tally(1, 10), [SORTED]).reason.endswith("it lets 1 of 4 through")
    assert verdict_on_guard(Tally(4, 10), Tally(4, 10), [KEPT]).verdict == "FAIL"
    assert verdict_on_guard(Tally(4, 10), Tally(), [KEPT]).verdict == "FAIL"
    lost = ControlPair("event 7", Tally(3, 3), Tally(2, 3))
    assert verdict_on_guard(Tally(4, 10), Tally(0, 10), [lost]).reason.endswith(
        "it blocks 1 of 3 wanted replies: event 7"
    )
    waiting = ControlPair("event 7", Tally(3, 3), Tally())
    assert verdict_on_guard(Tally(4, 10), Tally(0, 10), [waiting]).verdict == "PART"
