"""`runtape-mcp --check`: what a launch would serve, for people who set it up."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from runtape.errors import RuntapeError
from runtape.installed import version
from runtape.trace.store import Store

from .settings import KEYS, Settings

PROBLEM = 1


def check(settings: Settings, environment: Mapping[str, str] = os.environ) -> int:
    """Prints the launch; 0 when traces can be shown and rerun, 1 when something is missing.

    Keys are told by name, as set or not set; their values are never read out.
    """
    lines = [f"runtape-mcp {version()}"]
    missing: list[str] = []
    try:
        found = len(Store(settings.traces).listing())
    except (OSError, RuntapeError):
        found = 0
    lines.append(f"traces    {settings.traces} ({found:,} found)")
    if not found:
        missing.append("no trace is there: record one with runtape.record, or name another folder with --traces")
    lines.append(f"project   {settings.project or 'none: write_test is off (--project)'}")
    keys = [name for name in KEYS if environment.get(name)]
    if settings.model_fn:
        lines.append(f"model     the function {settings.model_fn}")
    else:
        lines.append(f"model     the recorded API{f' at {settings.base_url}' if settings.base_url else ''}")
        said = [f"{name} is {'set' if name in keys else 'not set'}" for name in KEYS]
        lines.append(f"keys      {', '.join(said)}")
        if not keys and not settings.base_url:
            lines.append(
                "          only runs recorded at a server on this machine can be rerun; for others set a key in the"
                " server's environment, or pass --model-fn or --base-url"
            )
    lines.append(f"calls     at most {settings.max_calls} a job, {settings.process_calls} a process (--max-calls)")
    lines.append(f"replies   kept in {settings.state}")
    lines.extend(f"missing   {problem}" for problem in missing)
    sys.stdout.write("\n".join(lines) + "\n")
    return PROBLEM if missing else 0
