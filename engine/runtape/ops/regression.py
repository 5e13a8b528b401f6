"""A regression test for a recorded decision."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ..context.apply import apply
from ..context.edits import AddSystem, Clean, Edit, SetSystem
from ..errors import BadInput
from ..report.results import Candidate
from ..stats.sequential import RateTest
from .case import Case, EventInput, Selection, TraceInput, open_case, selection_of
from .controls import ControlInput
from .judges import Judge, JudgeFunction, JudgeInput
from .placing import place, write_all
from .proposals import proposed
from .remembered import recall
from .rendering import Import, TestSpec, parse_import, render_test
from .wanted import wanted_by

_RUNS_FOR_A_RATE = 100
FixInput = str | Candidate | Mapping[str, object]


def write_test(
    trace: TraceInput,
    event: EventInput,
    out: str | os.PathLike[str],
    *,
    fix: FixInput | None = None,
    add_system: str | None = None,
    system_from: str | None = None,
    clean_with: str | None = None,
    guard_with: str | None = None,
    controls: Sequence[ControlInput] | None = None,
    tool: str | None = None,
    match: str | None = None,
    exact_args: bool = False,
    args: Sequence[str] = (),
    where: str | None = None,
    judge: JudgeInput = None,
    runs: int | None = None,
    rate_below: float | None = None,
    budget: int | None = None,
    model: str | None = None,
    base_url: str | None = None,
    root: str | os.PathLike[str] | None = None,
    cache_dir: str | os.PathLike[str] | None = ".runtape",
) -> Path:
    """Write a pytest file that reruns a recorded decision and fails when it comes back.

    The trace is copied beside it, under the same name with `.jsonl`. Nothing is ever replaced. Run the file with
    `python -m pytest FILE`; it asks the model, so it costs `runs` model calls each time, and from 6 up to 40 for each
    control: those are rerun until it is clear whether more than half of the reruns still make the wanted decision, and
    either answer is wrong in at most 5% of runs.

    Args:
        trace: A path, a Trace, or `last`.
        event: An event number, `tool:NAME` or `last`.
        out: The new file, named `test_*.py`.
        fix: The change to test: a candidate of a FixReport, its name, or a mapping as `fix` takes it. A name also
            stands for the decision that it was measured on, where no argument chooses one.
        add_system: The change to test: a text that is appended to the recorded system prompt.
        system_from: Where the agent's real system prompt is, as `module:NAME`; it is imported and used.
        clean_with: The agent's function that cleans what tools return, as `module:function`; it is imported and used.
        guard_with: The agent's function that checks tool calls before they are run, as `module:function`; it is
            imported and used. It takes a call ({"name", "arguments"}) and the request, both dicts, and returns True
            when the call may go through. A call that it holds back was not made.
        controls: Decisions that were wanted, as `fix` takes them: a second test says that they are still made. None:
            those that `fix` saw made in every rerun with the change, where `fix` is its candidate or the name of one.
            A trace other than that of the decision is copied too.
        tool: The decision is that this tool is called.
        match: The decision is that the call or the text matches this regular expression.
        exact_args: The decision is the recorded tool call with exactly these arguments.
        args: The decision is the recorded tool call with the same values of these arguments, such as `amount` or
            `order.items[0].price`, whatever the others are.
        where: The decision is a tool call whose arguments fulfil a condition, such as `amount > 1000`; the language is
            described in `runtape.decision.condition_text`.
        judge: The decision is what a judge says it is: a function from the reply (a dict) to True, False, or None for
            neither, its name as `module:function` or `file.py:function`, or a yes-or-no question such as "Does the
            answer promise a refund?", which the model is asked about every reply, at one call each.
        runs: Most reruns that the test makes; 10 when None, and 100 with `rate_below`.
        rate_below: The test passes when the share of replies that call the tool is below this rate between 0 and 1, as
            `Distribution.rate_below` tells it; by default it fails at the first reply that makes the decision.
        budget: Most model calls for each decision, replacements of answers that do not count included; None for no
            limit.
        model: A model function as `module:function` or `file.py:function`; the recorded model when None.
        base_url: The server that the test asks.
        root: A folder that the file must stay in; `out` is then relative to it.
        cache_dir: Where `fix` keeps the changes that it measured.

    Returns:
        The path of the test file.

    Raises:
        BadInput: there is no such trace, event, decision or fix, or the change would change nothing.
        PathRefused: the file exists, or must not be written there.
    """
    imports = _imports(system_from, clean_with, guard_with)
    if runs is None:
        runs = 10 if rate_below is None else _RUNS_FOR_A_RATE
    if runs < 1:
        raise BadInput(f"runs={runs} reruns nothing. Ask for at least 1.")
    if budget is not None and budget < runs:
        raise BadInput(f"A budget of {budget} model calls does not allow {runs} reruns. Raise it, or lower runs.")
    path = place(out, root)
    selection = selection_of(tool, match, exact_args=exact_args, args=args, where=where, judge=judge)
    case = open_case(trace, event, selection)
    kept: Sequence[ControlInput] = ()
    if isinstance(fix, str):
        known = recall(cache_dir, case, fix)
        edits, kept = known.edits, known.wanted
        if selection == Selection():
            case = open_case(case.trace, event, known.selection)
    else:
        edits, kept = _edits(fix), fix.wanted if isinstance(fix, Candidate) else ()
    if add_system is not None:
        edits |= {AddSystem(add_system)}
    if system_from is not None and any(isinstance(edit, SetSystem) for edit in edits):
        raise BadInput("system_from and a fix that replaces the system prompt exclude each other; give one of them.")
    if clean_with is not None and any(isinstance(edit, Clean) for edit in edits):
        raise BadInput("clean_with and a fix that cleans what tools return exclude each other; give one of them.")
    if edits:
        apply(case.context, edits)  # an edit that changes nothing is refused here, not when the test runs
    if rate_below is not None:
        _check_rate(case, rate_below, runs)
    wanted = wanted_by(
        case,
        edits,
        kept if controls is None else controls,
        named=controls is not None,
        always=any(source is not None for source in imports),
    )
    model_file, model_name = _named(model, path.parent)
    spec = TestSpec(
        event=case.moment.response.id,
        runs=runs,
        # Of several calls that are the decision together, one alone may well be wanted.
        tool=case.decision.tools[0] if len(case.decision.tools) == 1 else None,
        match=case.selection.match,
        exact_args=case.selection.exact_args,
        args=case.selection.args,
        where=case.selection.where,
        judge=_judge(case.selection.judge, path.parent),
        edits=edits,
        system_from=imports.system,
        clean_with=imports.clean,
        guard_with=imports.guard,
        wanted=wanted.groups,
        model_file=model_file,
        model=model_name,
        base_url=base_url,
        budget=budget,
        rate_below=rate_below,
    )
    traces = [case.trace.path, *wanted.traces]
    write_all(path, render_test(spec), [trace.read_bytes() for trace in traces])
    return path


class _Imports(NamedTuple):
    """The user's own code that a test uses."""

    system: Import | None
    clean: Import | None
    guard: Import | None


def _imports(system: str | None, clean: str | None, guard: str | None) -> _Imports:
    named = (("system_from", system), ("clean_with", clean), ("guard_with", guard))
    return _Imports(*(parse_import(spec, option) if spec else None for option, spec in named))


def _check_rate(case: Case, limit: float, runs: int) -> None:
    """Refuse a rate that no test of this decision and size can be below."""
    if not 0 < limit < 1:
        raise BadInput(f"rate_below={limit} is no rate between 0 and 1. Give one such as 0.1.")
    if len(case.decision.tools) != 1 or replace(case.selection, tool=None) != Selection():
        raise BadInput("rate_below counts the calls of one tool. Choose the decision by tool alone.")
    if runs < (shortest := RateTest(limit).shortest):
        raise BadInput(f"{runs} reruns cannot show a rate below {limit}: that takes at least {shortest}. Raise runs.")


def _edits(fix: Candidate | Mapping[str, object] | None) -> frozenset[Edit]:
    match fix:
        case None:
            return frozenset()
        case Candidate():
            edits = frozenset(fix.edits)
        case _:
            [proposal] = proposed([fix])
            edits = proposal.edits
    if not edits:
        raise BadInput(
            "A guard acts outside the model, so a rerun cannot test it. Test the code that holds the guard instead: "
            "guard_with names it."
        )
    return edits


def _judge(judge: Judge | None, folder: Path) -> str | tuple[str, str] | None:
    """The judge as a text, or as (path relative to `folder`, function)."""
    match judge:
        case None:
            return None
        case JudgeFunction(spec=None):
            raise BadInput(
                f"A test cannot name the judge function {judge.name!r}. Pass it as module:function or file.py:function."
            )
        case JudgeFunction(spec=spec):
            file, name = _named(spec, folder)
            return file or name
        case question:
            return question.text


def _named(model: str | None, folder: Path) -> tuple[tuple[str, str] | None, str | None]:
    """A function as (path relative to `folder`, function), or as it was named."""
    if model is None:
        return None, None
    source, _, function = model.rpartition(":")
    if not source.endswith(".py"):
        return None, model
    try:
        relative = os.path.relpath(Path(source).resolve(), folder.resolve())
    except ValueError as error:  # another drive
        raise BadInput(f"{source!r} cannot be named relative to the test: {error}. Use module:function.") from None
    return (Path(relative).as_posix(), function), None
