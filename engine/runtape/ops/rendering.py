"""The text of a generated regression test."""

from __future__ import annotations

import keyword
from dataclasses import dataclass, field

from ..context.edit_forms import order, spelled
from ..context.edits import Edit
from ..errors import BadInput
from ..wire.values import Json

_WIDTH = 100
"""Characters of a text in one line of the file."""
_DOCSTRING = """The recorded decision must not come back.

The trace beside this file holds one run of an agent. The test sends that one model call again, with what is changed
below, and fails when the model makes the decision again. The agent and its tools are not run.
"""
_AND_WANTED = """
What was wanted must still be done: decisions that were right are sent again with the same change, each until it is
clear whether more than the share KEPT of its reruns makes it again. Either answer is wrong in at most 5% of runs.
"""
KEPT = 0.5
"""Share of its reruns in which a wanted decision has to be made again: it may be one that is not always made."""
MOST_WANTED = 40
"""Most reruns of one wanted decision; 6 are enough where none is lost."""


@dataclass(frozen=True, slots=True)
class Import:
    """A name of the user's own code, written `module:name` on the command line."""

    module: str
    name: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """Decisions that a change must not lose, all changed in the same way."""

    decisions: tuple[tuple[int, int | str], ...]
    """(number of the trace beside the test, event): 0 is the trace of the test, 1 and up are others."""
    edits: frozenset[Edit] = frozenset()
    """Those edits of the test that change their requests."""


@dataclass(frozen=True, slots=True)
class TestSpec:
    """Everything a generated test says."""

    __test__ = False  # pytest would take the class for a test by its name

    event: int
    runs: int
    tool: str | None = None
    """The tool that must not be called; None: the recorded decision must not be made again."""
    match: str | None = None
    exact_args: bool = False
    args: tuple[str, ...] = ()
    where: str | None = None
    judge: str | tuple[str, str] | None = None
    """A question or `module:function`, or (path relative to the test, function)."""
    edits: frozenset[Edit] = field(default_factory=frozenset[Edit])
    system_from: Import | None = None
    """Where the user's real system prompt is."""
    clean_with: Import | None = None
    """The user's function that cleans what tools return."""
    guard_with: Import | None = None
    """The user's function that checks tool calls."""
    model_file: tuple[str, str] | None = None
    """(path relative to the test, function) of a model function in a file."""
    model: str | None = None
    """A model function as `module:function`."""
    base_url: str | None = None
    budget: int | None = None
    """Most model calls of the test."""
    rate_below: float | None = None
    """The share of replies that call `tool` must be below this one; None: no reply may."""
    wanted: tuple[Wanted, ...] = ()
    """Decisions that the change must not lose."""


def parse_import(text: str, option: str) -> Import:
    """The import that `module:name` stands for.

    Raises:
        BadInput: it is not two dotted names of Python with a colon between them.
    """
    module, _, name = text.partition(":")
    if not all(part.isidentifier() and not keyword.iskeyword(part) for part in (*module.split("."), name)):
        raise BadInput(f"{option} {text!r} is not module:name, such as my_agent.prompts:SYSTEM.")
    return Import(module, name)


def render_test(spec: TestSpec) -> str:
    """The source of a pytest file that reruns the recorded decision and fails when it comes back.

    Every text of the trace stands in it as an ASCII literal bound to a constant: none is a comment, a docstring or a
    part of a name, so no text can become code.
    """
    file = _File()
    file.constants |= {
        "TRACE": 'Path(__file__).with_suffix(".jsonl")',
        "EVENT": str(spec.event),
        "RUNS": str(spec.runs),
    }
    file.tests.append(_decision(spec, file))
    for number, wanted in enumerate(spec.wanted, 1):
        file.tests.append(_wanted(spec, wanted, number, file))
    docstring = _DOCSTRING + (_AND_WANTED if spec.wanted else "")
    packages = "".join(f"{line}\n" for line in sorted(file.imports))
    constants = "".join(f"{name} = {value}\n" for name, value in file.constants.items())
    tests = "\n\n".join(file.tests)
    return f'"""{docstring}"""\n\nfrom pathlib import Path\n\n{packages}\n{constants}\n\n{tests}'


@dataclass(slots=True)
class _File:
    """A file that is being written."""

    imports: set[str] = field(default_factory=lambda: {"import runtape"})
    constants: dict[str, str] = field(default_factory=dict[str, str])
    tests: list[str] = field(default_factory=list[str])

    def constant(self, name: str, value: str) -> str:
        """The name of a constant of that value: `name`, or with a number behind it where that holds another value."""
        number = 1
        free = name
        while self.constants.setdefault(free, value) != value:
            number += 1
            free = f"{name}_{number}"
        return free


def _decision(spec: TestSpec, file: _File) -> str:
    """The test that the decision does not come back."""
    arguments = {"runs": "RUNS"}
    if spec.tool is not None:
        file.constant("TOOL", ascii(spec.tool))
    if spec.match is not None:
        arguments["match"] = file.constant("MATCH", ascii(spec.match))
    if spec.exact_args:
        arguments["exact_args"] = "True"
    if spec.args:
        arguments["args"] = file.constant("ARGS", "[" + ", ".join(map(ascii, spec.args)) + "]")
    if spec.where is not None:
        arguments["where"] = file.constant("WHERE", ascii(spec.where))
    if spec.judge is not None:
        judge = _text(spec.judge) if isinstance(spec.judge, str) else _in_file(spec.judge)
        arguments["judge"] = file.constant("JUDGE", judge)
    exact = bool(arguments.keys() & {"match", "exact_args", "args", "where", "judge"})
    if exact and spec.tool is not None:
        arguments["tool"] = "TOOL"
    arguments |= _changed(spec, spec.edits, file)
    repeats = exact or spec.tool is None
    if spec.rate_below is not None:
        file.constant("LIMIT", repr(spec.rate_below))
        until, check, claim = "seen.rate_settled(TOOL, LIMIT)", "rate_below(TOOL, LIMIT)", "is_rarely_made"
    else:
        # One bad reply settles it; the others need not be paid for.
        until = "seen.tally.kept > 0" if repeats else "seen.rate(TOOL) > 0"
        check, claim = "never_repeats()" if repeats else "never_calls(TOOL)", "does_not_come_back"
    return _function(f"test_the_decision_{claim}()", ("TRACE", "EVENT"), {**arguments, "until": until}, check)


def _wanted(spec: TestSpec, wanted: Wanted, number: int, file: _File) -> str:
    """The test that some decisions are still made."""
    file.imports.add("import pytest")
    places = ["TRACE" if at == 0 else f'TRACE.with_suffix(".wanted{at}.jsonl")' for at, _ in wanted.decisions]
    rows = "".join(f"    ({place}, {event!a}),\n" for place, (_, event) in zip(places, wanted.decisions, strict=True))
    decisions = file.constant("WANTED", f"[\n{rows}]")
    arguments = {"runs": file.constant("WANTED_RUNS", str(MOST_WANTED))}
    kept = file.constant("KEPT", repr(KEPT))
    arguments |= _changed(spec, wanted.edits, file)
    name = "test_what_was_wanted_is_still_done" + (f"_{number}" if number > 1 else "")
    test = _function(
        f"{name}(trace: Path, event: int | str)",
        ("trace", "event"),
        {**arguments, "until": f"seen.repeats_settled({kept})"},
        f"repeats_above({kept})",
    )
    return f'@pytest.mark.parametrize(("trace", "event"), {decisions})\n{test}'


def _changed(spec: TestSpec, edits: frozenset[Edit], file: _File) -> dict[str, str]:
    """The arguments of `rerun` for the change, and for who is asked."""
    arguments = _edited(edits, file)
    sources = (spec.system_from, "system"), (spec.clean_with, "clean"), (spec.guard_with, "guard")
    for source, argument in sources:
        if source is not None:
            file.imports.add(f"import {source.module}")
            arguments[argument] = f"{source.module}.{source.name}"
    if spec.model_file is not None:
        arguments["model"] = file.constant("MODEL", _in_file(spec.model_file))
    elif spec.model is not None:
        arguments["model"] = file.constant("MODEL", ascii(spec.model))
    if spec.base_url is not None:
        arguments["base_url"] = file.constant("BASE_URL", ascii(spec.base_url))
    if spec.budget is not None:
        arguments["budget"] = str(spec.budget)
    # A test asks the model as it is today, so no answer may come from an earlier run.
    arguments["cache_dir"] = "None"
    return arguments


def _function(signature: str, place: tuple[str, str], arguments: dict[str, str], check: str) -> str:
    until = f"lambda seen: {arguments.pop('until')}"
    options = "".join(f"        {name}={value},\n" for name, value in {**arguments, "until": until}.items())
    where = "".join(f"        {name},\n" for name in place)
    return f"def {signature} -> None:\n    seen = runtape.rerun(\n{where}{options}    )\n    seen.{check}\n"


def _in_file(named: tuple[str, str]) -> str:
    """An expression for a function in a file, given by its path relative to the test."""
    path, function = named
    return f"str(Path(__file__).parent / {path!a}) + {':' + function!a}"


def _edited(edits: frozenset[Edit], file: _File) -> dict[str, str]:
    values: dict[str, list[Json]] = {}
    for edit in sorted(edits, key=order):
        for argument, value in spelled(edit).items():
            values.setdefault(argument, []).append(value)
    return {argument: file.constant(argument.upper(), _literal(argument, found)) for argument, found in values.items()}


def _literal(argument: str, values: list[Json]) -> str:
    """One argument of `rerun` for all edits that are asked for with it."""
    match argument:
        case "drop" | "clean":
            return "[\n" + "".join(f"    {value!a},\n" for value in values) + "]"
        case "replace" | "describe":
            pairs = [pair for pair in values if isinstance(pair, list)]
            return "{\n" + "".join(f"    {old!a}: {new!a},\n" for old, new in pairs) + "}"
        case _:
            # Of these only additions to the prompt can be several; one after another they are paragraphs of it.
            return _text("\n\n".join(str(value) for value in values))


def _text(text: str) -> str:
    """A literal for a text; a long one is written as several lines that Python joins again."""
    if len(text) <= _WIDTH:
        return ascii(text)
    lines: list[str] = []
    while len(text) > _WIDTH:
        cut = text.rfind(" ", 1, _WIDTH) + 1 or _WIDTH
        lines.append(text[:cut])
        text = text[cut:]
    return "(\n" + "".join(f"    {line!a}\n" for line in (*lines, text)) + ")"
