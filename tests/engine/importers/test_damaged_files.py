"""Files that are cut, shuffled, written twice over or no strict JSON: nothing crashes, and no call is lost in silence."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any, cast

import pytest
from foreign_files import NAMES, foreign
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from import_door import Imported, bodies, import_data

LINES = ("claude_code", "codex", "agents", "runtape")
TEXTS = tuple(name for name in NAMES if name != "eval")
FEW = settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])


def imported(folder: Path, name: str, data: bytes) -> Imported:
    """The file with other content, in a folder of its own."""
    file = foreign(name)
    return import_data(Path(tempfile.mkdtemp(dir=folder)), file.file, data, ("--format", file.format))


@pytest.mark.parametrize("name", NAMES)
@FEW
@given(data=st.data())
def test_a_cut_file_gives_what_it_still_holds_and_tells_that_it_is_cut(
    name: str, tmp_path: Path, data: st.DataObject
) -> None:
    whole = foreign(name).data
    cut = whole[: data.draw(st.integers(1, len(whole) - 2))]
    got = imported(tmp_path, name, cut)
    assert got.status in {0, 1, 2}
    if got.calls < foreign(name).calls:
        complete = name in LINES and cut.endswith(b"\n")
        told = got.skipped or got.told.get("reason") or got.told["unread"]
        assert told or complete


@pytest.mark.parametrize("name", LINES)
@FEW
@given(random=st.randoms(use_true_random=False))
def test_lines_in_another_order_give_as_many_calls(name: str, tmp_path: Path, random: Any) -> None:
    file = foreign(name)
    shuffled = file.lines
    random.shuffle(shuffled)
    got = imported(tmp_path, name, b"".join(shuffled))
    lost = file.calls - got.calls
    assert lost <= sum(got.skipped.values())
    if name in {"claude_code", "agents"}:  # their lines tell their order
        assert bodies(got.trace) == bodies(imported(tmp_path, name, file.data).trace)


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_no_strict_json_is_read(name: str, tmp_path: Path) -> None:
    file = foreign(name)
    odd = re.sub(
        rb"([{])",
        rb'{"odd": NaN, "far": -Infinity, "lone": "\\ud800", "big": 123456789012345678901, ',
        file.data,
        count=1,
    )
    crlf = b"\xef\xbb\xbf" + odd.replace(b"\n", b"\r\n")
    assert imported(tmp_path, name, crlf).calls == file.calls


@pytest.mark.parametrize("name", LINES)
def test_a_line_that_is_no_json_is_told_and_costs_no_other(name: str, tmp_path: Path) -> None:
    file = foreign(name)
    broken = b"".join([file.lines[0], b'{"cut": "in the mid\n', *file.lines[1:]])
    got = imported(tmp_path, name, broken)
    assert got.calls == file.calls
    assert any("JSON" in reason for reason in got.skipped)


@pytest.mark.parametrize("name", TEXTS)
def test_a_file_that_is_json_in_a_json_text_is_read_or_refused_with_a_reason(name: str, tmp_path: Path) -> None:
    file = foreign(name)
    got = imported(tmp_path, name, json.dumps(file.data.decode()).encode())
    assert got.calls == file.calls or got.skipped


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container in a value with each of its keys."""
    found: list[tuple[Any, Any]] = []
    waiting: list[Any] = [value]
    while waiting:
        item: Any = waiting.pop()
        if isinstance(item, (dict, list)):
            container = cast("Any", item)
            keys = list(container) if isinstance(item, dict) else list(range(len(container)))
            found += [(container, key) for key in keys]
            waiting += [container[key] for key in keys]
    return found


@pytest.mark.parametrize("name", TEXTS)
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), other=JSON)
def test_any_value_in_the_place_of_another_crashes_nothing(
    name: str, tmp_path: Path, data: st.DataObject, other: Any
) -> None:
    file = foreign(name)
    values = [json.loads(line) for line in file.lines] if name in LINES else json.loads(file.data)
    found = places(values)
    container, key = found[data.draw(st.integers(0, len(found) - 1))]
    container[key] = other
    written = "".join(json.dumps(line) + "\n" for line in values) if name in LINES else json.dumps(values)
    got = imported(tmp_path, name, written.encode())
    assert got.calls or got.skipped or got.told.get("reason")
