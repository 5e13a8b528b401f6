"""The command `runtape-mcp`."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence

from runtape.installed import conflict, version

from . import process, settings

BAD_INPUT = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Serves MCP over standard input and output until the input ends; returns the exit status."""
    if trouble := conflict():
        sys.stderr.write(f"runtape-mcp does not start.\n{trouble}\n")
        return BAD_INPUT
    command = settings.parser()
    options = command.parse_args(arguments)
    if options.version:
        sys.stdout.write(f"runtape-mcp {version()}\n")
        return 0
    try:
        launch = settings.from_launch(options, os.environ)
    except ValueError as exc:
        command.error(str(exc))
    if options.check:
        from .check import check

        return check(launch)
    process.settle_in()
    logging.basicConfig(
        level=logging.WARNING, stream=sys.stderr, format="runtape-mcp: %(levelname)s: %(name)s: %(message)s"
    )
    # The SDK takes a second to import; the answers above do not need it.
    from .server import build

    server = build(launch, on_close=process.leave_within)
    server.run()
    process.keep_off_standard_output()
    process.leave(0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
