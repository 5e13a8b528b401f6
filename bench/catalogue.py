"""Every benchmark with what it answers, how long it takes and what it needs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bench:
    """One line of `python -m bench --help`; each has a `--help` of its own."""

    name: str
    says: str
    takes: str
    """On two processors with nothing else to do."""
    needs: str = "nothing more"


BENCHES = (
    Bench(
        "agentdojo", "all pairs of AgentDojo, or its own runs with a model, explained", "10 min", "the extra agentdojo"
    ),
    Bench("beside", "the three examples explained, beside runtape 0.5.0", "4 min", "an install of runtape 0.5.0"),
    Bench("fixes", "verdicts of fix on fixes with a known truth", "1 min"),
    Bench("importing", "memory of imports of 500 MB", "10 min", "a terminal"),
    Bench("judges", "the server before inspectors and conformance suites", "3 min", "npx and the network"),
    Bench("large", "the server with a trace of 1 GB and a folder of 10,000", "2 min", "1 GB of disk"),
    Bench("live", "why on a real local model", "20 min", "a llama.cpp server"),
    Bench("looking", "how fast the pages of long runs are there", "2 min", "a browser and its driver"),
    Bench(
        "planted", "sentences planted in conversations, all methods", "5 min simulated", "a model, or nothing simulated"
    ),
    Bench("recording", "what recording costs, and what it survives", "10 min", "an install of runtape 0.5.0"),
    Bench("reruns", "time, money and kills of searches over a server", "15 min", "an install of runtape 0.5.0"),
    Bench("scale", "calls, CPU and memory as contexts and traces grow", "2 min", "1 GB of disk"),
    Bench("simulated", "the search in worlds with a known truth", "30 min"),
    Bench("startup", "how long the server takes to answer", "1 min"),
)


def listing() -> str:
    """One line for each."""
    name, says = (max(len(getattr(bench, part)) for bench in BENCHES) for part in ("name", "says"))
    return "\n".join(f"  {b.name:<{name}}  {b.says:<{says}}  {b.takes}; needs {b.needs}" for b in BENCHES)
