"""What is told of the results: the README's block and the pages beside the lines, from committed lines alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from .agentdojo.tables import public_tables
from .agentdojo.tables import tables as agentdojo_tables
from .compare import ALL_CALLS, ASKING, PEER, WHY, Incomplete, Line, Results, read
from .compare.tables import figure, share
from .scale.tables import drawing, growth, rows_of
from .scale.tables import table as scale_table

RESULTS = Path(__file__).parent / "results"
README = Path(__file__).parent.parent / "README.md"
BEGIN, END = "<!-- measured: `python -m bench --write` -->", "<!-- /measured -->"
COLUMNS: Mapping[str, str] = {
    ALL_CALLS: "leave-one-out, as many calls",
    "leave-one-out, 5 runs": "5 runs each",
    "wording overlap": "wording overlap",
    ASKING: "asking the model",
    PEER: "runtape 0.5.0",
}
"""Methods beside `why`, and their headings."""


def lines_in(name: str) -> Path:
    """The file of a benchmark's lines, packed or not."""
    packed = RESULTS / f"{name}.jsonl.gz"
    return packed if packed.exists() else RESULTS / f"{name}.jsonl"


@dataclass(frozen=True, slots=True)
class Source:
    """Lines of a benchmark whose cases have a known cause."""

    file: str
    """Its name without the ending."""
    says: str
    partial: bool = False
    """A run on a real model, which may end before all planned cases are run."""

    @property
    def path(self) -> Path:
        """The lines, packed or not."""
        return lines_in(self.file)

    def lines(self) -> list[Line]:
        """Those of its cases that count and have a cause.

        Raises:
            Incomplete: there are none, or some are not there although nothing says that the run was cut short.
        """
        results = read(self.path)
        found = (results if self.partial else results.complete(())).lines
        return [line for line in found if line.suite not in {"control", "none"} and line.facts.get("counted", True)]


AGENTDOJO = (
    Source("agentdojo", "AgentDojo, all 949 pairs, simulated models"),
    Source("agentdojo-public", "AgentDojo, 16 of the pairs"),
)
PLANTED = Source("planted", "planted sentences, simulated models")


def sources() -> list[Source]:
    """All of them; runs on real models by the name that was given to them."""
    named = sorted({path.name.split(".")[0] for path in RESULTS.glob("planted_*.jsonl*")})
    real = [
        Source(name, f"planted sentences, a real model ({name.removeprefix('planted_')})", partial=True)
        for name in named
        if not name.endswith("_replies")
    ]
    return [PLANTED, *real, *AGENTDOJO]


def lacking() -> dict[str, str]:
    """Why a benchmark is not told of, by what it says."""
    found: dict[str, str] = {}
    for source in sources():
        try:
            source.lines()
        except Incomplete as told:
            found[source.says] = str(told)
    return found


def block() -> str:
    """The measurements of the README."""
    left_out = lacking()
    found = [source for source in sources() if source.says not in left_out]
    parts = [(RESULTS / "beside.md").read_text(encoding="utf-8").strip()]
    if found:
        parts.append(
            "How often the answer is exactly the text that was planted, in %, on the same cases with the same replies:"
        )
        parts.append(_table(found))
    parts += [told for told in (_controls(), _scale()) if told]
    return "\n\n".join(parts)


def _table(found: Sequence[Source]) -> str:
    heads = ["benchmark", "cases", "`why` (95% interval)", *COLUMNS.values(), "model calls of `why`"]
    rows = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for source in found:
        lines = source.lines()
        cells = [
            f"[{source.says}](bench/results/{source.file}.md)",
            str(len(lines)),
            share(_hits(lines, WHY)),
            *(_plain(lines, method) for method in COLUMNS),
            figure(median(line.answers[WHY].calls for line in lines)),
        ]
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _hits(lines: Sequence[Line], method: str) -> list[bool]:
    return [line.scores[method].exact for line in lines]


def _plain(lines: Sequence[Line], method: str) -> str:
    if not all(method in line.scores for line in lines):
        return "-"
    return figure(100 * sum(_hits(lines, method)) / len(lines))


def _controls() -> str:
    path = lines_in("agentdojo")
    if not path.exists():
        return ""
    controls = read(path).of("control")
    blamed = share([line.facts["blames"][WHY] for line in controls])
    return f"Of {len(controls)} actions of the user's own, `why` blames an injection for {blamed}%."


def _scale() -> str:
    path = lines_in("scale")
    return growth(rows_of(path)) if path.exists() else ""


PAGES: Mapping[str, tuple[str, Callable[[Path], str]]] = {
    "agentdojo.md": ("agentdojo", lambda path: agentdojo_tables(_read(path)) + "\n"),
    "agentdojo-public.md": ("agentdojo-public", lambda path: public_tables(_read(path)) + "\n"),
    "scale.md": ("scale", lambda path: scale_table(rows_of(path)) + "\n"),
    "scale.svg": ("scale", lambda path: drawing(rows_of(path))),
}
"""Pages by name: the benchmark whose lines they tell, and what makes them of the file."""


def _read(path: Path) -> Results:
    return read(path).complete(())


def pages() -> dict[Path, str]:
    """The content of every page whose lines are there, and of the README."""
    made = {RESULTS / name: make(lines_in(lines)) for name, (lines, make) in PAGES.items() if lines_in(lines).exists()}
    before, rest = README.read_text(encoding="utf-8").split(BEGIN)
    return {**made, README: f"{before}{BEGIN}\n{block()}\n{END}{rest.split(END)[1]}"}
