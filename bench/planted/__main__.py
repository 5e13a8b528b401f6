"""`python -m bench.planted`: is the sentence found that was planted?

    python -m bench.planted simulated --peer PYTHON             simulated models; offline, a few minutes
    python -m bench.planted run NAME --llama URL                a llama.cpp server, read instead of sampled
    python -m bench.planted run NAME --base-url URL --model M   any OpenAI-compatible server
    python -m bench.planted run NAME --openai M                 OPENAI_API_KEY; --anthropic M: ANTHROPIC_API_KEY
    python -m bench.planted report NAME                         the tables again, from the lines
    python -m bench.planted sample NAME --llama URL             are the chances that were read those of its answers?
    python -m bench.planted rescore NAME                        counts, measurements and scores again, from the replies

NAME stands for `bench/results/NAME.jsonl` (lines), `NAME_replies.jsonl` (replies) and `NAME.md`; the first two may be
packed (`.gz`), and a run goes on where it was. `run` says what it will take and asks before it starts.
"""

from __future__ import annotations

import argparse
import gzip
import os
import sys
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.compare import METHODS, PEER, Incomplete, Method, Results, peer, peer_python, read

from . import sampling
from .estimate import estimate
from .kept import MOST, Kept, NotKept
from .live import Llama, Server
from .playing import play_all
from .report import page
from .rescoring import again, differences, rescore
from .running import rounds, run, say
from .simulated import plan
from .suites import SUITES

RESULTS = Path(__file__).parent.parent / "results"
OPENAI, ANTHROPIC = "https://api.openai.com/v1", "https://api.anthropic.com/v1"
"""The second one speaks the first one's protocol at this address as well."""


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when done; 1 when results are incomplete or `rescore` finds a difference; 2 for bad input."""
    options = _parser().parse_args(arguments)
    try:
        done: int = options.do(options)
    except (Incomplete, NotKept) as error:
        say(str(error))
        return 1
    return done


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench.planted", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    simulated = verbs.add_parser("simulated", help="simulated models")
    simulated.add_argument("--name", default="planted", help="of the results (default planted)")
    simulated.add_argument("--seeds", type=int, default=60, help="cases of each suite (default 60)")
    simulated.add_argument("--suites", nargs="*", choices=list(SUITES), default=list(SUITES))
    simulated.add_argument("--peer", metavar="PYTHON", help="interpreter with runtape 0.5.0; one is made if left out")
    simulated.add_argument("--no-peer", action="store_true", help="leave 0.5.0 out")
    simulated.add_argument("--workers", type=int, default=2, help="processes (default 2)")
    simulated.add_argument("--fresh", action="store_true", help="start over; without it, lines that are there stay")
    simulated.set_defaults(do=_simulated)
    live = verbs.add_parser("run", help="a real model")
    live.add_argument("name", metavar="NAME")
    where = live.add_mutually_exclusive_group(required=True)
    where.add_argument("--llama", metavar="URL", help="base URL of a llama.cpp server, read by token probabilities")
    where.add_argument("--base-url", metavar="URL", help="an OpenAI-compatible server; key in RUNTAPE_BENCH_KEY")
    where.add_argument("--openai", metavar="MODEL")
    where.add_argument("--anthropic", metavar="MODEL")
    live.add_argument("--model", default="local", help="for --base-url")
    live.add_argument("--about", default="", help="a sentence for the report: which model, on what")
    live.add_argument("--rounds", type=int, default=40, help="each round has every domain once (default 40)")
    live.add_argument("--peer", metavar="PYTHON")
    live.add_argument("--yes", action="store_true", help="start without asking")
    live.set_defaults(do=_run)
    check = verbs.add_parser("sample", help="some contexts of a run, sampled the ordinary way")
    check.add_argument("name", metavar="NAME")
    check.add_argument("--llama", metavar="URL", required=True)
    check.add_argument("--cases", type=int, default=10, help="two contexts each (default 10)")
    check.set_defaults(do=_sample)
    for verb, do in (("report", _report), ("rescore", _rescore)):
        later = verbs.add_parser(verb)
        later.add_argument("name", metavar="NAME")
        later.add_argument("--partial", action="store_true", help="also when planned cases were not run; says so")
        later.set_defaults(do=do)
        if verb == "rescore":
            later.add_argument("--again", action="store_true", help="ask the methods again too, from the replies")
            later.add_argument("--peer", metavar="PYTHON")
    return parser


def _simulated(options: argparse.Namespace) -> int:
    jobs = plan(options.seeds, {suite: SUITES[suite] for suite in options.suites})
    with tempfile.TemporaryDirectory(prefix="runtape-peer-") as folder:
        python = None if options.no_peer else peer_python(options.peer, Path(folder) / "peer")
        about = (
            f"`python -m bench.planted simulated --seeds {options.seeds}`: simulated models, {len(jobs)} cases of five "
            "kinds of agents, 1 to 5 documents of 6 to 14 sentences with 4 decoys. One reply a request."
        )
        play_all(_plain(options.name, ".jsonl", fresh=options.fresh), jobs, python, options.workers, about)
    return _write(options.name, read(_path(options.name, ".jsonl")))


def _run(options: argparse.Namespace) -> int:
    cases = list(rounds(options.rounds))
    many = options.anthropic is None
    live, model, address = _live(options)
    say(estimate(cases, model, address, many=many))
    if not options.yes and input("Start? [y/N] ").strip().lower() != "y":
        return 2
    kept = Kept(_plain(options.name, "_replies.jsonl"), live)
    with _all_methods(options.peer) as methods:
        about = {"about": options.about or f"`{model}` at {address}."}
        run(_plain(options.name, ".jsonl"), cases, kept, methods, about=about, most=MOST if many else 1)
    return _write(options.name, read(_path(options.name, ".jsonl")))


@contextmanager
def _all_methods(python: str | None) -> Generator[Mapping[str, Method], None, None]:
    with (
        tempfile.TemporaryDirectory(prefix="runtape-peer-") as folder,
        peer(peer_python(python, Path(folder) / "peer")) as public,
    ):
        yield {**METHODS, PEER: public}


def _live(options: argparse.Namespace) -> tuple[Server, str, str]:
    if options.llama:
        return Llama(options.llama), "local", options.llama
    if options.base_url:
        key = os.environ.get("RUNTAPE_BENCH_KEY", "local")
        return Server(options.base_url, options.model, key), options.model, options.base_url
    url, model, name = (
        (OPENAI, options.openai, "OPENAI_API_KEY")
        if options.openai
        else (ANTHROPIC, options.anthropic, "ANTHROPIC_API_KEY")
    )
    if name not in os.environ:
        say(f"There is no key: set {name}.")
        sys.exit(2)
    return Server(url, model, os.environ[name], many=bool(options.openai)), model, url


def _sample(options: argparse.Namespace) -> int:
    results = read(_path(options.name, ".jsonl"))
    replies = Kept(_path(options.name, "_replies.jsonl"))
    rows: list[sampling.Sampled] = []
    for row in sampling.sampled(results, replies, Llama(options.llama), options.cases):
        say(f"{row.case}: {row.chance:.2f} read, {row.kept} of {row.n} sampled")
        rows.append(row)
        sampling.write(_path(options.name, "_sampled.jsonl"), rows)
    print(sampling.told(rows))
    return 0


def _report(options: argparse.Namespace) -> int:
    return _write(options.name, read(_path(options.name, ".jsonl")), partial=options.partial)


def _rescore(options: argparse.Namespace) -> int:
    results = read(_path(options.name, ".jsonl"))
    replies = Kept(_path(options.name, "_replies.jsonl"))
    fresh = rescore(results, replies)
    if options.again:
        with _all_methods(options.peer) as methods:
            fresh = again(results, replies, methods)
    print(_page(options.name, fresh, partial=options.partial), end="")
    changed = differences(results, fresh)
    say(f"{len(changed)} of {len(results.lines)} cases differ from the lines: {', '.join(changed[:5]) or '-'}")
    return int(bool(changed))


def _write(name: str, results: Results, *, partial: bool = False) -> int:
    told = _page(name, results, partial=partial)
    (RESULTS / f"{name}.md").write_text(told, encoding="utf-8")
    print(told, end="")
    return 0


def _page(name: str, results: Results, *, partial: bool) -> str:
    return page(results, partial=partial, sampled=sampling.read(_path(name, "_sampled.jsonl")))


def _plain(name: str, ending: str, *, fresh: bool = False) -> Path:
    """The file to append to; what is packed is unpacked for it. `fresh`: without what is there."""
    path, found = RESULTS / f"{name}{ending}", _path(name, ending)
    if fresh:
        path.unlink(missing_ok=True)
    elif found != path:
        path.write_bytes(gzip.decompress(found.read_bytes()))
    return path


def _path(name: str, ending: str) -> Path:
    """The file, or the packed one where only that is there."""
    path = RESULTS / f"{name}{ending}"
    packed = path.with_name(f"{path.name}.gz")
    return packed if packed.exists() and not path.exists() else path


if __name__ == "__main__":
    sys.exit(main())
