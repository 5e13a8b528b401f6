"""All methods on one case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .cases import Answer, Case, score
from .lines import Line
from .methods import ALL_CALLS, WHY, Method, ask, leave_one_out_within
from .models import Desk, Model


def compare(
    case: Case,
    model: Model,
    methods: Mapping[str, Method],
    *,
    suite: str,
    equal: bool = False,
    most: int = 1,
    facts: Mapping[str, Any] | None = None,
) -> Line:
    """The line of a case: every method asks at a desk of its own.

    `equal`: also leave one out in as many calls as `why` took, as `ALL_CALLS`. `most`: replies that one request may ask
    for. `facts`: more that the line is to hold.
    """
    answers: dict[str, Answer] = {name: ask(method, case, Desk(model, most)) for name, method in methods.items()}
    if equal:
        answers[ALL_CALLS] = ask(leave_one_out_within(answers[WHY].calls), case, Desk(model, most))
    scores = {name: score(answer, case.truth) for name, answer in answers.items()}
    return Line(case.name, suite, answers, scores, {"seed": case.seed, **(facts or {})})
