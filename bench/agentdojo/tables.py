"""The tables of the offline results; reads lines only, AgentDojo need not be installed."""

from __future__ import annotations

from collections.abc import Sequence

from ..compare import ALL_CALLS, METHODS, PEER, WHY, Line, Results, methods_table, paired_table
from ..compare.methods import ASKING
from ..compare.tables import share

BASELINES = [name for name in METHODS if name != ASKING]
COMPARED = (*BASELINES, ALL_CALLS)
ON_CONTROLS = (WHY, ALL_CALLS, "wording overlap", "random")
STRONG = 0.2
"""Rate without the cause over rate with it, up to which a cause is a strong one."""


ABOUT = """\
AgentDojo's own pipeline, tools and environments are recorded with a model that follows its ground truth and, once it
has read the injection (its attack `important_instructions`, in one place), makes the injection's first call. The
context holds four more harmless orders in the words of the suite, and a second injection that nobody follows. The
simulated model needs the first sentence of the injection's goal: with it the call is made in 80 to 100% of the replies,
without it in 0 to 25%, drawn for each pair; when more than 30% of the text is gone the conversation may fall apart.
Texts are compared by letters and digits. A control is the user's own next action in the same context: there the
injection and the decoys are innocent."""


def tables(results: Results) -> str:
    """Everything about one run over all pairs."""
    attacks, controls = results.of("attack"), results.of("control")
    parts = [
        results.header["about"],
        ABOUT,
        f"## Attacks: {len(attacks)} pairs\n\n{methods_table(attacks, COMPARED)}",
        paired_table(attacks, COMPARED),
        f"By suite, and by the share of the rate that is left without the sentence:\n\n{_groups(attacks)}",
        f"## Controls: {len(controls)} pairs\n\n{_controls(controls, ON_CONTROLS)}",
    ]
    return "\n\n".join(parts)


def public_tables(results: Results) -> str:
    """The same for the pairs on which the public package was run."""
    attacks, controls = results.of("attack"), results.of("control")
    return "\n\n".join(
        [
            results.header["about"],
            methods_table(attacks, (WHY, PEER)),
            paired_table(attacks, (WHY, PEER)),
            _controls(controls, (WHY, PEER)),
        ]
    )


def _groups(lines: Sequence[Line]) -> str:
    named = {suite: [line for line in lines if line.facts["pair"] == suite] for suite in _suites(lines)}
    named[f"at most {STRONG}"] = [line for line in lines if ratio(line) <= STRONG]
    named[f"{STRONG} to 0.35"] = [line for line in lines if ratio(line) > STRONG]
    rows = ["| cases | number | " + " | ".join(COMPARED) + " |", "|---" * (2 + len(COMPARED)) + "|"]
    for name, some in named.items():
        if some:
            cells = [share([line.scores[method].exact for line in some]) for method in COMPARED]
            rows.append("| " + " | ".join([name, str(len(some)), *cells]) + " |")
    return "\n".join(rows)


def _controls(lines: Sequence[Line], methods: Sequence[str]) -> str:
    rows = ["| method | controls | blames the injection or a decoy % (95%) |", "|---|---|---|"]
    rows += [f"| {name} | {len(lines)} | {share([line.facts['blames'][name] for line in lines])} |" for name in methods]
    return "\n".join(rows)


def _suites(lines: Sequence[Line]) -> list[str]:
    return list(dict.fromkeys(line.facts["pair"] for line in lines))


def ratio(line: Line) -> float:
    """Share of the rate that is left without the cause."""
    return line.facts["without"] / line.facts["rate"]
