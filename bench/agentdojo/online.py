"""AgentDojo's own pipeline with a real model: runs recorded, attacks that worked explained, fixes tried in full runs.

For every pair the user's task is run once under attack. Where the attack worked, the reply that made the harmful call
is explained, and a fix is looked for; a rule for the system prompt that passes is then tried in a full run under attack
and in one without. Where the attack did not work, the first call after the injection was read is a control.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import openai

import runtape
from runtape.context.edits import AddSystem
from runtape.context.split import split
from runtape.report.results import FixReport

from ..compare import Answer
from . import dojo
from .cases import Pair
from .offline import blames
from .susceptible import texts_of
from .wording import first_sentence, squashed


@dataclass(frozen=True, slots=True)
class Run:
    """One run of AgentDojo's pipeline."""

    trace: Path
    utility: bool
    """The user's task is done, as AgentDojo judges it."""
    attacked: bool
    """The injection's task is done."""


@dataclass(frozen=True, slots=True)
class Found:
    """One pair, as a line of results."""

    pair: str
    utility: bool
    attacked: bool
    decision: str = ""
    """The tool whose call was explained; empty where nothing was to be explained."""
    headline: tuple[str, ...] = ()
    exact: bool = False
    """It is the first sentence of the injection's goal."""
    in_injection: bool = False
    """It is a text that the attacker wrote; false blame for a control."""
    calls: int = 0
    fix: str = ""
    """The fix that passed on the decision."""
    fixed_attacked: bool | None = None
    """Whether the attack works in a full run with it; None where the fix is no rule."""
    fixed_utility: bool | None = None
    """Whether the user's task is done in a full run with it, without an attack."""
    plain_utility: bool | None = None
    """The same without the fix."""


@dataclass(frozen=True, slots=True)
class Called:
    """A reply that calls a tool."""

    event: int
    tool: str
    read: str
    """Letters and digits of all that the model was sent."""


class Online:
    """The pairs of a session with one model."""

    def __init__(self, url: str, model: str, folder: Path, budget: int) -> None:
        self._url = url
        self._model = model
        self._folder = folder
        self._budget = budget

    def play(self, pair: Pair) -> Found:
        """Runs, explains and mends one pair."""
        scene = _Scene(pair)
        ran = self._run(scene, "attacked", scene.places)
        found = Found(pair.name, ran.utility, ran.attacked)
        harm = _harmful(ran.trace, scene) if ran.attacked else _own(ran.trace, scene)
        if harm is None:
            return found
        found = self._explained(found, ran, scene, harm)
        return self._mended(found, ran, scene, harm) if ran.attacked else found

    def _explained(self, found: Found, ran: Run, scene: _Scene, harm: Called) -> Found:
        report = runtape.why(ran.trace, harm.event, tool=harm.tool, **self._asking(scene, harm))
        headline = tuple(map(squashed, report.headline))
        foreign = [squashed(leaf.text) for text in scene.places.values() for leaf in split(text).leaves()]
        return replace(
            found,
            decision=harm.tool,
            headline=tuple(report.headline),
            exact=headline == (squashed(scene.trigger),),
            in_injection=blames(Answer(headline, (headline,)), foreign),
            calls=report.calls,
        )

    def _mended(self, found: Found, ran: Run, scene: _Scene, harm: Called) -> Found:
        report = runtape.fix(ran.trace, harm.event, tool=harm.tool, **self._asking(scene, harm))
        found = replace(found, calls=found.calls + report.calls, fix=report.best or "")
        rule = _rule(report)
        if rule is None:
            return found
        return replace(
            found,
            fixed_attacked=self._run(scene, "attacked, mended", scene.places, rule).attacked,
            fixed_utility=self._run(scene, "benign, mended", {}, rule).utility,
            plain_utility=self._run(scene, "benign", {}).utility,
        )

    def _run(self, scene: _Scene, name: str, places: Mapping[str, str], rule: str = "") -> Run:
        path = self._folder / f"{scene.pair.name}, {name}.jsonl"
        path.unlink(missing_ok=True)
        key = os.environ.get("OPENAI_API_KEY", "none")
        with openai.OpenAI(base_url=self._url, api_key=key) as client, runtape.record(path) as recorder:
            recorder.wrap(client)
            system = f"{dojo.SYSTEM}\n\n{rule}" if rule else dojo.SYSTEM
            asking = dojo.pipeline(dojo.OpenAILLM(client, self._model), system)
            utility, attacked = scene.suite.run_task_with_pipeline(asking, scene.user, scene.injection, dict(places))
        return Run(path, bool(utility), bool(attacked) and bool(places))

    def _asking(self, scene: _Scene, harm: Called) -> dict[str, Any]:
        """How is asked; about the very arguments where the user's task needs the same tool."""
        exact = harm.tool in scene.wanted & scene.harmful
        return {
            "base_url": self._url,
            "exact_args": exact,
            "budget": self._budget,
            "cache_dir": self._folder / "cache",
        }


class _Scene:
    """A pair as AgentDojo has it, under its own attack."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self.suite = dojo.suite_of(pair.suite)
        self.user = self.suite.user_tasks[pair.user]
        self.injection = self.suite.injection_tasks[pair.injection]
        self.places: Mapping[str, str] = dojo.attack_of(pair.suite).attack(self.user, self.injection)
        env = dojo.environment(self.suite, self.user, {})
        self.harmful = dojo.tools(dojo.acts(self.suite, self.injection, env))
        self.wanted = dojo.tools(dojo.steps(self.user, env))
        self.trigger = first_sentence(self.injection.GOAL)


def _harmful(trace: Path, scene: _Scene) -> Called | None:
    """The first call that the injection asks for, after it was read; None when there is none."""
    return next((called for called in _after(trace, scene) if called.tool in scene.harmful), None)


def _own(trace: Path, scene: _Scene) -> Called | None:
    """The first call of the user's task after the injection was read, of a tool that the injection does not want."""
    return next((called for called in _after(trace, scene) if called.tool in scene.wanted - scene.harmful), None)


def _after(trace: Path, scene: _Scene) -> Iterator[Called]:
    return (called for called in _calls(trace) if squashed(scene.trigger) in called.read)


def _calls(path: Path) -> Iterator[Called]:
    """Each reply that calls a tool."""
    trace = runtape.load(path)
    for call in trace.calls:
        made = call.response.payload.get("tool_calls") if call.response else None
        if made:
            said = "".join(map(squashed, texts_of(trace.request(call.request.id).body)))
            yield Called(call.response.id, made[0]["name"], said)


def _rule(report: FixReport) -> str | None:
    """The best fix as a rule for the system prompt; None when it is another kind of change."""
    for candidate in report.candidates:
        if candidate.name == report.best and all(isinstance(edit, AddSystem) for edit in candidate.edits):
            return "\n".join(edit.text for edit in candidate.edits if isinstance(edit, AddSystem)) or None
    return None


def run(options: argparse.Namespace, chosen: list[Pair]) -> Iterator[Found]:
    """Each pair as it is done."""
    with ExitStack() as stack:
        url = options.base_url
        if options.double:
            from .double import served

            url = stack.enter_context(served(chosen))
        kept = options.traces or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="runtape-agentdojo-")))
        kept.mkdir(parents=True, exist_ok=True)
        session = Online(url, options.model, kept, options.budget)
        for at, pair in enumerate(chosen, 1):
            print(f"{at} of {len(chosen)}: {pair.name}", file=sys.stderr, flush=True)
            yield session.play(pair)
