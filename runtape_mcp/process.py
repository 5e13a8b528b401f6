"""How this process ends: promptly, without a trace on the wire, and with its children."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from dataclasses import dataclass
from types import FrameType

GRACE = 2.0
"""Seconds that work in flight has to finish in, once the client is gone."""


@dataclass(slots=True)
class _Self:
    own_group: bool = False
    """Everything in the process group was started by this process."""
    leaving: bool = False


_this = _Self()


def settle_in() -> None:
    """Takes over signals, and a process group of its own where no terminal is attached."""
    # While its input is open the SDK's server does not end on Ctrl-C. Every paid reply is on disk before it counts,
    # so nothing is lost by ending at once.
    signal.signal(signal.SIGINT, _interrupted)
    signal.signal(signal.SIGTERM, _told_to_end)
    _this.own_group = _lead_a_group()


def leave(status: int) -> None:
    """Ends the process now, and everything that a model function started in its group."""
    if _this.leaving:
        # The signal to the group, come back to its sender.
        return
    _this.leaving = True
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    if _this.own_group:
        with contextlib.suppress(OSError):
            os.killpg(os.getpgrp(), signal.SIGTERM)
    # Interpreter shutdown would wait for threads of a model function, and flush what user code printed.
    os._exit(status)


def leave_within(seconds: float = GRACE) -> None:
    """Ends the process after `seconds` should it still be there; a model function may hang in a thread."""
    timer = threading.Timer(seconds, leave, args=(0,))
    timer.daemon = True
    timer.start()


def keep_off_standard_output() -> None:
    """Sends whatever is written to descriptor 1 from now on to standard error."""
    with contextlib.suppress(OSError):
        os.dup2(2, 1)


def _interrupted(number: int, frame: FrameType | None) -> None:
    del number, frame
    leave(130)


def _told_to_end(number: int, frame: FrameType | None) -> None:
    del number, frame
    leave(0)


def _lead_a_group() -> bool:
    if not hasattr(os, "setpgid") or os.isatty(0):
        # With a terminal, a group of its own could not read from it.
        return False
    if os.getsid(0) == os.getpid():
        return True
    if os.getpgrp() == os.getpid():
        # A shell made this group; others of a pipeline may be in it.
        return False
    try:
        os.setpgid(0, 0)
    except OSError:
        return False
    return True
