"""The measurements of the README, from the committed results; in a second, and no model is asked.

    python -m bench             print them
    python -m bench --write     write them into README.md, and the pages beside the results
    python -m bench --check     exit status 1 when README.md or a page says anything else than the results

The benchmarks, each run as `python -m bench.NAME`:

"""

from __future__ import annotations

import argparse
import sys

from .catalogue import listing
from .pages import block, lacking, pages


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description=f"{__doc__}{listing()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--write", action="store_true", help="write README.md and the pages")
    what.add_argument("--check", action="store_true", help="compare them with the results")
    options = parser.parse_args()
    for source, reason in lacking().items():
        print(f"left out: {source}: {reason}", file=sys.stderr)
    if not (options.write or options.check):
        print(block())
        return 0
    stale = {path: text for path, text in pages().items() if not path.exists() or path.read_text("utf-8") != text}
    for path, text in stale.items():
        if options.write:
            path.write_text(text, encoding="utf-8")
        print(f"{'written' if options.write else 'stale'}: {path.name}")
    return int(bool(stale) and options.check)


if __name__ == "__main__":
    sys.exit(main())
