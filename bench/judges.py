"""Other people's checkers of MCP servers, run on the installed `runtape-mcp`; one line for each.

    python -m bench.judges [--folder DIR] > bench/results/judges.md

They are fetched into `--folder` (default `.judges`) by the package clients of this machine, Node 24 with them: two of
them need a newer one than many machines have. The seven scenarios of the conformance suite go over HTTP, so the same
server is served there on 127.0.0.1; the other scenarios ask for tools of a test server and say nothing about a product.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

NODE = (
    "node@24",
    "@modelcontextprotocol/inspector@2.12.0",
    "@modelcontextprotocol/conformance@0.1.16",
    "@anthropic-ai/mcpb@2.1.2",
)
PYTHON = ("mcpscore==1.29.0", "amagi-mcp-probe==0.1.0", "mcp-conform==0.1.0")
ROOT = Path(__file__).parent.parent
ERAS = ("legacy", "modern", "auto")
SCENARIOS = (
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
)
HTTP = """
import sys
from pathlib import Path
from runtape_mcp.server import build
from runtape_mcp.settings import Settings
build(Settings(traces=Path(sys.argv[1]))).run("streamable-http", port=int(sys.argv[2]))
"""
"""The same server over HTTP; `runtape-mcp` itself speaks over standard input and output only."""


@dataclass(frozen=True)
class Verdict:
    judge: str
    passed: bool
    said: str

    def __str__(self) -> str:
        return f"| {self.judge} | {'pass' if self.passed else 'FAIL'} | {self.said} |"


class Judges:
    """The checkers in one folder, and the server that they look at."""

    def __init__(self, folder: Path, traces: Path) -> None:
        self.folder = folder
        self._node = folder / "node_modules" / ".bin"
        self._python = folder / "venv" / "bin"
        self._traces = traces
        self._server = [str(Path(sys.executable).parent / "runtape-mcp"), "--traces", str(traces)]
        self._environment = {**os.environ, "PATH": f"{self._node}{os.pathsep}{os.environ['PATH']}"}

    def fetch(self) -> None:
        """Installs what is missing."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if not (self._node / "mcp-inspector").exists():
            self._do(["npm", "install", "--no-audit", "--no-fund", "--prefix", str(self.folder), *NODE])
        if not (self._python / "mcpscore").exists():
            self._do([sys.executable, "-m", "venv", str(self._python.parent)])
            self._do([str(self._python / "pip"), "install", "-q", *PYTHON])

    def verdicts(self) -> Iterator[Verdict]:
        """One after the other."""
        for era in ERAS:
            yield self._inspector(era)
        yield self._bundle()
        yield self._score()
        yield self._probe()
        yield self._conform()
        with self._over_http() as url:
            for scenario in SCENARIOS:
                yield self._scenario(url, scenario)

    def _inspector(self, era: str) -> Verdict:
        flags = ["--method", "tools/list", "--strict", "--protocol-era", era, "--format", "json"]
        command, *arguments = self._server
        done = self._run([str(self._node / "mcp-inspector"), "--cli", command, *arguments, *flags])
        said = "no schema error" if done.returncode == 0 else _last(done.stderr)
        return Verdict(f"inspector 2.12.0 --strict, {era} era", done.returncode == 0, said)

    def _bundle(self) -> Verdict:
        done = self._run([str(self._node / "mcpb"), "validate", str(ROOT / "packaging" / "mcpb" / "manifest.json")])
        return Verdict("mcpb 2.1.2 validate", done.returncode == 0, _last(done.stdout))

    def _score(self) -> Verdict:
        done = self._run([str(self._python / "mcpscore"), "--stdio", *self._server])
        lines = [" ".join(line.split()) for line in (done.stdout + done.stderr).splitlines()]
        said = [line for line in lines if re.search(r"Final|Readiness for", line)]
        lost = [line.removeprefix("❌ ").partition(" This is an")[0] for line in lines if line.startswith("❌")]
        told = "; ".join(said + [f"lost: {reason}" for reason in lost])
        return Verdict("mcpscore 1.29.0", done.returncode == 0, told.replace("|", "/"))

    def _probe(self) -> Verdict:
        done = self._run([str(self._python / "amagi-mcp-probe"), "--format", "text", "--", *self._server])
        return Verdict("amagi-mcp-probe 0.1.0", done.returncode == 0, _last(done.stdout))

    def _conform(self) -> Verdict:
        done = self._run([str(self._python / "mcp-conform"), "server", "--command", " ".join(self._server)])
        [said] = re.findall(r"Result:.*", done.stdout + done.stderr)[-1:] or [_last(done.stdout)]
        return Verdict("mcp-conform 0.1.0", done.returncode == 0, said)

    def _scenario(self, url: str, scenario: str) -> Verdict:
        program = self.folder / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
        done = self._run([str(self._node / "node"), str(program), "server", "--url", url, "--scenario", scenario])
        [said] = re.findall(r"Passed.*", done.stdout)[-1:] or [_last(done.stdout)]
        return Verdict(f"conformance 0.1.16, {scenario}", done.returncode == 0, said)

    @contextmanager
    def _over_http(self) -> Iterator[str]:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        server = subprocess.Popen(
            [sys.executable, "-c", HTTP, str(self._traces), str(port)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            for _ in range(300):
                with socket.socket() as knock:
                    if knock.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            yield f"http://localhost:{port}/mcp"
        finally:
            server.terminate()
            server.wait()

    def _run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        # From their own folder: nothing of the project's is picked up by accident.
        return subprocess.run(
            command, cwd=self.folder, env=self._environment, capture_output=True, text=True, check=False, timeout=300
        )

    def _do(self, command: list[str]) -> None:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _last(text: str) -> str:
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line).strip() for line in text.splitlines()]
    return next((line for line in reversed(lines) if line), "").replace("|", "/")


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--folder", type=Path, default=Path(".judges"))
    judges_folder: Path = options.parse_args().folder.resolve()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, ROOT / "examples" / "inbox_agent.py"], cwd=folder, check=True, stdout=subprocess.DEVNULL
        )
        judges = Judges(judges_folder, Path(folder) / "traces")
        judges.fetch()
        print("| judge | verdict | what it says |\n|---|---|---|")
        failed = 0
        for verdict in judges.verdicts():
            failed += not verdict.passed
            print(verdict, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    if shutil.which("npm") is None:
        sys.exit("npm is needed to fetch the judges that are written for Node")
    sys.exit(main())
