from __future__ import annotations

from collections.abc import Callable

from runtape.context.edits import AddSystem, Clean, Edit
from runtape.ops.arms import Arm
from runtape.ops.guard import Guard
from runtape.ops.trial import Trial
from runtape.ops.verdicts import GONE
from runtape.search.protocol import Want
from runtape.stats.tally import Tally

GOOD, BAD, HARSH = (frozenset[Edit]({AddSystem(text)}) for text in ("good", "bad", "harsh"))


def arms(edits: frozenset[Edit], controls: int) -> list[Arm]:
    return [Arm(case, edits) for case in range(controls + 1)]


def play(trial: Trial, rate: Callable[[Arm], float]) -> list[list[Want[Arm]]]:
    """Run the trial against known rates; the batches it asked for."""
    search = trial.run()
    batches: list[list[Want[Arm]]] = []
    answers = None
    while True:
        try:
            batch = search.send(answers) if answers else next(search)
        except StopIteration:
            return batches
        batches.append(list(batch))
        answers = [Tally(round(rate(want.variant) * want.n), want.n) for want in batch]


def rates(arm: Arm) -> float:
    if arm.case == 0:
        return 1.0 if arm.edits in (frozenset(), BAD) and not arm.guard else 0.0
    return 0.0 if arm.edits == HARSH else 1.0


def test_each_candidate_is_judged_against_the_decision_as_recorded():
    trial = Trial({"good": arms(GOOD, 2), "bad": arms(BAD, 2)}, ["e1", "e2"], runs=10, control_runs=5)

    play(trial, rates)

    assert trial.base == Tally(10, 10)
    assert trial.measured("good").judgement.verdict == "PASS"
    assert trial.measured("bad").judgement.verdict == "FAIL"


def test_controls_are_not_paid_for_when_the_change_does_not_work():
    trial = Trial({"good": arms(GOOD, 1), "bad": arms(BAD, 1)}, ["e1"], runs=10, control_runs=5)

    _, gone, first, *more = play(trial, rates)

    assert [(want.variant, want.n) for want in gone] == [(Arm(0, GOOD), GONE)]
    assert [(want.variant, want.n) for want in first] == [(Arm(1, GOOD), 4)]
    assert [want.variant for [want] in more] == [Arm(1, GOOD)] * 6
    assert trial.measured("good").controls[0].fixed == Tally(28, 28)
    assert trial.measured("bad").controls[0].fixed == Tally()


def test_a_change_that_breaks_a_control_is_found_out_early():
    trial = Trial({"harsh": arms(HARSH, 4)}, ["e1", "e2", "e3", "e4"], runs=10, control_runs=3)

    batches = play(trial, rates)

    assert [want.n for want in batches[-1]] == [4] * 4
    assert trial.measured("harsh").judgement.reason == "other decisions are lost: e1, e2, e3, e4"


def test_the_first_look_ends_a_change_that_does_nothing():
    trial = Trial({"bad": arms(BAD, 1)}, ["e1"], runs=10, control_runs=5)

    [first] = play(trial, rates)

    assert [(want.variant, want.n) for want in first] == [(Arm(0), 10), (Arm(0, BAD), 5), (Arm(1), 5)]


def test_a_change_that_breaks_a_control_is_no_pass():
    trial = Trial({"harsh": arms(HARSH, 1)}, ["e1"], runs=10, control_runs=5)

    play(trial, rates)

    assert trial.measured("harsh").judgement.verdict == "PART"


def test_a_control_that_does_not_happen_again_by_itself_is_left_out():
    trial = Trial({"good": arms(GOOD, 2)}, ["e1", "e2"], runs=10, control_runs=5)

    play(trial, lambda arm: 0.2 if arm.case == 2 else rates(arm))

    assert trial.unusable() == ["e2"]
    assert [pair.name for pair in trial.measured("good").controls] == ["e1"]


def test_a_change_that_does_not_touch_a_control_costs_nothing_there():
    trial = Trial({"good": [Arm(0, GOOD), Arm(1)]}, ["e1"], runs=10, control_runs=5)

    batches = play(trial, rates)

    assert [want.variant.case for batch in batches[1:] for want in batch] == [0]
    assert trial.measured("good").controls[0].fixed == Tally(5, 5)


def test_a_guard_is_judged_on_the_samples_of_the_recorded_context():
    guard = Guard("send", "to")
    trial = Trial({"g": [Arm(0, guard=guard), Arm(1, guard=guard)]}, ["e1"], runs=10, control_runs=5)

    first, second = play(trial, rates)

    assert {(want.variant, want.series) for want in first} == {(Arm(0), "base"), (Arm(1), "base")}
    assert {want.series for want in second} == {"base"}
    assert trial.measured("g").judgement.verdict == "PASS"


def test_the_plan_counts_every_sample_once():
    guard = Guard("send", "to")
    trial = Trial(
        {"good": arms(GOOD, 1), "g": [Arm(0, guard=guard), Arm(1, guard=guard)]}, ["e1"], runs=10, control_runs=5
    )

    play(trial, rates)

    assert trial.planned == 10 + GONE + 5 + 28
    assert trial.planned_base == 10


def names(n: int) -> dict[str, list[Arm]]:
    return {f"good {number}": arms(frozenset({*GOOD, Clean(str(number))}), 4) for number in range(n)}


def test_one_change_is_confirmed_and_the_others_are_left_where_they_are():
    trial = Trial(names(4), ["e1", "e2", "e3", "e4"], runs=10, control_runs=3, order=["good 2", "good 0"])

    play(trial, lambda arm: rates(Arm(arm.case, arm.edits & GOOD)))

    said = {name: trial.measured(name) for name in names(4)}
    assert [name for name, found in said.items() if found.judgement.verdict == "PASS"] == ["good 2"]
    assert trial.unconfirmed() == ["good 0"]
    assert said["good 0"].fixed == Tally(0, 5)


def test_many_changes_leave_room_to_confirm_more_than_one():
    trial = Trial(names(8), ["e1", "e2", "e3", "e4"], runs=10, control_runs=3)

    play(trial, lambda arm: rates(Arm(arm.case, arm.edits & GOOD)))

    passed = [name for name in names(8) if trial.measured(name).judgement.verdict == "PASS"]
    assert passed == ["good 0", "good 1"]


def test_the_next_change_is_confirmed_where_the_first_one_fails():
    trial = Trial({"harsh": arms(HARSH, 4), "good": arms(GOOD, 4)}, ["e1", "e2", "e3", "e4"], runs=10, control_runs=3)

    play(trial, rates)

    assert trial.measured("harsh").judgement.verdict == "PART"
    assert trial.measured("good").judgement.verdict == "PASS"


def test_a_decision_that_is_rare_as_recorded_is_rerun_twice_as_often():
    trial = Trial(names(4), ["e1", "e2", "e3", "e4"], runs=10, control_runs=3)

    _, gone, *_ = play(trial, lambda arm: 1.0 if arm.case else 0.0 if arm.edits else 0.3)

    assert [(want.variant.edits == frozenset(), want.n) for want in gone] == [(False, GONE), (True, 20)]
    assert trial.base == Tally(6, 20)
    assert trial.measured("good 0").judgement.verdict == "PASS"


def test_answers_to_a_batch_that_was_cut_short_are_taken_in():
    trial = Trial({"good": arms(GOOD, 1)}, ["e1"], runs=10, control_runs=3)
    search = trial.run()
    first = next(search)
    search.send([Tally(0 if want.variant.edits else want.n, want.n) for want in first])

    trial.take({(Arm(0), 10): Tally(10, 10), (Arm(0, GOOD), 5): Tally(0, 5), (Arm(0, GOOD), GONE): Tally(0, GONE)})

    assert trial.measured("good").fixed == Tally(0, GONE)
    assert trial.measured("good").judgement.reason == "other decisions were not rerun with it yet"


def test_nothing_is_claimed_before_anything_was_measured():
    trial = Trial({"good": arms(GOOD, 1)}, ["e1"], runs=10, control_runs=5)

    assert trial.measured("good").judgement.verdict == "FAIL"
    assert trial.base == Tally()


def test_changes_in_reserve_are_rerun_only_when_no_other_passes():
    trial = Trial({"good": arms(GOOD, 1), "bad": arms(BAD, 1)}, ["e1"], runs=10, control_runs=3, reserve={"good"})
    first, looks, *_ = play(trial, rates)
    assert Arm(0, GOOD) not in {want.variant for want in first}
    assert [(want.variant, want.n) for want in looks] == [(Arm(0, GOOD), 5)]
    assert trial.measured("good").judgement.verdict == "PASS"
    assert not trial.reserve

    trial = Trial({"good": arms(GOOD, 1), "bad": arms(BAD, 1)}, ["e1"], runs=10, control_runs=3, reserve={"bad"})
    play(trial, rates)
    assert trial.measured("good").judgement.verdict == "PASS"
    assert trial.measured("bad").fixed == Tally()
    assert trial.reserve == ["bad"]
