"""`runtape-mcp --check`: what a launch would serve, for people who set it up."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from runtape.errors import RuntapeError
from runtape.installed import version
from runtape.text import shorten, visible
from runtape.trace.store import Store

from .settings import KEYS, Settings

PROBLEM = 1
PATIENCE = 3.0
"""Seconds that a server has to accept a connection in."""
_REASON = 300
"""Characters of a reason that quotes the user's own code or the system."""


def check(settings: Settings, environment: Mapping[str, str] = os.environ) -> int:
    """Prints the launch; 0 when traces can be shown and rerun, 1 when something is missing.

    The functions are loaded and the base URL is connected to; no model is asked. Keys are told by name, as set or
    not set; their values are never read out.
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
    if settings.judge_fn:
        lines.append(f"judge     the function {settings.judge_fn}, for answers in text")
    lines.append(f"calls     at most {settings.max_calls} a job, {settings.process_calls} a process (--max-calls)")
    if settings.max_usd is not None:
        lines.append(f"money     at most ${settings.max_usd:g} a process, by {settings.prices or 'public'} prices")
    lines.append(f"replies   kept in {settings.state}")
    reasons = (*_functions_missing(settings), _server_missing(settings.base_url))
    missing += [" ".join(shorten(visible(reason), _REASON).split()) for reason in reasons if reason]
    lines.extend(f"missing   {problem}" for problem in missing)
    sys.stdout.write("\n".join(lines) + "\n")
    return PROBLEM if missing else 0


def _functions_missing(settings: Settings) -> Iterator[str]:
    """Why the functions of the launch cannot be used."""
    if settings.model_fn is None and settings.judge_fn is None:
        return
    # They take a while to load, and most launches of this command name no function.
    from runtape.ops.judges import judge_function
    from runtape.sample.resolve import load_function

    load: tuple[tuple[str, str | None, Callable[[str], object]], ...] = (
        ("--model-fn", settings.model_fn, load_function),
        ("--judge-fn", settings.judge_fn, judge_function),
    )
    for option, spec, loaded in load:
        try:
            # What the user's module prints is no part of what this command says.
            with contextlib.redirect_stdout(sys.stderr):
                if spec is not None:
                    loaded(spec)
        except RuntapeError as exc:
            yield f"{option}: {exc}"


def _server_missing(url: str | None) -> str | None:
    """Why the base URL cannot be asked; None when something listens there, or when none is named."""
    if url is None:
        return None
    from runtape.sample.endpoint import host_of

    try:
        host, port = host_of(url)
    except RuntapeError as exc:
        return f"--base-url: {exc}"
    if urlsplit(url).scheme in getproxies() and not proxy_bypass(host):
        return None  # a proxy stands between, and only it can tell
    try:
        socket.create_connection((host, port), timeout=PATIENCE).close()
    except (OSError, UnicodeError) as exc:
        return f"--base-url: nothing answers at {host}:{port} ({exc}); start that server, or name another"
    return None
