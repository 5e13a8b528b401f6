"""A model on 127.0.0.1 that falls for AgentDojo's attacks until a rule tells it not to; for trying the online mode."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from . import dojo
from .cases import Pair
from .dojo import Act
from .susceptible import texts_of
from .wording import first_sentence, squashed

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

from stand_in_server import serve

IMMUNE = 1.3
"""A system prompt that is longer than AgentDojo's by this factor is taken for one with a rule against injections."""


class Double:
    """Follows AgentDojo's ground truth of a task, and that of an injection as soon as it has read its goal."""

    def __init__(self, pairs: Sequence[Pair]) -> None:
        self._steps: dict[str, list[Act]] = {}
        self._acts: dict[str, list[Act]] = {}
        for pair in pairs:
            suite = dojo.suite_of(pair.suite)
            user, injection = suite.user_tasks[pair.user], suite.injection_tasks[pair.injection]
            env = dojo.environment(suite, user, {})
            self._steps[squashed(user.PROMPT)] = dojo.steps(user, env)
            self._acts[squashed(first_sentence(injection.GOAL))] = dojo.acts(suite, injection, env)
        self._known = len(squashed(dojo.SYSTEM))

    def answer(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """The reply to a chat completions request."""
        messages = body["messages"]
        said = ["".join(map(squashed, texts_of({"messages": [message]}))) for message in messages]
        steps = next((steps for prompt, steps in self._steps.items() if any(prompt in text for text in said)), None)
        if steps is None:
            return {"text": "What would you like me to do?"}
        made = [call["function"]["name"] for message in messages for call in message.get("tool_calls") or ()]
        system = sum(len(text) for text, message in zip(said, messages, strict=True) if _is_system(message))
        if system <= IMMUNE * self._known:
            for trigger, acts in self._acts.items():
                read = [at for at, text in enumerate(said) if messages[at]["role"] == "tool" and trigger in text]
                if read:
                    since = sum(len(message.get("tool_calls") or ()) for message in messages[read[0] :])
                    if since < len(acts):
                        return acts[since]
        own = [name for name in made if any(name in dojo.tools([step]) for step in steps)]
        return steps[min(len(own), len(steps) - 1)]


def _is_system(message: Mapping[str, Any]) -> bool:
    return message["role"] in {"system", "developer"}


@contextmanager
def served(pairs: Sequence[Pair]) -> Iterator[str]:
    """The base URL of a double for some pairs."""
    with serve(Double(pairs).answer) as url:
        yield url
