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


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_planted_sentence_is_named_by_samples(case, trace):
    path = trace(case)

    report = runtape.why(path, "last", likelihood=False, concurrency=1, cache_dir=path.parent / case.name)

    assert report.headline == [case.planted]
    assert report.passes == 0


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_planted_sentence_is_named_with_the_help_of_likelihood(case, trace):
    path = trace(case)

    report = runtape.why(path, "last", likelihood=True, concurrency=1, cache_dir=path.parent / case.name)

    assert report.headline == [case.planted]
    assert 2 <= report.passes <= 11
