"""Which tool a result belongs to, while a conversation is read from its start."""

from __future__ import annotations


class Pairing:
    """Calls and results of one conversation, told in order.

    Ids may be missing, empty, repeated within a turn or used again in the next one: results that share an id belong to
    the calls of that id in order. A turn is a run of calls without a result between them.
    """

    def __init__(self) -> None:
        self._names: dict[str, list[str]] = {}
        self._turn: list[str] = []
        self._fresh: set[str] = set()
        self._results = 0

    def call(self, id_: str | None, name: str) -> None:
        """The model calls tool `name`."""
        if self._results:
            self._turn, self._fresh, self._results = [], set(), 0
        key = id_ or ""
        if key in self._fresh:
            self._names[key].append(name)
        else:
            self._names[key] = [name]
            self._fresh.add(key)
        self._turn.append(name)

    def result(self, id_: str | None) -> str | None:
        """The tool of the next result with this id; None when no call before it fits."""
        position = self._results
        self._results += 1
        names = self._names.get(id_ or "")
        if names:
            return names.pop(0) if len(names) > 1 else names[0]
        # A result without an id, for calls that have some.
        return self._turn[position] if not id_ and position < len(self._turn) else None
