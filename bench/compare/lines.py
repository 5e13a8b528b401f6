"""Results on disk: a header, then one JSON line for each case, appended as soon as it is done."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .cases import Answer, Score


class Incomplete(Exception):
    """Raised when results lack cases or methods that a table needs; says which."""


@dataclass(frozen=True, slots=True)
class Line:
    """One case: what every method said."""

    case: str
    suite: str
    answers: Mapping[str, Answer]
    scores: Mapping[str, Score]
    facts: Mapping[str, Any]
    """What else is known of the case."""

    def as_json(self) -> dict[str, Any]:
        """One line."""
        methods = {name: {**answer.as_json(), **_scored(self.scores[name])} for name, answer in self.answers.items()}
        return {"case": self.case, "suite": self.suite, **self.facts, "methods": methods}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Line:
        """What `as_json` made."""
        answers: dict[str, Answer] = {}
        scores: dict[str, Score] = {}
        for name, said in row["methods"].items():
            scores[name] = Score(said["exact"], said["holds"], said["false"])
            answers[name] = Answer.from_json(
                {part: value for part, value in said.items() if part not in {"exact", "holds", "false"}}
            )
        facts = {name: value for name, value in row.items() if name not in {"case", "suite", "methods"}}
        return cls(row["case"], row["suite"], answers, scores, facts)


def _scored(score: Score) -> dict[str, bool]:
    return {"exact": score.exact, "holds": score.holds, "false": score.false}


@dataclass(frozen=True, slots=True)
class Results:
    """A file of results as read."""

    header: Mapping[str, Any]
    """`cases`: the names of all cases that belong to the run; the rest is for the reader."""
    lines: Sequence[Line]

    def of(self, suite: str) -> list[Line]:
        """The lines of one suite."""
        return [line for line in self.lines if line.suite == suite]

    @property
    def suites(self) -> list[str]:
        """In the order of the file."""
        return list(dict.fromkeys(line.suite for line in self.lines))

    def complete(self, methods: Sequence[str]) -> Results:
        """The same results.

        Raises:
            Incomplete: a case of the header has no line, or a line lacks one of the methods.
        """
        have = {line.case for line in self.lines}
        lacking = [name for name in self.header["cases"] if name not in have]
        if lacking:
            raise Incomplete(f"{len(lacking)} of {len(self.header['cases'])} cases have no line: {_some(lacking)}")
        for line in self.lines:
            without = [name for name in methods if name not in line.answers]
            if without:
                raise Incomplete(f"the line of {line.case!r} lacks {_some(without)}")
        return self


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:5])) + (" and others" if len(names) > 5 else "")


def read(path: Path) -> Results:
    """The results in a file.

    Raises:
        Incomplete: there is none, or it has no header.
    """
    rows = list(_rows(path))
    if not rows or "header" not in rows[0]:
        raise Incomplete(f"there are no results in {path}")
    return Results(rows[0]["header"], [Line.from_json(row) for row in rows[1:]])


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    if not path.exists():
        return
    packed = path.suffix == ".gz"
    content = gzip.decompress(path.read_bytes()).decode() if packed else path.read_text(encoding="utf-8")
    for text in content.splitlines():
        try:
            yield json.loads(text)
        except ValueError:
            return  # the last line of a run that was killed while it wrote; that case is asked again


def _plan(header: Mapping[str, Any]) -> dict[str, Any]:
    """What makes two runs the same one: all but how they are described."""
    return {name: value for name, value in header.items() if name != "about"}


class Writer:
    """Appends to a file of results; what is there already stays, so that a run goes on where it was.

    Raises:
        Incomplete: the file holds results of another run.
    """

    def __init__(self, path: Path, header: Mapping[str, Any]) -> None:
        rows = list(_rows(path))
        if rows and _plan(rows[0].get("header") or {}) != _plan(json.loads(json.dumps(header))):
            raise Incomplete(f"{path} holds results of another run: give another file, or remove it")
        self._path = path
        self.done = frozenset(row["case"] for row in rows[1:])
        """Cases that have a line."""
        path.parent.mkdir(parents=True, exist_ok=True)
        # Written again whole, so that half a line at the end is gone.
        rows = rows or [{"header": dict(header)}]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def add(self, line: Line) -> None:
        """Append one case."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line.as_json()) + "\n")
