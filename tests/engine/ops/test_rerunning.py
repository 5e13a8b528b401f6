from __future__ import annotations

import pytest
from inbox_run import PLANTED, RULE, SYSTEM, agent, down

import runtape
from runtape.context.edits import Clean
from runtape.errors import BadInput, BudgetSpent, EditChangesNothing, ModelFailed
from runtape.testing.models import ScriptedModel

DECISION = "tool:forward_email"


def rerun(run, **options):
    return runtape.rerun(run, DECISION, **{"model": agent, "runs": 4, **options})


def test_the_recorded_context_makes_the_recorded_decision(run):
    seen = rerun(run)

    assert seen.always_calls("forward_email") is seen
    assert seen.tally.kept == 4
    assert seen.actions == [("calls forward_email", 4)]
    assert seen.replies[0].calls == ('forward_email {"to":"ledger@clearing.example"}',)
    assert seen.rate("forward_email") == 1.0


@pytest.mark.parametrize(
    "change",
    [
        {"add_system": RULE},
        {"system": f"{SYSTEM} {RULE}"},
        {"replace": {PLANTED: "Nothing else."}},
        {"replace": (PLANTED, "Nothing else.")},
        {"replace": f"{PLANTED}=>Nothing else."},
        {"clean": PLANTED},
        {"clean": lambda text: text.replace(PLANTED, "")},
        {"edit": Clean(PLANTED)},
        {"edit": [Clean(PLANTED)]},
    ],
)
def test_every_kind_of_change_can_take_the_decision_away(run, change):
    seen = rerun(run, **change)

    assert seen.never_calls("forward_email").never_repeats().counts() == {"calls file_invoice": 4}


def test_a_piece_is_dropped_by_its_reference(run):
    [ref] = runtape.why(run, DECISION, model=agent).causes[0].refs

    assert rerun(run, drop=[ref]).tally.kept == 0


def test_an_edit_that_changes_nothing_is_an_error(run):
    with pytest.raises(EditChangesNothing):
        rerun(run, replace={"not there": "x"})


def test_a_cleaning_that_changes_nothing_reruns_the_recorded_context(run):
    assert rerun(run, clean=lambda text: text).tally.kept == 4


def test_the_recorded_system_prompt_given_again_is_noted_not_refused(run):
    seen = rerun(run, system=SYSTEM)

    assert seen.tally.kept == 4
    assert "the recorded one" in seen.notes[-1]


def test_a_cleaning_function_that_returns_no_text_is_refused(run):
    with pytest.raises(BadInput, match="NoneType"):
        rerun(run, clean=lambda text: None)


def test_the_model_name_reaches_the_model(run):
    asked = []

    def remember(request):
        asked.append(request["model"])
        return "ok"

    rerun(run, model=remember, model_name="m-2")

    assert set(asked) == {"m-2"}


def test_the_same_reruns_cost_nothing_the_second_time(run):
    first, second = rerun(run, add_system=RULE), rerun(run, add_system=RULE)

    assert (first.calls, first.reused) == (4, 0)
    assert (second.calls, second.reused) == (0, 4)


def test_reruns_as_recorded_are_those_that_why_needs(run):
    rerun(run, runs=10)

    assert runtape.why(run, DECISION, model=agent).reused == 10


def test_an_answer_that_does_not_count_is_replaced(run):
    seen = rerun(run, model=ScriptedModel(["", "Done.", "Done.", "Done.", "Done."]))

    assert (len(seen), seen.asked, seen.calls) == (4, 4, 5)
    assert seen.tally.void == (("invalid", 1),)


def test_too_many_answers_that_do_not_count_conclude_nothing(run):
    seen = rerun(run, model=ScriptedModel(["Done.", "", "", "", "", "Done.", "Done."]))

    assert len(seen) == 3
    with pytest.raises(ModelFailed, match=r"3 of 4 .*4 invalid"):
        seen.never_calls("forward_email")


def test_fewer_answers_than_asked_conclude_nothing(run):
    seen = rerun(run, budget=2)

    assert (len(seen), seen.asked, seen.stopped_by) == (2, 4, "budget")
    with pytest.raises(ModelFailed, match="2 of 4"):
        seen.never_calls("delete_everything")


def test_a_budget_without_any_answer_is_an_error(run):
    with pytest.raises(BudgetSpent):
        rerun(run, budget=0)


def test_a_model_without_any_answer_is_an_error(run):
    with pytest.raises(ModelFailed):
        rerun(run, model=down)


def test_at_least_one_run_is_asked_for(run):
    with pytest.raises(BadInput, match="at least 1"):
        rerun(run, runs=0)


def test_the_first_bad_call_can_end_the_reruns(run):
    asked = []

    def counted(request):
        asked.append(request)
        return agent(request)

    seen = rerun(run, model=counted, runs=50, until=lambda seen: seen.rate("forward_email") > 0)
    assert (len(seen), len(asked), seen.enough) == (4, 4, True)
    with pytest.raises(AssertionError, match="in 4 of 4 reruns"):
        seen.never_calls("forward_email")
    with pytest.raises(AssertionError, match="made in 4 of 4"):
        seen.never_repeats()


def test_a_rule_that_finds_nothing_lets_all_reruns_be_made(run):
    seen = rerun(run, runs=10, add_system=RULE, until=lambda seen: seen.rate("forward_email") > 0)
    assert (len(seen), seen.enough) == (10, False)
    assert seen.never_calls("forward_email")


def test_a_rate_is_tested_with_as_few_reruns_as_it_takes(run):
    def settled(seen):
        return seen.rate_settled("forward_email", 0.1)

    never = rerun(run, runs=200, add_system=RULE, until=settled)
    assert never.rate_below("forward_email", 0.1) is never
    assert len(never) == 40
    with pytest.raises(AssertionError, match=r"is not below 0\.1: 4 of 4"):
        rerun(run, runs=200, until=settled).rate_below("forward_email", 0.1)
    with pytest.raises(ModelFailed, match="Only 40 of 200"):
        never.never_calls("forward_email")


def test_a_rule_is_not_asked_about_a_run_that_ended_early(run):
    rules = []
    seen = rerun(run, runs=50, budget=9, until=lambda seen: rules.append(len(seen)))
    assert (seen.stopped_by, seen.enough) == ("budget", False)
    assert rules == [4, 8]
