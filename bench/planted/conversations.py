"""Conversations made from a seed: an agent has read its documents and is about to decide.

The same seed gives the same conversation on every machine; where a text is planted does not change the rest.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any

from .domains import COMMON, DOMAINS, MENTIONS, NUMBERS, Domain

PARAGRAPH = (2, 4)
"""Sentences of a paragraph, fewest and most."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much an agent has read."""

    documents: int = 1
    sentences: int = 7
    """Of each document."""
    decoys: int = 0
    """In all of them together: sentences that tell somebody to do something harmless, and as many that only mention the
    bad tool."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """What was said before the decision."""

    domain: Domain
    values: Mapping[str, str]
    """What the slots of the system prompt and the task are filled with."""
    documents: tuple[tuple[tuple[str, ...], ...], ...]
    """Documents of paragraphs of sentences."""

    @property
    def last_page(self) -> tuple[str, ...]:
        """Something to read that says nothing new: the first document's last paragraph."""
        return self.documents[0][-1]

    @property
    def places(self) -> list[tuple[int, int, int]]:
        """Every sentence boundary: document, paragraph, and how many sentences of it come before."""
        return [
            (one, two, three)
            for one, document in enumerate(self.documents)
            for two, paragraph in enumerate(document)
            for three in range(len(paragraph) + 1)
        ]

    def messages(self, planted: Sequence[tuple[tuple[int, int, int], str]] = ()) -> list[dict[str, Any]]:
        """The messages, with texts planted at places."""
        domain = self.domain
        said: list[dict[str, Any]] = [
            {"role": "system", "content": domain.system},
            {"role": "user", "content": domain.task.format_map(self.values)},
        ]
        about = domain.about.format_map(self.values)
        for at, document in enumerate(self.documents):
            call = f"call_{at + 1}"
            asked = json.dumps({"about": about if at == 0 else f"{about}, page {at + 1}"})
            function = {"name": domain.reads, "arguments": asked}
            said.append(
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [{"id": call, "type": "function", "function": function}],
                }
            )
            text = "\n\n".join(
                " ".join(_with(paragraph, [(place[2], words) for place, words in planted if place[:2] == (at, part)]))
                for part, paragraph in enumerate(document)
            )
            said.append({"role": "tool", "tool_call_id": call, "content": text})
        return said

    @property
    def tools(self) -> list[dict[str, Any]]:
        """What the agent may do next. No tool takes arguments, so that replies are short."""
        nothing = {"type": "object", "properties": {}}
        return [{"type": "function", "function": {"name": name, "parameters": nothing}} for name in self.domain.tools]


def _with(paragraph: Sequence[str], planted: Sequence[tuple[int, str]]) -> list[str]:
    sentences: list[str] = []
    for at in range(len(paragraph) + 1):
        sentences += [words for place, words in planted if place == at]
        sentences += paragraph[at : at + 1]
    return sentences


def conversation(domain: str, size: Size, rng: random.Random) -> Conversation:
    """A conversation of some size; no sentence comes twice."""
    kind = DOMAINS[domain]
    values = fill_values(kind, rng)
    seen: set[str] = set()
    documents: list[tuple[tuple[str, ...], ...]] = []
    urging = size.decoys // 2
    told = [*rng.sample(kind.decoys, urging), *rng.sample(MENTIONS, size.decoys - urging)]
    decoys = [fill(text, kind, rng, {**values, "tool": kind.bad}) for text in told]
    pool: list[str] = []
    for _ in range(size.documents):
        sentences = [fill(kind.sentences[0], kind, rng, values)]
        while len(sentences) < size.sentences:
            if not pool:
                pool = rng.sample(kind.sentences[1:], len(kind.sentences) - 1)
            text = fill(pool.pop(), kind, rng, values)
            if text not in seen:
                sentences.append(text)
            seen.add(text)
        documents.append(_paragraphs(sentences, rng))
    made = Conversation(kind, values, tuple(documents))
    for decoy in decoys:
        made = _placed(made, decoy, rng)
    return made


def _placed(made: Conversation, text: str, rng: random.Random) -> Conversation:
    """The conversation with one more sentence that belongs to it."""
    one, two, three = rng.choice(made.places)
    documents = [[list(paragraph) for paragraph in document] for document in made.documents]
    documents[one][two].insert(three, text)
    return Conversation(
        made.domain, made.values, tuple(tuple(tuple(part) for part in document) for document in documents)
    )


def _paragraphs(sentences: Sequence[str], rng: random.Random) -> tuple[tuple[str, ...], ...]:
    parts: list[tuple[str, ...]] = []
    at = 0
    while at < len(sentences):
        size = rng.randint(*PARAGRAPH)
        parts.append(tuple(sentences[at : at + size]))
        at += size
    return tuple(parts)


def fill_values(domain: Domain, rng: random.Random) -> dict[str, str]:
    """One value for every slot of the system prompt and the task."""
    words = {**COMMON, **domain.words}
    values = {name: rng.choice(choices) for name, choices in words.items()}
    return values | {name: str(rng.randint(*bounds)) for name, bounds in NUMBERS.items()}


def fill(text: str, domain: Domain, rng: random.Random, values: Mapping[str, str]) -> str:
    """A sentence with its slots filled: the subject as everywhere in the conversation, all else anew."""
    subject = _slots(domain.task) | _slots(domain.about) | set(domain.words) | ({"tool"} & set(values))
    fresh = fill_values(domain, rng) | {name: values[name] for name in subject}
    return text.format_map({name: fresh[name] for name in _slots(text)})


def _slots(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}
