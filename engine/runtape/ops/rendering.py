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


@dataclass(frozen=True, slots=True)
class Import:
    """A name of the user's own code, written `module:name` on the command line."""

    module: str
    name: str


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
    model_file: tuple[str, str] | None = None
    """(path relative to the test, function) of a model function in a file."""
    model: str | None = None
    """A model function as `module:function`."""
    base_url: str | None = None
    budget: int | None = None
    """Most model calls of the test."""
    rate_below: float | None = None
    """The share of replies that call `tool` must be below this one; None: no reply may."""


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
    constants = {"TRACE": 'Path(__file__).with_suffix(".jsonl")', "EVENT": str(spec.event), "RUNS": str(spec.runs)}
    arguments: dict[str, str] = {"runs": "RUNS"}
    if spec.tool is not None:
        constants["TOOL"] = ascii(spec.tool)
    if spec.match is not None:
        constants["MATCH"] = ascii(spec.match)
        arguments["match"] = "MATCH"
    if spec.exact_args:
        arguments["exact_args"] = "True"
    if spec.args:
        constants["ARGS"] = "[" + ", ".join(map(ascii, spec.args)) + "]"
        arguments["args"] = "ARGS"
    if spec.where is not None:
        constants["WHERE"] = ascii(spec.where)
        arguments["where"] = "WHERE"
    if spec.judge is not None:
        constants["JUDGE"] = _text(spec.judge) if isinstance(spec.judge, str) else _in_file(spec.judge)
        arguments["judge"] = "JUDGE"
    exact = bool(arguments.keys() & {"match", "exact_args", "args", "where", "judge"})
    if exact and spec.tool is not None:
        arguments["tool"] = "TOOL"
    _add_edits(spec.edits, constants, arguments)
    imports = {"import runtape"}
    for source, argument in ((spec.system_from, "system"), (spec.clean_with, "clean")):
        if source is not None:
            imports.add(f"import {source.module}")
            arguments[argument] = f"{source.module}.{source.name}"
    if spec.model_file is not None:
        constants["MODEL"] = _in_file(spec.model_file)
    elif spec.model is not None:
        constants["MODEL"] = ascii(spec.model)
    if "MODEL" in constants:
        arguments["model"] = "MODEL"
    if spec.base_url is not None:
        constants["BASE_URL"] = ascii(spec.base_url)
        arguments["base_url"] = "BASE_URL"
    if spec.budget is not None:
        arguments["budget"] = str(spec.budget)
    # A test asks the model as it is today, so no answer may come from an earlier run.
    arguments["cache_dir"] = "None"
    repeats = exact or spec.tool is None
    if spec.rate_below is not None:
        constants["LIMIT"] = repr(spec.rate_below)
        arguments["until"] = "lambda seen: seen.rate_settled(TOOL, LIMIT)"
        return _file(sorted(imports), constants, arguments, "rate_below(TOOL, LIMIT)", "is_rarely_made")
    check = "never_repeats()" if repeats else "never_calls(TOOL)"
    # One bad reply settles it; the others need not be paid for.
    arguments["until"] = f"lambda seen: seen.{'tally.kept' if repeats else 'rate(TOOL)'} > 0"
    return _file(sorted(imports), constants, arguments, check, "does_not_come_back")


def _in_file(named: tuple[str, str]) -> str:
    """An expression for a function in a file, given by its path relative to the test."""
    path, function = named
    return f"str(Path(__file__).parent / {path!a}) + {':' + function!a}"


def _add_edits(edits: frozenset[Edit], constants: dict[str, str], arguments: dict[str, str]) -> None:
    values: dict[str, list[Json]] = {}
    for edit in sorted(edits, key=order):
        for argument, value in spelled(edit).items():
            values.setdefault(argument, []).append(value)
    for argument, found in values.items():
        constants[argument.upper()], arguments[argument] = _literal(argument, found), argument.upper()


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


def _file(imports: list[str], constants: dict[str, str], arguments: dict[str, str], check: str, claim: str) -> str:
    packages = "".join(f"{line}\n" for line in imports)
    set_up = "".join(f"{name} = {value}\n" for name, value in constants.items())
    options = "".join(f"        {name}={value},\n" for name, value in arguments.items())
    return (
        f'"""{_DOCSTRING}"""\n\nfrom pathlib import Path\n\n{packages}\n{set_up}\n\n'
        f"def test_the_decision_{claim}() -> None:\n"
        f"    seen = runtape.rerun(\n        TRACE,\n        EVENT,\n{options}    )\n"
        f"    seen.{check}\n"
    )


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
