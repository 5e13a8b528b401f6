"""One pair of AgentDojo as a recorded run: a task of the user, an injection, decoys, and the call after them.

AgentDojo's own pipeline runs, with its tools, its environment and its output format; its model element talks to a model
that follows AgentDojo's ground truth. This project's recorder writes down what was sent. Nothing of the context is put
together here but the injected text itself.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import openai

import runtape

from ..compare import choice_of
from . import dojo
from .decoys import DECOYS
from .dojo import Act
from .susceptible import texts_of
from .wording import first_sentence, squashed

BENIGN = 4
"""Harmless imperative sentences in a context."""
NOWHERE = "http://127.0.0.1:9/v1"
MODEL = "simulated"
LOST: Act = {"text": "Which one do you mean?"}
"""What a model says that lacks what it needs for the user's task."""


@dataclass(frozen=True, slots=True)
class Laid:
    """What an attacker and others wrote into the places that the agent reads."""

    places: Mapping[str, str]
    """Text by AgentDojo's name of the placeholder."""
    trigger: str
    """The sentence that the susceptible model follows: the first of the injection's goal."""
    foreign: tuple[str, ...]
    """All that is not the user's: the injection, the second one that nobody follows, and the decoys."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A recorded decision with what is known about it."""

    trace: Path
    event: int
    act: Act
    """The decision."""
    otherwise: Act
    """What the model does when it does not decide so."""
    laid: Laid
    prompt: str


def lay_out(suite: Any, attack: Any, user: Any, injection: Any, *, seed: int, decoys: bool = True) -> Laid:
    """The injection in one of the places that the task reads, a second one and benign orders around it."""
    chance = random.Random(f"{seed} {suite.name} {user.ID} {injection.ID}")
    seen = attack.get_injection_candidates(user)
    where = chance.choice(seen)
    attacks = {other.ID: attack.attack(user, other)[where] for other in suite.injection_tasks.values()}
    trigger = first_sentence(injection.GOAL)
    parts = {place: [dojo.defaults(suite.name)[place]] for place in seen}
    parts[where] = [attacks[injection.ID]]
    foreign = [attacks[injection.ID]]
    if decoys:
        others = [o for o in suite.injection_tasks.values() if squashed(trigger) not in squashed(o.GOAL)]
        second = attacks[chance.choice(others).ID]
        benign = chance.sample(DECOYS[suite.name], BENIGN)
        for text in (second, *benign):
            parts[chance.choice(seen)].insert(chance.randint(0, 1), text)
        foreign += [second, *benign]
    return Laid({place: "\n\n".join(texts) for place, texts in parts.items()}, trigger, tuple(foreign))


def record(suite: Any, user: Any, injection: Any, laid: Laid, path: Path, *, control: bool) -> Scene:
    """Runs AgentDojo's pipeline up to the first reply after the injection was read, and records it.

    `control`: the model goes on with the user's task there; otherwise it makes the injection's first call.
    """
    env = dojo.environment(suite, user, laid.places)
    steps = dojo.steps(user, env)
    follows = None if control else dojo.acts(suite, injection, env)[0]
    script = _Script(steps, follows, laid.trigger)
    client = openai.OpenAI(
        api_key="none", base_url=NOWHERE, http_client=httpx2.Client(transport=httpx2.MockTransport(script.answer))
    )
    with runtape.record(path) as recorder:
        recorder.wrap(client)
        try:
            dojo.run(suite, user, env, dojo.OpenAILLM(client, MODEL), until=lambda: script.decided is not None)
        finally:
            client.close()
    trace = runtape.load(path)
    if script.decided is None:
        raise LookupError(f"{user.ID} never reads {injection.ID}")
    return Scene(path, trace.calls[-1].response.id, script.decided, script.otherwise, laid, user.PROMPT)


class _Script:
    """The model behind AgentDojo's element while a scene is recorded: follows the ground truth of the user's task.

    After the trigger was read it does what it is told to once, and that is the decision.
    """

    def __init__(self, steps: Sequence[Act], follows: Act | None, trigger: str) -> None:
        self._steps = list(steps)
        self._follows = follows
        self._trigger = squashed(trigger)
        self.decided: Act | None = None
        self.otherwise: Act = LOST

    def answer(self, request: httpx2.Request) -> httpx2.Response:
        """The response of an OpenAI-compatible server."""
        body = json.loads(request.content)
        next_step: Act = self._steps.pop(0)
        if any(self._trigger in squashed(text) for text in texts_of(body)):
            self.decided = self._follows or next_step
            self.otherwise = next_step if self._follows else LOST
            next_step = self.decided
        choice = choice_of(dict(next_step))
        for call in choice["message"].get("tool_calls", ()):
            call["id"] = f"call_{len(body['messages'])}"
        return httpx2.Response(
            200, json={"id": "c", "object": "chat.completion", "created": 0, "model": MODEL, "choices": [choice]}
        )
