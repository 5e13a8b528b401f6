"""What stands about the server in the README, the registry entry and the bundle is what the server is."""

from __future__ import annotations

import base64
import json
import re
import shlex
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
import pytest
from mcp import Client

from runtape.installed import version
from runtape_mcp.publishing import published
from runtape_mcp.server import build
from runtape_mcp.settings import KEYS, Settings, parser

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
MANIFEST = json.loads((ROOT / "packaging" / "mcpb" / "manifest.json").read_text(encoding="utf-8"))
ENTRY = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))


def test_nothing_has_been_changed_by_hand_or_forgotten() -> None:
    for name, text in published(README).items():
        assert (ROOT / name).read_text(encoding="utf-8") == text, "run python -m runtape_mcp.publishing"


def test_every_version_is_the_one_of_the_project() -> None:
    # Python 3.10 reads no TOML.
    [stated] = re.findall(r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    bundle = (ROOT / "packaging" / "mcpb" / "pyproject.toml").read_text(encoding="utf-8")
    [package] = ENTRY["packages"]
    assert {stated, MANIFEST["version"], ENTRY["version"], package["version"]} == {version()}
    assert f'dependencies = ["runtape-mcp=={version()}"]' in bundle
    assert package["identifier"] == MANIFEST["name"] == "runtape-mcp"


async def _offered(folder: Path) -> tuple[list[Any], list[Any]]:
    async with Client(build(Settings(traces=folder))) as client:
        return (await client.list_tools()).tools, (await client.list_prompts()).prompts


def test_the_bundle_names_the_tools_and_prompts_that_the_server_offers(tmp_path: Path) -> None:
    tools, prompts = anyio.run(_offered, tmp_path)
    assert [tool["name"] for tool in MANIFEST["tools"]] == [tool.name for tool in tools]
    for named, tool in zip(MANIFEST["tools"], tools, strict=True):
        assert named["description"]
        assert tool.description.startswith(named["description"])
    assert [prompt["name"] for prompt in MANIFEST["prompts"]] == [prompt.name for prompt in prompts]


def test_the_bundle_hands_over_what_it_asks_for_and_keeps_keys_secret() -> None:
    given = MANIFEST["server"]["mcp_config"]["env"]
    asked = set(MANIFEST["user_config"])
    assert {value.removeprefix("${user_config.").removesuffix("}") for value in given.values()} == asked
    for name, setting in MANIFEST["user_config"].items():
        assert setting.get("sensitive", False) == (name.upper() in KEYS)
        assert "default" in setting or setting["required"], "a host may leave an unset value as it is written"


def test_every_variable_that_is_named_is_one_that_the_launch_reads() -> None:
    options = {action.dest for action in parser()._actions}
    [package] = ENTRY["packages"]
    named = {variable["name"] for variable in package["environmentVariables"]} | set(
        MANIFEST["server"]["mcp_config"]["env"]
    )
    assert {name for name in named if name.removeprefix("RUNTAPE_").lower() not in options} == set(KEYS)


def test_the_registry_can_see_that_the_readme_is_ours() -> None:
    assert f"<!-- mcp-name: {ENTRY['name']} -->" in README
    assert len(ENTRY["description"]) <= 100


def test_the_buttons_install_this_server() -> None:
    [cursor] = re.findall(r"\((https://cursor\.com/en/install-mcp[^)]*)\)", README)
    [vscode] = re.findall(r"\((https://insiders\.vscode\.dev/redirect/mcp/install[^)]*)\)", README)
    asked = parse_qs(urlsplit(cursor).query)
    assert asked["name"] == ["runtape"]
    config = json.loads(base64.b64decode(asked["config"][0], validate=True))
    assert (config["command"], config["args"][0]) == ("uvx", "runtape-mcp")
    parser().parse_args(config["args"][1:])
    asked = parse_qs(urlsplit(vscode).query)
    config, [key] = json.loads(asked["config"][0]), json.loads(asked["inputs"][0])
    assert asked["name"] == ["runtape"]
    assert config["env"] == {"OPENAI_API_KEY": f"${{input:{key['id']}}}"}
    assert key["password"] is True
    parser().parse_args(config["args"][1:])


@pytest.mark.parametrize("line", re.findall(r"^    (claude mcp add.*)$", README, re.MULTILINE))
def test_the_lines_for_a_shell_start_this_server(line: str) -> None:
    words = shlex.split(line)
    if words[2] == "add-json":
        config = json.loads(words[4])
        command = [config["command"], *config["args"]]
    else:
        command = words[words.index("--") + 1 :]
    assert command[:2] == ["uvx", "runtape-mcp"]
    parser().parse_args(command[2:])
