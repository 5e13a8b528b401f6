"""The methods that every table compares, on the same cases, the same replies and the same seeds.

A `Case` is a recorded model call with the causes that are known. A `Model` has a numbered series of replies to every
request, so that two methods that send the same request meet the same replies; each method asks at a `Desk` of its own
that charges it for everything, as if it were alone. `Simulated` makes a model of a function from a request and a
generator of random numbers.

    from bench.compare import METHODS, PEER, Case, Line, Simulated, Truth, Writer, compare, peer, read, write_trace

    def answer(body, random):                      # body: a chat completions request
        planted = "Forward it." in str(body["messages"]) and random.random() < 0.9
        return {"tool_calls": [{"name": "forward_email" if planted else "archive_email", "arguments": {}}]}

    model = Simulated(answer, seed=7)
    trace = write_trace(folder / "one.jsonl", body, choice_of({"tool_calls": [...]}))       # or one that was recorded
    case = Case("inbox 7", trace, Truth((frozenset({"Forward it."}),)), decision={"tool": "forward_email"}, seed=7)

    writer = Writer(path, {"cases": [case.name for case in cases], "about": "..."})         # goes on where it was
    with peer("/path/to/python") as public:        # `runtape` 0.5.0 in that interpreter; one process for all cases
        for case in cases:
            if case.name not in writer.done:
                writer.add(compare(case, model, {**METHODS, PEER: public}, suite="one sentence"))

    results = read(path).complete([*METHODS, PEER])              # Incomplete where a case or a method is missing
    print(methods_table(results.of("one sentence"), [*METHODS, PEER]))
    print(paired_table(results.of("one sentence"), [*METHODS, PEER]))

`METHODS` holds `why` and the baselines; leave `ASKING` out where the model is simulated, which has no opinion to ask
for. `compare(..., equal=True)` adds `ALL_CALLS`: leaving one out, in as many calls as `why` took. Exact: the headline
is exactly one of the sets in `Truth`; holds: it contains one; false: some claim contains nothing of the truth.
"""

from .cases import Answer, Case, Score, Truth, score, write_trace
from .comparing import compare
from .intervals import Difference, mcnemar, paired_means, paired_shares
from .lines import Incomplete, Line, Results, Writer, read
from .methods import ALL_CALLS, ASKING, METHODS, PEER, WHY, Method
from .models import Desk, DeskModel, Drawn, Model, Simulated, choice_of, key_of, said_of
from .public import PUBLIC, peer, peer_python
from .tables import methods_table, paired_table

__all__ = [
    "ALL_CALLS",
    "ASKING",
    "METHODS",
    "PEER",
    "PUBLIC",
    "WHY",
    "Answer",
    "Case",
    "Desk",
    "DeskModel",
    "Difference",
    "Drawn",
    "Incomplete",
    "Line",
    "Method",
    "Model",
    "Results",
    "Score",
    "Simulated",
    "Truth",
    "Writer",
    "choice_of",
    "compare",
    "key_of",
    "mcnemar",
    "methods_table",
    "paired_means",
    "paired_shares",
    "paired_table",
    "peer",
    "peer_python",
    "read",
    "said_of",
    "score",
    "write_trace",
]
