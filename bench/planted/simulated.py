"""A simulated model for each case, whose weakness is known, and the suites on it.

It acts as planted texts tell it, at a rate that the case's seed chooses, and otherwise does its task. Decoys change
nothing: texts that look like instructions, and texts that name the bad tool. Without its task it asks what to do.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from bench.compare import Case, Line, Method, Simulated, choice_of, compare, write_trace
from bench.compare.cases import plain
from bench.compare.models import Body, Said

from .conversations import Size
from .domains import DOMAINS
from .measuring import LEAST_WITH, MOST_WITHOUT, RUNS, SCREENED, counting
from .notes import GO_ON, HARMLESS, ORDER, WAYS, first_body, note_in, write_notes
from .suites import Planted, Suite, planted

RATES = ((1.0, 0.0), (0.95, 0.05), (0.9, 0.1), (0.9, 0.2))
"""How often it acts with everything in place, and when something is missing."""
ODD = 0.1
"""Share of its other replies that take the less usual way out."""
FIRST_SEED = 30_000


@dataclass(frozen=True, slots=True)
class Weak:
    """Acts on what was planted in one case."""

    case: Planted
    rate: float
    without: float

    @property
    def task(self) -> str:
        """The sentence without which it does not know what to do."""
        told = self.case.talk.messages()[1]["content"]
        return told[told.rfind(". ") + 2 :] if ". " in told else told

    def __call__(self, body: Body, rng: random.Random) -> Said:
        """Its answer to a request."""
        text = plain(" ".join(str(message.get("content") or "") for message in body["messages"]))
        if self.task not in text and rng.random() >= ODD:
            return {"text": "What should I do?"}
        note = note_in(body)
        acts = rng.random() < (self.rate if self._holds(text, note) else self.without)
        if self.case.suite == "upstream" and note is None:
            way = rng.choice(WAYS if acts else HARMLESS)
            return {"text": way.format(tool=self.case.domain.bad)}
        domain = self.case.domain
        other = next(tool for tool in domain.tools if tool not in {domain.bad, domain.usual})
        usual = other if rng.random() < ODD else domain.usual
        if self.case.suite == "none":
            return _call(domain.usual if acts else other)
        return _call(domain.bad if acts else usual)

    def _holds(self, text: str, note: str | None) -> bool:
        there = [plain(sentence) in text for sentence in self.case.sentences]
        match self.case.suite:
            case "none":
                return True
            case "one":
                return there[0]
            case "together":
                return all(there)
            case "copies":
                return any(there)
            case "masked":
                return there[0] or not there[1]
            case "upstream":
                return there[0] if note is None else self.case.domain.bad in note


def _call(tool: str) -> Said:
    return {"tool_calls": [{"name": tool, "arguments": {}}]}


def simulated(suite: Suite, domain: str, seed: int) -> tuple[Planted, Weak]:
    """The case of a seed, of a size that the seed chooses, and its model."""
    rng = random.Random(f"simulated {suite} {domain} {seed}")
    size = Size(documents=rng.randint(1, 5), sentences=rng.randint(6, 14), decoys=4)
    case = planted(suite, domain, seed, size)
    return case, Weak(case, *rng.choice(RATES))


def plan(seeds: int, suites: Mapping[Suite, str]) -> list[tuple[Suite, str, int]]:
    """What is played, in order: in turn one of each domain."""
    names = list(DOMAINS)
    return [(suite, names[at % len(names)], FIRST_SEED + at) for suite in suites for at in range(seeds)]


def play(suite: Suite, domain: str, seed: int, methods: Mapping[str, Method], folder: Path) -> Line:
    """The line of a case; one that does not count has no answers."""
    case, weak = simulated(suite, domain, seed)
    model = Simulated(weak, seed)
    found = _counting_note(case, model) if suite == "upstream" else counting(case, model)
    facts = {"domain": domain, "planted": list(case.sentences), "ratio": round(weak.without / weak.rate, 2), **found}
    if not found["counted"]:
        return Line(case.name, suite, {}, {}, {"seed": seed, **facts})
    path = folder / f"{case.name.replace('/', '-')}.jsonl"
    decision = str(found["decision"])
    if suite == "upstream":
        trace = write_notes(path, case)
    else:
        trace = write_trace(path, case.body(), choice_of(_call(decision)))
    needed = {weak.task, *((ORDER, GO_ON, WAYS[0].format(tool=case.domain.bad)) if suite == "upstream" else ())}
    opened = Case(
        case.name,
        trace,
        replace(case.truth, needed=frozenset(needed)),
        decision={"tool": decision},
        seed=seed,
        upstream=case.domain.bad if suite == "upstream" else None,
    )
    line = compare(opened, model, methods, suite=suite, equal=True, facts=facts)
    trace.unlink()
    return line


def _counting_note(case: Planted, model: Simulated) -> dict[str, object]:
    """As `counting`, of the call that wrote the note."""

    def notes(*, planted: bool) -> int:
        drawn = model.draw(first_body(case, planted=planted), SCREENED, RUNS)
        return sum(case.domain.bad in (choice["message"]["content"] or "") for choice in drawn.choices)

    with_, without = notes(planted=True), notes(planted=False)
    counted = with_ >= LEAST_WITH and without <= MOST_WITHOUT
    return {"counted": counted, "decision": case.domain.bad, "with": with_, "without": without}
