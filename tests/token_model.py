"""A model that writes tool calls token by token, with log-probabilities as llama.cpp and vLLM send them.

Its truth is known: the chance of each tool is given, and so is the chance at another temperature.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from loopback import Answer, Received, chat_reply

OPENING = ('{"', "name", '":', ' "')
CLOSING = ('",', ' "arguments', '": ', "{}", "}")
TEXT = ("I", " will", " not", ".")


@dataclass(frozen=True)
class TokenModel:
    """Calls tools with given chances; what is left answers in text."""

    chances: Mapping[str, float]
    forced: bool = False
    """Only calls pass, as with a grammar; log-probabilities are those before it."""
    junk: float = 0.0
    """Chance, where the name of a tool begins, of a token that begins none."""
    listed: int = 20
    """Alternatives shown for a token."""
    opening: tuple[str, ...] = OPENING
    replies: dict[tuple[str, ...], float] = field(init=False)

    def __post_init__(self) -> None:
        calls = {(*self.opening, *pieces(name), *CLOSING): p for name, p in self.chances.items() if p}
        text = max(0.0, 1 - sum(self.chances.values()))
        object.__setattr__(self, "replies", calls | ({TEXT: text} if text > 1e-12 else {}))

    def next(self, written: tuple[str, ...]) -> dict[str, float]:
        """The chance of each next token, before the grammar and at temperature 1."""
        here = {tokens: p for tokens, p in self.replies.items() if tokens[: len(written)] == written != tokens}
        total = sum(here.values())
        found: dict[str, float] = {}
        for tokens, p in here.items():
            found[tokens[len(written)]] = found.get(tokens[len(written)], 0.0) + p / total
        if self.junk and written == self.opening:
            found = {token: p * (1 - self.junk) for token, p in found.items()} | {"zzz": self.junk}
        return found

    def truth(self, tool: str, temperature: float = 1.0) -> float:
        """How often the tool is called when tokens are drawn at a temperature."""
        target = (*self.opening, *pieces(tool), *CLOSING)
        if target not in self.replies:
            return 0.0
        chance = 1.0
        for at, token in enumerate(target):
            heat = {other: p ** (1 / temperature) for other, p in self.allowed(target[:at]).items()}
            chance *= heat[token] / sum(heat.values())
        return chance

    def allowed(self, written: tuple[str, ...]) -> dict[str, float]:
        """The next tokens that a grammar lets pass, where there is one."""
        tokens = self.next(written)
        if self.forced:
            tokens.pop("zzz", None)
            tokens.pop(TEXT[0], None)
        return tokens

    def likeliest(self, most: int = 99) -> list[dict[str, Any]]:
        """`logprobs.content` of the greedy reply, cut after some tokens."""
        written: tuple[str, ...] = ()
        content: list[dict[str, Any]] = []
        while len(content) < most and (allowed := self.allowed(written)):
            token = max(allowed, key=lambda other: allowed[other])
            ranked = sorted(self.next(written).items(), key=lambda item: -item[1])[: self.listed]
            content.append(
                {
                    **shown(token, self.next(written)[token]),
                    "top_logprobs": [shown(other, p) for other, p in ranked if p > 0],
                }
            )
            written = (*written, token)
        return content

    def called(self, written: str) -> str | None:
        """The tool that a reply names."""
        return next((name for name in self.chances if f'"{name}"' in written), None)


def pieces(name: str) -> list[str]:
    """A name as a tokenizer cuts it: at underscores, and after every five letters."""
    return re.findall(r"_?[^_]{1,5}", name)


def shown(token: str, p: float) -> dict[str, Any]:
    return {"token": token, "bytes": list(token.encode()), "logprob": math.log(p) if p else -9999.0}


def serving(chances: Callable[[str], Mapping[str, float]], **how: Any) -> Callable[[Received], Answer]:
    """A server script: `chances` takes the text of a request and gives the chances of the tools.

    It honours `n`, samples at temperature 1, and gives log-probabilities where they are asked for.
    """
    luck = random.Random(0)

    def script(received: Received) -> Answer:
        body = received.body
        text = " ".join(str(message.get("content")) for message in body["messages"])
        model = TokenModel(chances(text), forced=body.get("tool_choice") == "required", **how)
        if body.get("logprobs"):
            content = model.likeliest(body["max_tokens"])
            written = "".join(token["token"] for token in content)
            name = model.called(written)
            reply = chat_reply(None if name else written, [(name, {})] if name else [], finish="length")
            reply["choices"][0]["logprobs"] = {"content": content}
            return Answer(reply)
        names, weights = zip(*model.chances.items(), strict=True)
        left = 1 - sum(weights)
        drawn = luck.choices([*names, None], [*weights, max(0.0, left)], k=body.get("n") or 1)
        replies = [chat_reply(None if name else "No.", [(name, {})] if name else []) for name in drawn]
        choices = [{**reply["choices"][0], "index": at} for at, reply in enumerate(replies)]
        return Answer({**replies[0], "choices": choices})

    return script


def tool(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}


def dumped(content: list[dict[str, Any]]) -> Any:
    """A response body with some token log-probabilities, as it comes over the wire."""
    body = {"choices": [{"index": 0, "message": {"role": "assistant"}, "logprobs": {"content": content}}]}
    return json.loads(json.dumps(body))
