"""How long `runtape-mcp` takes to answer `initialize`, beside a bare server of the same SDK, in one run.

    python -m bench.startup [--rounds 15] > bench/results/startup.md

Both are started anew in every round, in turn, warm: each was started once before. The clock runs from the start of the
process to the answer. The bare server has one tool that does nothing.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BARE = """
from mcp.server.mcpserver import MCPServer

server = MCPServer("bare")


@server.tool()
def nothing() -> str:
    return ""


server.run()
"""
ASKED = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}


def answered_after(command: list[str]) -> float:
    """Seconds from the start of a server to its answer."""
    started = time.perf_counter()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(ASKED).encode() + b"\n")
        server.stdin.flush()
        assert b'"serverInfo"' in server.stdout.readline()
        seconds = time.perf_counter() - started
        server.stdin.close()
    return seconds


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=15)
    rounds: int = options.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        bare = Path(folder) / "bare.py"
        bare.write_text(BARE, encoding="utf-8")
        ours = str(Path(sys.executable).parent / "runtape-mcp")
        commands = {"a bare server": [sys.executable, str(bare)], "runtape-mcp": [ours, "--traces", folder]}
        for command in commands.values():
            answered_after(command)
        took: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(rounds):
            for name, command in commands.items():
                took[name].append(answered_after(command))
    print("| server | median, s | fastest, s | slowest, s |\n|---|---|---|---|")
    for name, times in took.items():
        print(f"| {name} | {statistics.median(times):.2f} | {min(times):.2f} | {max(times):.2f} |")
    ratios = [ours / bare for bare, ours in zip(*took.values(), strict=True)]
    print(f"\nMedian of {rounds} ratios, pair by pair: {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
