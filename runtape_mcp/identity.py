"""Names of jobs: the same question about the same trace is the same job."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from runtape.installed import version

from .settings import Settings


def job_id(verb: str, trace_digest: str, arguments: Mapping[str, object], settings: Settings) -> str:
    """The name of a job, such as `why-0123456789ab`.

    It covers the content of the trace, the question, what answers and this program's version; not how much may be
    spent, so that a job that reached its limit goes on with a higher one.
    """
    question = [
        verb,
        trace_digest,
        dict(arguments),
        *map(_code, (settings.model_fn, settings.judge_fn)),
        settings.base_url,
        version(),
    ]
    text = json.dumps(question, sort_keys=True, ensure_ascii=True, default=str)
    return f"{verb}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _code(spec: str | None) -> list[str | None]:
    """A function by name, and by the content of its file where it names one: people edit it between calls."""
    where = (spec or "").rpartition(":")[0]
    try:
        content = Path(where).expanduser().read_bytes() if where.endswith(".py") else b""
    except OSError:
        content = b""
    return [spec, hashlib.sha256(content).hexdigest()]
