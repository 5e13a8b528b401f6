from __future__ import annotations

from collections.abc import Callable

from runtape.context.edits import AddSystem, Clean, Edit
from runtape.ops.guard import Guard
from runtape.ops.trial import Arm, Trial
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

    _, second = play(trial, rates)

    assert [(want.variant, want.n) for want in second] == [(Arm(1, GOOD), 5)]
    assert trial.measured("bad").controls[0].fixed == Tally()


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

    assert len(batches) == 1
    assert trial.measured("good").controls[0].fixed == Tally(5, 5)


def test_a_guard_is_judged_on_the_samples_of_the_recorded_context():
    guard = Guard("send", "to")
    trial = Trial({"g": [Arm(0, guard=guard), Arm(1, guard=guard)]}, ["e1"], runs=10, control_runs=5)

    first, second = play(trial, rates)

    assert {(want.variant, want.series) for want in first} == {(Arm(0), "base"), (Arm(1), "base")}
    assert {want.series for want in second} == {"base"}
    assert trial.measured("g").judgement.verdict == "PASS"


def rare(arm: Arm) -> float:
    """A decision that is made in four of ten reruns."""
    return {frozenset(): 0.4, GOOD: 0.0, BAD: 0.4}[arm.edits] if arm.case == 0 else 1.0


def test_a_drop_that_few_reruns_do_not_show_gets_a_second_look():
    names = {f"good {number}": arms(frozenset({*GOOD, Clean(str(number))}), 1) for number in range(3)}
    trial = Trial({**names, "bad": arms(BAD, 1)}, ["e1"], runs=10, control_runs=5)

    first, again, second = play(trial, lambda arm: rare(Arm(arm.case, BAD if arm.edits == BAD else arm.edits & GOOD)))

    assert {want.n for want in first if want.variant.case == 0} == {10}
    assert [(want.variant.edits & GOOD, want.n, want.series) for want in again] == [
        (frozenset(), 20, "base"),
        *[(GOOD, 20, "fix")] * 3,
    ]
    assert {want.variant.case for want in second} == {1}
    assert trial.base == Tally(8, 20)
    assert [trial.measured(name).judgement.verdict for name in (*names, "bad")] == ["PASS", "PASS", "PASS", "FAIL"]
    assert trial.planned_base == 20
    assert trial.planned == 20 + 3 * 20 + 10 + 5 + 3 * 5


def test_a_drop_that_twice_as_many_reruns_do_not_show_is_left_open():
    trial = Trial(
        {f"good {n}": arms(frozenset({*GOOD, Clean(str(n))}), 0) for n in range(4)}, [], runs=10, control_runs=5
    )

    play(trial, lambda arm: 0.0 if arm.edits else 0.2)

    judgement = trial.measured("good 1").judgement
    assert judgement.verdict == "PART"
    assert "0 of 20 reruns, as recorded in 4 of 20: too few reruns to tell; raise runs" in judgement.reason


def test_a_second_look_that_was_cut_short_is_not_taken():
    trial = Trial(
        {f"good {n}": arms(frozenset({*GOOD, Clean(str(n))}), 0) for n in range(4)}, [], runs=10, control_runs=5
    )
    search = trial.run()
    first = next(search)
    again = search.send([Tally(0 if want.variant.edits else 4, 10) for want in first])

    trial.take({(again[0].variant, 20): Tally(8, 20)})

    assert trial.base == Tally(8, 20)
    assert trial.measured("good 1").fixed == Tally(0, 10)
    assert trial.measured("good 1").judgement.verdict == "PART"


def test_the_plan_counts_every_sample_once():
    guard = Guard("send", "to")
    trial = Trial(
        {"good": arms(GOOD, 1), "g": [Arm(0, guard=guard), Arm(1, guard=guard)]}, ["e1"], runs=10, control_runs=5
    )

    play(trial, rates)

    assert trial.planned == 10 + 10 + 5 + 5


def test_nothing_is_claimed_before_anything_was_measured():
    trial = Trial({"good": arms(GOOD, 1)}, ["e1"], runs=10, control_runs=5)

    assert trial.measured("good").judgement.verdict == "FAIL"
    assert trial.base == Tally()
