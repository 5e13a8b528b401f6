"""What is said about this server outside of it, made from its code: the README's parts, `server.json`, the bundle.

    python -m runtape_mcp.publishing [--check]

Run it in the project's folder. It writes what has changed; with `--check` it writes nothing and fails instead.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from runtape.installed import version
from runtape.wire.values import Json, JsonObject

from .prompts import WHY_FAILED
from .server import DESCRIPTION, TOOLS
from .settings import ASK_ABOVE, JOB_CALLS, KEYS

REGISTRY_NAME = "io.github.runtape/runtape-mcp"
"""The name in the registry of servers; the README carries it too, as the proof of ownership."""
PROVIDERS = {"OPENAI_API_KEY": "OpenAI", "ANTHROPIC_API_KEY": "Anthropic"}
"""Whose key each variable holds."""
PACKAGE = "runtape-mcp"
SERVER = "runtape"
BUNDLE = "packaging/mcpb"

_HERE = ["--traces", "${workspaceFolder}/traces", "--project", "${workspaceFolder}"]
_KEY_INPUT: JsonObject = {"type": "promptString", "id": "key", "description": "OpenAI key", "password": True}


def cursor_link() -> str:
    """The address of Cursor's install button."""
    config = _compact({"command": "uvx", "args": [PACKAGE, *_HERE]})
    return f"https://cursor.com/en/install-mcp?name={SERVER}&config={quote(base64.b64encode(config.encode()), safe='')}"


def vscode_link() -> str:
    """The address of VS Code's install button; it asks for the key and keeps it."""
    config: JsonObject = {"command": "uvx", "args": [PACKAGE, *_HERE], "env": {"OPENAI_API_KEY": "${input:key}"}}
    inputs, config_text = quote(_compact([_KEY_INPUT]), safe=""), quote(_compact(config), safe="")
    return f"https://insiders.vscode.dev/redirect/mcp/install?name={SERVER}&inputs={inputs}&config={config_text}"


def buttons() -> str:
    """The README's buttons."""
    cursor = "[![Add to Cursor](https://cursor.com/deeplink/mcp-install-dark.svg)]"
    vscode = "[![Install in VS Code](https://img.shields.io/badge/VS_Code-Install_Runtape-0098FF)]"
    return f"{cursor}({cursor_link()})\n{vscode}({vscode_link()})"


def tool_table() -> str:
    """The README's table of tools."""
    lines = ["| tool | what it does | writes | spends |", "|---|---|---|---|"]
    for tool in TOOLS:
        about = tool.annotations
        assert about is not None
        does = _first_sentence(tool.description or "").replace("|", "\\|").replace("<", "&lt;")
        writes = "a new test" if tool.name == "write_test" else "no"
        lines.append(f"| `{tool.name}` | {does} | {writes} | {'model calls' if about.open_world_hint else 'no'} |")
    return "\n".join(lines)


def manifest() -> JsonObject:
    """The bundle's `manifest.json`, format 0.4: the host installs the package with uv and asks for the settings."""
    return {
        "manifest_version": "0.4",
        "name": PACKAGE,
        "display_name": "Runtape",
        "version": version(),
        "description": DESCRIPTION,
        "author": {"name": "Runtape"},
        "license": "MIT",
        "keywords": ["ai-agents", "debugging", "prompt-injection", "regression-testing"],
        "server": {
            "type": "uv",
            "entry_point": "server.py",
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--directory", "${__dirname}", "server.py"],
                "env": {
                    "RUNTAPE_TRACES": "${user_config.traces}",
                    "RUNTAPE_PROJECT": "${user_config.project}",
                    "RUNTAPE_MAX_CALLS": "${user_config.max_calls}",
                    **{name: f"${{user_config.{name.lower()}}}" for name in KEYS},
                },
            },
        },
        "tools": [{"name": tool.name, "description": _first_sentence(tool.description or "")} for tool in TOOLS],
        "prompts": [
            {"name": "why_failed", "arguments": ["trace"], "text": WHY_FAILED.format(name="${arguments.trace}")}
        ],
        "user_config": {
            "traces": {
                "type": "directory",
                "title": "Traces",
                "description": "Folder of the recorded runs; nothing outside it is read",
                "required": True,
            },
            "project": {
                "type": "directory",
                "title": "Project",
                "description": "Folder in which new tests may be written",
                "required": True,
            },
            "max_calls": {
                "type": "number",
                "title": "Most model calls of one investigation",
                "description": f"You are asked before one goes past {ASK_ABOVE}",
                "default": JOB_CALLS,
                "min": 1,
                "max": 1000,
            },
            **{
                name.lower(): {
                    "type": "string",
                    "title": f"{PROVIDERS[name]} key",
                    "description": "For reruns at this provider",
                    "sensitive": True,
                    "required": False,
                    "default": "",
                }
                for name in KEYS
            },
        },
        "compatibility": {"platforms": ["darwin", "linux", "win32"], "runtimes": {"python": ">=3.10"}},
    }


def bundle_project() -> str:
    """The bundle's `pyproject.toml`: nothing but the package at this version."""
    return (
        f'[project]\nname = "{PACKAGE}-bundle"\nversion = "{version()}"\nrequires-python = ">=3.10"\n'
        f'dependencies = ["{PACKAGE}=={version()}"]\n'
    )


def registry_entry() -> JsonObject:
    """`server.json` for the registry of servers."""
    keys: list[JsonObject] = [
        {"name": name, "description": "Key for reruns at this provider", "isSecret": True} for name in KEYS
    ]
    variables: list[Json] = [
        {"name": "RUNTAPE_TRACES", "description": "Folder of the recorded runs", "format": "filepath"},
        {"name": "RUNTAPE_PROJECT", "description": "Folder in which new tests may be written", "format": "filepath"},
        {"name": "RUNTAPE_MODEL_FN", "description": "Model function to rerun with, file.py:function"},
        {"name": "RUNTAPE_JUDGE_FN", "description": "Function that judges answers in text, file.py:function"},
        {"name": "RUNTAPE_BASE_URL", "description": "Address that reruns and keys may go to"},
        {"name": "RUNTAPE_MAX_CALLS", "description": "Most model calls of one investigation", "format": "number"},
        {"name": "RUNTAPE_MAX_USD", "description": "Most US dollars of one server process", "format": "number"},
        {"name": "RUNTAPE_PRICES", "description": "File of prices for RUNTAPE_MAX_USD", "format": "filepath"},
        {"name": "RUNTAPE_SLICE", "description": "Seconds one call may last", "format": "number"},
        *keys,
    ]
    return {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": REGISTRY_NAME,
        "title": "Runtape",
        "description": DESCRIPTION,
        "version": version(),
        "packages": [
            {
                "registryType": "pypi",
                "identifier": PACKAGE,
                "version": version(),
                "runtimeHint": "uvx",
                "transport": {"type": "stdio"},
                "environmentVariables": variables,
            }
        ],
    }


def published(readme: str) -> dict[str, str]:
    """The text of every file, by its path in the project; `readme` is the README as it is."""
    return {
        "README.md": _filled(readme, {"buttons": buttons(), "tools": tool_table()}),
        "server.json": _pretty(registry_entry()),
        f"{BUNDLE}/manifest.json": _pretty(manifest()),
        f"{BUNDLE}/pyproject.toml": bundle_project(),
    }


def main(arguments: list[str]) -> int:
    """Writes what has changed, or with `--check` fails when something has; returns the exit status."""
    files = published(Path("README.md").read_text(encoding="utf-8"))
    stale = [name for name, text in files.items() if not _is(Path(name), text)]
    if "--check" in arguments:
        for name in stale:
            print(f"{name} is not what the code says: run python -m runtape_mcp.publishing")
        return 1 if stale else 0
    for name in stale:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(files[name], encoding="utf-8")
        print(f"wrote {name}")
    return 0


def _filled(text: str, parts: Mapping[str, str]) -> str:
    for name, part in parts.items():
        before, opening, rest = text.partition(f"<!-- {name} -->\n")
        _, closing, after = rest.partition(f"<!-- /{name} -->")
        if not opening or not closing:
            raise ValueError(f"the README has no marks for {name}")
        text = f"{before}{opening}{part}\n{closing}{after}"
    return text


def _is(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


def _first_sentence(text: str) -> str:
    return text.partition(". ")[0].rstrip(".")


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _pretty(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
