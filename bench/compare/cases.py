"""A recorded decision with its known causes, and how right an answer about it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import runtape
from runtape.context.apply import remove
from runtape.ops.case import Case as Opened
from runtape.ops.case import open_case, selection_of
from runtape.wire.dialects import dialect_for

from .models import API, Body, Choice, said_of


@dataclass(frozen=True, slots=True)
class Truth:
    """What a decision depends on."""

    sets: tuple[frozenset[str], ...] = ()
    """Smallest sets of texts each of which stops the decision when it is removed alone: one sentence, either of two
    that are needed together, both of two that say the same. Empty when nothing that was read makes the decision."""
    needed: frozenset[str] = frozenset()
    """Other texts that it needs: naming them is not false, and no answer either."""


@dataclass(frozen=True)
class Case:
    """A recorded model call whose decision is to be explained."""

    name: str
    trace: Path
    truth: Truth
    event: int | str = "last"
    decision: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """Which decision of the reply is meant, as `why` takes it: `tool`, `match`, `exact_args`."""
    seed: int = 0
    """For methods that choose at random."""
    upstream: str | None = None
    """Where the cause lies in an earlier call of the trace: a regular expression for what its reply says."""

    @cached_property
    def opened(self) -> Opened:
        """The decision and its context in pieces."""
        chosen = self.decision
        return open_case(
            self.trace,
            self.event,
            selection_of(
                chosen.get("tool"),
                chosen.get("match"),
                exact_args=chosen.get("exact_args", False),
                args=(),
                where=None,
                judge=None,
            ),
        )

    @property
    def leaves(self) -> list[str]:
        """The smallest texts of the context that can be left out, in order."""
        context = self.opened.context
        return [context.pieces[leaf].text for leaf in context.leaves]

    def without(self, *leaves: int) -> Body:
        """The request without some leaves; as recorded without any."""
        request = remove(self.opened.context, frozenset(leaves)) if leaves else self.opened.request
        body, _ = dialect_for(API).for_rerun(request.body)
        return dict(body)

    def decides(self, choice: Choice) -> bool:
        """Whether a reply makes the decision."""
        return self.opened.decision.matcher.matches(dialect_for(API).replies({"choices": [choice]})[0])


@dataclass(frozen=True, slots=True)
class Answer:
    """What a method said about a case, and what it cost."""

    headline: tuple[str, ...] = ()
    """The texts that it blames first; empty when it blames none."""
    claims: tuple[tuple[str, ...], ...] = ()
    """Everything that it calls a cause, the headline included."""
    calls: int = 0
    requests: int = 0
    seconds: float = 0.0
    """Of the method itself and of the model."""
    prompt_tokens: int = 0
    reply_tokens: int = 0
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        """For a line of results."""
        return {**asdict(self), "seconds": round(self.seconds, 3)}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Answer:
        """What `as_json` made."""
        claims = tuple(tuple(claim) for claim in row["claims"])
        return cls(**{**row, "headline": tuple(row["headline"]), "claims": claims})


@dataclass(frozen=True, slots=True)
class Score:
    """How right an answer is."""

    exact: bool
    """The headline is exactly the cause; where nothing was read that makes the decision, nothing of it is blamed."""
    holds: bool
    """The headline holds the cause, and maybe more."""
    false: bool
    """Some claim holds nothing that the decision depends on."""


def score(answer: Answer, truth: Truth) -> Score:
    """Compares wording only, whatever the spaces and line breaks."""
    sets = [frozenset(map(plain, texts)) for texts in truth.sets]
    headline = frozenset(map(plain, answer.headline))
    real = frozenset().union(*sets, map(plain, truth.needed))
    return Score(
        exact=headline in sets if sets else headline <= real,
        holds=any(all(any(text in said for said in headline) for text in texts) for texts in sets)
        if sets
        else headline <= real,
        false=any(not any(text in plain(said) for said in claim for text in real) for claim in answer.claims),
    )


def plain(text: str) -> str:
    """The words, with one space between them."""
    return " ".join(text.split())


def write_trace(path: Path, body: Body, reply: Choice, *, endpoint: str | None = None) -> Path:
    """A trace of one model call, as a recorded agent leaves it."""
    rest = {name: value for name, value in body.items() if name not in {"model", "messages", "tools"}}
    said = said_of(reply)
    with runtape.record(path) as recorder:
        asked = recorder.log_llm_request(
            provider="openai",
            api=API,
            model=body["model"],
            messages=body["messages"],
            tools=body.get("tools"),
            params=rest,
            endpoint=endpoint,
        )
        calls = [{"id": f"call_{at}", **call} for at, call in enumerate(said["tool_calls"])]
        recorder.log_llm_response(asked, text=said["text"], tool_calls=calls, stop_reason=reply.get("finish_reason"))
    return path
