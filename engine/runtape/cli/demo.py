"""`runtape demo`: the whole path in one go, with no key and no network.

An example agent makes a bad call; the real server process is then driven the way a coding assistant drives it.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..errors import BadInput, RuntapeError
from . import console

if TYPE_CHECKING:
    from mcp import Client

TRACE_EVENT = {"trace": "last", "event": "tool:forward_email"}
MOST_SLICES = 20
"""Calls of one tool before the demo gives up on it; one is enough for the stand-in model."""

MARKS = re.compile(r"</?recorded-[0-9a-f]+>|`{3,}(text)?")
INLINE_MARKS = re.compile(r"<recorded-[0-9a-f]+>`+\|? ?(.*?) ?`+</recorded-[0-9a-f]+>")


def command() -> int:
    """Record an example agent that forwards an invoice to a stranger, explain it, fix it, and write a test.

    Everything runs here: the agent, a rule-based stand-in for its model, and the MCP server.

    Example: runtape demo
    """
    # the MCP client is only needed here, and takes as long to import as the rest of the command line.
    import anyio

    examples = _examples()
    folder = Path(tempfile.mkdtemp(prefix="runtape-demo-"))
    _title("An inbox agent at work (examples/inbox_agent.py)")
    # What the example prints after its run is for people who go on by hand.
    agent = subprocess.run(
        [sys.executable, str(examples / "inbox_agent.py")], cwd=folder, check=False, stdout=subprocess.PIPE, text=True
    )
    if agent.returncode:
        raise RuntapeError(f"the example agent ended with status {agent.returncode}; its folder is {folder}.")
    sys.stdout.write(agent.stdout.partition("\nrecorded ")[0])
    anyio.run(_investigate, examples, folder)
    _title("The test (pytest)")
    _run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_inbox.py"], folder)
    sys.stdout.write(f"\nThe trace, the report's replies and the test are in {folder}\n")
    return console.DONE


def _examples() -> Path:
    """The folder of the example agents: beside the source, or where a wheel puts it.

    Raises:
        BadInput: neither is there, or pytest is missing.
    """
    for name, extra in (("openai", ""), ("pytest", "[test]")):
        if importlib.util.find_spec(name) is None:
            raise BadInput(f"the demo needs {name}. Run: pip install 'runtape-mcp{extra}'")
    source = Path(__file__).parents[3] / "examples"
    if (source / "inbox_agent.py").is_file():
        return source
    spec = importlib.util.find_spec("runtape_examples")
    if spec is None or not spec.submodule_search_locations:
        raise BadInput("the example agents are not installed. Run: pip install --force-reinstall runtape-mcp")
    return Path(next(iter(spec.submodule_search_locations)))


async def _investigate(examples: Path, folder: Path) -> None:
    from mcp import Client, StdioServerParameters

    arguments = ["-m", "runtape_mcp", "--traces", str(folder / "traces"), "--project", str(folder)]
    arguments += ["--model-fn", f"{examples / 'stand_ins.py'}:inbox"]
    async with Client(StdioServerParameters(command=sys.executable, args=arguments)) as client:
        try:
            await _conversation(client)
            problem = None
        except RuntapeError as error:
            # raised inside the client's task group it would arrive as an ExceptionGroup
            problem = error
    if problem is not None:
        raise problem


async def _conversation(client: Client) -> None:
    await _ask(client, "Which runs are there?", "list_traces", {})
    await _ask(client, "What happened?", "show_event", {"trace": "last"})
    await _ask(client, "Why was the invoice forwarded?", "why", TRACE_EVENT)
    measured = await _ask(client, "What would have stopped it?", "fix", TRACE_EVENT)
    if not measured["best"]:
        raise RuntapeError("no candidate fix passed, so there is no test to write.")
    test = {**TRACE_EVENT, "path": "tests/test_inbox.py", "fix": measured["best"]}
    await _ask(client, "Keep it fixed", "write_test", test)


async def _ask(client: Client, question: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Call a tool until it is done; print its last answer as a person would read it.

    Raises:
        RuntapeError: the tool failed, or is still at work after many calls.
    """
    _title(f"{question} ({tool})")
    for _ in range(MOST_SLICES):
        result = await client.call_tool(tool, arguments)
        text = "\n".join(block.text for block in result.content if block.type == "text")
        if result.is_error:
            raise RuntapeError(f"{tool} failed: {text}")
        answer: dict[str, Any] = result.structured_content or {}
        if answer.get("status") != "running":
            sys.stdout.write(_for_a_person(text) + "\n")
            return answer
    raise RuntapeError(f"{tool} is still at work after {MOST_SLICES} calls.")


def _for_a_person(text: str) -> str:
    """An answer without the marks that keep recorded text apart for a coding assistant; the bars stay."""
    lines = (
        line for line in text.split("\n") if not MARKS.fullmatch(line) and "recorded from another agent" not in line
    )
    return re.sub(r"\n{3,}", "\n\n", INLINE_MARKS.sub(r"\1", "\n".join(lines))).strip()


def _run(command: list[str], folder: Path) -> None:
    sys.stdout.flush()
    done = subprocess.run(command, cwd=folder, check=False)
    if done.returncode:
        raise RuntapeError(f"{Path(command[1]).name} ended with status {done.returncode}; its folder is {folder}.")


def _title(text: str) -> None:
    typer.echo(f"\n{typer.style(text, bold=True)}\n")
