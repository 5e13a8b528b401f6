"""What holds for every text that the server sends, whatever was recorded."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from mcp import MCPError
from mcp.types import CallToolResult, TextContent

HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
FENCED = re.compile(r"<(recorded-[0-9a-f]{8})>.*?</\1>", re.DOTALL)


def strings(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for key, item in value.items():
                yield from strings(key)
                yield from strings(item)
        case list():
            for item in value:
                yield from strings(item)
        case _:
            pass


def assert_safe(text: str) -> None:
    """Nothing hidden, and no recorded word outside a fence of which every line is marked."""
    __tracebackhide__ = True
    assert not HIDDEN & {unicodedata.category(character) for character in text if character not in "\n\t"}
    outside = FENCED.sub("", text)
    assert "repository" not in outside.lower(), outside[:2000]
    assert "evil" not in outside, outside[:2000]
    assert "SECRET" not in text
    for fence in FENCED.finditer(text):
        if "\n" in fence[0]:
            lines = fence[0].split("\n")[1:-1]
            assert all(line.startswith("| ") or re.fullmatch(r"`{3,}(text)?", line) for line in lines)


def assert_safe_answer(result: CallToolResult) -> None:
    """Every text of a tool's result is safe, and there is no more of it than a client takes."""
    texts = [block.text for block in result.content if isinstance(block, TextContent)]
    assert len(texts) == len(result.content)
    most = 1000 if result.is_error else 8000
    assert sum(map(len, texts)) <= most, texts
    assert len(str(result.structured_content)) <= most
    for text in (*texts, *strings(result.structured_content)):
        assert_safe(text)


def assert_safe_error(error: MCPError) -> None:
    """The text of a protocol error is safe and short."""
    assert_safe(str(error))
    assert len(str(error)) < 1000
