"""Runs the viewer on loopback until it is interrupted."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..listening import HOST, listen, serve_until_interrupted
from ..report.results import WhyReport
from ..trace.trace import Trace
from .app import Viewer


def serve(trace: Trace, reports: Mapping[int, WhyReport], port: int, opened: Callable[[str], None]) -> None:
    """Show a run in a browser until Ctrl-C or SIGTERM. Port 0 takes a free one.

    `opened` gets the address when it is answered; whoever knows it can read the run.

    Raises:
        BadInput: the port is taken.
    """
    listener = listen(port)
    authority = f"{HOST}:{listener.getsockname()[1]}"
    viewer = Viewer(trace, reports, authority)
    serve_until_interrupted(viewer, listener, lambda: opened(f"http://{authority}{viewer.path}"))
