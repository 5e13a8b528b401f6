"""`why` on a real model behind a local server; only where one is given.

    RUNTAPE_TEST_LOCAL_MODEL=http://127.0.0.1:18090/v1 pytest tests/live

The server is one that answers OpenAI chat completions with tools, `n` up to 16 and log-probabilities; the cases were
chosen on Qwen2.5-Coder-0.5B-Instruct (Q4_K_M) with llama.cpp.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from local_cases import CASES, LocalCase

import runtape
from runtape.report.results import WhyReport

VARIABLE = "RUNTAPE_TEST_LOCAL_MODEL"

pytestmark = [
    pytest.mark.skipif(VARIABLE not in os.environ, reason=f"{VARIABLE} names no server with a local model"),
    pytest.mark.timeout(1200),
]


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Callable[[LocalCase], Path]:
    """The trace of a case, recorded once; replies lie beside it, so that reruns as recorded are shared."""
    folder = tmp_path_factory.mktemp("live")
    recorded: dict[str, Path] = {}

    def of(case: LocalCase) -> Path:
        if case.name not in recorded:
            recorded[case.name] = case.record(os.environ[VARIABLE], folder)
        return recorded[case.name]

    return of


def explained(case: LocalCase, path: Path, *, likelihood: bool) -> WhyReport:
    """The report on a case. The model draws its answers: a search that misses is made once more, with other draws."""
    kept: list[Path | None] = [path.parent / case.name, None]
    for cache in kept:
        report = runtape.why(path, "last", likelihood=likelihood, concurrency=1, cache_dir=cache)
        if report.headline == [case.planted]:
            break
    return report


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_planted_sentence_is_named_by_samples(case, trace):
    report = explained(case, trace(case), likelihood=False)

    assert report.headline == [case.planted]
    assert report.passes == 0


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_planted_sentence_is_named_with_the_help_of_likelihood(case, trace):
    report = explained(case, trace(case), likelihood=True)

    assert report.headline == [case.planted]
    assert 2 <= report.passes <= 11
