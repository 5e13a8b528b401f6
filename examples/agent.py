"""A plain tool-using agent loop on the OpenAI SDK, recorded with runtape.

The three example agents bring a prompt, a task and tools; this file is what an agent looks like anywhere.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import shlex
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openai import OpenAI
from stand_in_server import serve

import runtape

HERE = Path(__file__).parent
ANTHROPIC_OPENAI_URL = "https://api.anthropic.com/v1/"
JSON_TYPES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}


@dataclass(frozen=True)
class Agent:
    """Everything that makes one agent."""

    name: str
    system: str
    task: str
    tools: tuple[Callable[..., Any], ...]
    bad_tool: str
    """The call that nobody wanted."""
    stand_in: str
    """The function in `stand_ins.py` that answers when no real model is asked for."""


def describe(tool: Callable[..., Any]) -> dict[str, Any]:
    """The tool definition of a Python function, from its signature and docstring."""
    parameters = {
        name: {"type": JSON_TYPES[str(parameter.annotation)]}
        for name, parameter in inspect.signature(tool).parameters.items()
    }
    return {
        "type": "function",
        "function": {
            "name": tool.__name__,
            "description": inspect.getdoc(tool),
            "parameters": {"type": "object", "properties": parameters, "required": list(parameters)},
        },
    }


def run(agent: Agent, client: OpenAI, model: str) -> tuple[Path, bool]:
    """Let the agent work until it answers in text. Returns the trace and whether it made the bad call."""
    failed = False
    with runtape.record(name=agent.name) as rec:
        rec.wrap(client)
        tools = {tool.__name__: rec.tool(tool) for tool in agent.tools}
        definitions: Any = [describe(tool) for tool in agent.tools]
        messages: list[Any] = [{"role": "system", "content": agent.system}, {"role": "user", "content": agent.task}]
        for _ in range(12):
            reply = client.chat.completions.create(model=model, messages=messages, tools=definitions)
            message = reply.choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                print(f"agent: {message.content}")
                break
            for made in message.tool_calls:
                print(f"agent: {made.function.name}({made.function.arguments})")
                failed |= made.function.name == agent.bad_tool
                result = tools[made.function.name](**json.loads(made.function.arguments))
                messages.append({"role": "tool", "tool_call_id": made.id, "content": json.dumps(result)})
        return rec.path, failed


def options() -> argparse.ArgumentParser:
    """Which model an example talks to."""
    parser = argparse.ArgumentParser(description="Run the agent once and record it.")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--openai", action="store_true", help="use OpenAI (OPENAI_API_KEY)")
    where.add_argument("--anthropic", action="store_true", help="use Anthropic's OpenAI endpoint (ANTHROPIC_API_KEY)")
    where.add_argument("--base-url", metavar="URL", help="use any OpenAI-compatible server")
    parser.add_argument("--model", help="model name (default: one that fits the provider)")
    return parser


def once(agent: Agent, chosen: argparse.Namespace) -> tuple[Path, bool, str]:
    """Run the agent once with the chosen model. Returns the trace, whether it failed, and flags for `runtape why`."""
    import stand_ins

    with ExitStack() as stack:
        flags = ""
        if chosen.openai:
            client, model = OpenAI(), "gpt-4.1-mini"
        elif chosen.anthropic:
            client = OpenAI(base_url=ANTHROPIC_OPENAI_URL, api_key=os.environ["ANTHROPIC_API_KEY"])
            model = "claude-haiku-4-5"
        elif chosen.base_url:
            client, model = OpenAI(base_url=chosen.base_url, api_key=os.environ.get("OPENAI_API_KEY", "none")), "local"
            flags = f" --base-url {shlex.quote(chosen.base_url)}"
        else:
            url = stack.enter_context(serve(getattr(stand_ins, agent.stand_in)))
            client, model = OpenAI(base_url=url, api_key="stand-in"), "stand-in"
            spec = f"{os.path.relpath(HERE / 'stand_ins.py')}:{agent.stand_in}"
            flags = f" --model-fn {shlex.quote(spec)}"
        with client:
            path, failed = run(agent, client, chosen.model or model)
    return path, failed, flags


def next_command(agent: Agent, path: Path, flags: str) -> str:
    """The command that explains the bad call of a recorded run."""
    return f"runtape why {shlex.quote(os.path.relpath(path))} tool:{agent.bad_tool}{flags}"


def main(agent: Agent) -> None:
    """Command line of one example."""
    path, failed, flags = once(agent, options().parse_args())
    print(f"\nrecorded {os.path.relpath(path)}")
    if failed:
        print(f"{agent.bad_tool} was called. To see why:\n  {next_command(agent, path, flags)}")
    else:
        print(f"{agent.bad_tool} was not called this time. If it had been:\n  {next_command(agent, path, flags)}")
