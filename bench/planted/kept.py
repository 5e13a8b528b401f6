"""Replies of a real model, kept on disk: whoever sends the same request again is answered from there."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from bench.compare.models import Body, Choice, Drawn, choice_of, key_of

from .chances import Chances

SERIES = 10_000
"""Replies numbered from a multiple of this on are a series of their own, which begins there."""
MOST = 16
"""Replies that are asked for at once."""
OF_A_CALL = 13
"""Tokens of a call without arguments, on the model that is read."""


class NotKept(Exception):
    """Raised when a reply is asked for that was not kept, and no model is there to ask."""


class Live(Protocol):
    """A real model."""

    def chances(self, body: Body) -> Chances | None:
        """How likely a request leads to each of its tools; None where this model has to be sampled for it."""
        ...

    def sample(self, body: Body, n: int) -> tuple[Sequence[Choice], Mapping[str, Any]]:
        """At least one reply to a request, and what they cost: `seconds`, `prompt_tokens`, `reply_tokens`."""
        ...


class Kept:
    """A model whose replies are kept: those of `path`, and with `live` also new ones, which are appended at once."""

    def __init__(self, path: Path, live: Live | None = None) -> None:
        self._path = path
        self._live = live
        self._rows: dict[str, dict[str, Any]] = {}
        self.passes = 0
        """Requests that the real model was sent."""
        for row in _read(path):
            self._learn(row)

    def draw(self, body: Body, first: int, n: int) -> Drawn:
        """See `bench.compare.Model.draw`.

        Raises:
            NotKept: a reply is not kept, and there is no live model.
        """
        key = key_of(body)[:20]
        read = self._rows.get(key) or self._read(key, body)
        if read is not None and "of" in read:
            choices = [_drawn(read["of"], f"{key} {at}") for at in range(first, first + n)]
            return Drawn(tuple(choices), read["seconds"], 0.0, read["prompt_tokens"], OF_A_CALL * n)
        series, first = divmod(first, SERIES)
        row = self._sampled(f"{key}.{series}" if series else key, body, first + n)
        cost = {name: row[name] for name in ("seconds", "prompt_tokens")}
        replies = row["replies"][first : first + n]
        spent = row["reply_seconds"] * n / len(row["replies"])
        tokens = row["reply_tokens"] * n // len(row["replies"])
        return Drawn(tuple(replies), cost["seconds"], spent, cost["prompt_tokens"], tokens)

    def chances(self, body: Body) -> Mapping[str, float] | None:
        """The chance of each tool that is kept for a request; None where none is."""
        row = self._rows.get(key_of(body)[:20], {})
        return row.get("of")

    def _read(self, key: str, body: Body) -> dict[str, Any] | None:
        """The chances of a request that was never asked; None where the model is sampled."""
        read = None if self._live is None else self._live.chances(body)
        if read is None:
            return None
        self.passes += 1
        cost = {"seconds": round(read.seconds, 2), "prompt_tokens": read.prompt_tokens}
        return self._keep({"key": key, "of": dict(read.of), **cost})

    def _sampled(self, key: str, body: Body, upto: int) -> dict[str, Any]:
        """At least so many replies to a request."""
        while True:
            have = len(self._rows[key]["replies"]) if key in self._rows else 0
            if have >= upto:
                return self._rows[key]
            if self._live is None:
                raise NotKept(f"no reply is kept to the request {key} in {self._path}; run it with a model")
            self.passes += 1
            replies, cost = self._live.sample(body, min(upto - have, MOST))
            self._keep({"key": key, "replies": [_short(reply) for reply in replies], **cost})

    def _keep(self, row: dict[str, Any]) -> dict[str, Any]:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        return self._learn(row)

    def _learn(self, row: dict[str, Any]) -> dict[str, Any]:
        known = self._rows.get(row["key"])
        if known is not None and "replies" in row:
            known["replies"] += row["replies"]
            known["reply_seconds"] += row["reply_seconds"]
            known["reply_tokens"] += row["reply_tokens"]
            return known
        self._rows[row["key"]] = row
        return row


def _short(choice: Choice) -> Choice:
    message = {name: choice["message"].get(name) for name in ("role", "content", "tool_calls")}
    if not message["tool_calls"]:
        del message["tool_calls"]
    return {"index": 0, "message": message, "finish_reason": choice.get("finish_reason")}


def _drawn(of: Mapping[str, float], name: str) -> Choice:
    tool = random.Random(name).choices(list(of), list(of.values()))[0]
    return choice_of({"tool_calls": [{"name": tool, "arguments": {}}]})


def _read(path: Path) -> list[dict[str, Any]]:
    """The rows of a file, packed or not; half a row at the end, of a run that was killed, is left out."""
    if not path.exists():
        return []
    opened: Callable[..., Any] = gzip.open if path.suffix == ".gz" else open
    rows: list[dict[str, Any]] = []
    with opened(path, "rt", encoding="utf-8") as file:
        for line in file:
            try:
                rows.append(json.loads(line))
            except ValueError:
                break
    return rows
