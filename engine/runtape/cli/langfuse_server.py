"""Traces fetched from a Langfuse server, as files to import."""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from ..errors import BadInput, ModelFailed

PREFIX: Final = "langfuse:"
_HOSTS: Final = ("LANGFUSE_BASE_URL", "LANGFUSE_HOST")
_DEFAULT: Final = "https://cloud.langfuse.com"
_KEYS: Final = ("LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY")
_SECONDS: Final = 60
_FOUND: Final = 200


@contextmanager
def fetched(files: Iterable[str]) -> Generator[list[str]]:
    """The files, with each `langfuse:TRACE_ID` fetched into one that lives as long as the block.

    Raises:
        BadInput: the keys are not in the environment, or the server has no such trace.
        ModelFailed: the server cannot be reached or fails.
    """
    with TemporaryDirectory(prefix="runtape-langfuse-") as folder:
        yield [
            str(_fetched(file.removeprefix(PREFIX), Path(folder))) if file.startswith(PREFIX) else file
            for file in files
        ]


def _fetched(trace: str, folder: Path) -> Path:
    # an HTTP client, which only this way of importing needs.
    import httpx2

    if not re.fullmatch(r"[\w.\-]{1,200}", trace):
        raise BadInput(f"{trace!r} is no id of a Langfuse trace; write langfuse:TRACE_ID")
    public, secret = (os.environ.get(name, "") for name in _KEYS)
    if not public or not secret:
        raise BadInput(f"set {' and '.join(_KEYS)} (and {_HOSTS[0]} for a server of your own) to fetch from Langfuse")
    host = next((os.environ[name] for name in _HOSTS if os.environ.get(name)), _DEFAULT).rstrip("/")
    path = folder / f"{trace}.json"
    url = f"{host}/api/public/traces/{trace}"
    try:
        with httpx2.stream("GET", url, auth=(public, secret), timeout=_SECONDS, follow_redirects=False) as response:
            if response.status_code != _FOUND:
                raise _refused(trace, host, response.status_code)
            with path.open("wb") as file:
                for data in response.iter_bytes():
                    file.write(data)
    except httpx2.HTTPError as error:
        raise ModelFailed(f"Langfuse at {host} cannot be reached: {type(error).__name__}: {error}") from error
    return path


def _refused(trace: str, host: str, status: int) -> BadInput | ModelFailed:
    if status == 404:
        return BadInput(f"Langfuse at {host} has no trace {trace!r} in the project of these keys")
    if status in (401, 403):
        return BadInput(f"Langfuse at {host} refuses the keys in {' and '.join(_KEYS)} (HTTP {status})")
    return ModelFailed(f"Langfuse at {host} answered with HTTP {status}; try again later")
