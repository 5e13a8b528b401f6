"""Files that are packed, cut, torn, wide or strangely put: what can be read of them is, and the rest is told of."""

from __future__ import annotations

import gzip
import io
import json
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from foreign_files import NAMES, foreign
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from import_door import Imported, bodies, import_data, import_files
from refund_files import BODIES, FILES, REPLIES

RECORDINGS = (*(("foreign", name) for name in NAMES if name != "eval"), *(("refund", name) for name in FILES))


def recording(kind: str, name: str) -> tuple[str, bytes, int]:
    """A file's name, its content, and its calls."""
    if kind == "foreign":
        file = foreign(name)
        return file.file, file.data, file.calls
    return "recording.json", FILES[name]().encode(), 2


def told(got: Imported) -> bool:
    return bool(got.skipped or got.told.get("reason") or got.told["unread"])


def pairs(count: int) -> list[str]:
    return [json.dumps({"request": BODIES[0], "response": REPLIES[0], "number": number}) for number in range(count)]


@pytest.mark.parametrize(("kind", "name"), RECORDINGS)
def test_a_packed_file_that_is_cut_gives_what_it_holds_and_says_so(kind: str, name: str, tmp_path: Path) -> None:
    file, data, calls = recording(kind, name)
    packed = gzip.compress(data, mtime=0)
    for end in (len(packed) // 3, len(packed) // 2, len(packed) - 9, len(packed) - 2):
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        got = import_data(folder, f"{file}.gz", packed[:end])
        assert got.calls <= calls
        assert told(got)


def test_lines_of_a_cut_gzip_are_all_read_up_to_the_damage(tmp_path: Path) -> None:
    lines = [
        json.dumps({**json.loads(line), "salt": f"{number * 7919:x}" * 40}) for number, line in enumerate(pairs(400))
    ]
    packed = gzip.compress("\n".join(lines).encode(), mtime=0)
    got = import_data(tmp_path, "log.jsonl.gz", packed[: len(packed) * 3 // 4])
    assert 200 < got.calls < 400
    assert any("damaged" in reason for reason in got.skipped)


def archive(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(f"{name}.json", data)
    return buffer.getvalue()


def with_damage(data: bytes, member: str, *, method: int | None = None) -> bytes:
    """The archive with one member whose bytes are wrong, or that is packed in another way."""
    changed, name = bytearray(data), f"{member}.json".encode()
    at = data.index(name)
    if method is None:
        changed[at + len(name) + 40 : at + len(name) + 60] = bytes(20)
        return bytes(changed)
    central = data.rindex(name)
    changed[at - 22], changed[central - 36] = method, method
    return bytes(changed)


@pytest.mark.parametrize("method", [None, 93])
def test_a_member_that_cannot_be_unpacked_costs_no_other(method: int | None, tmp_path: Path) -> None:
    har = FILES["har"]().encode()
    data = with_damage(archive(one=har, two=har, three=har), "two", method=method)
    got = import_data(tmp_path, "logs.zip", data)
    assert got.calls == 4
    assert told(got)


def test_one_broken_file_of_a_folder_costs_no_other(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    har = FILES["har"]().encode()
    (folder / "a.har").write_bytes(har)
    (folder / "b.har.gz").write_bytes(gzip.compress(har)[:-30])
    (folder / "c.zip").write_bytes(archive(one=har)[:-40])
    (folder / "d.yaml").write_text("interactions:\n- request: {", encoding="utf-8")
    got = import_files(tmp_path, folder)
    assert got.calls >= 2
    reasons = [*got.skipped, *(file["reason"] for file in got.told["unread"])]
    for part in ("damaged", "zip -FF", "no YAML"):
        assert any(part in reason for reason in reasons), part


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-8-sig"])
@pytest.mark.parametrize("name", ["pairs", "console_events", "har"])
def test_what_powershell_writes_is_read(name: str, encoding: str, tmp_path: Path) -> None:
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    got = import_data(tmp_path, "log.txt", (mark + FILES[name]()).replace("\n", "\r\n").encode(encoding))
    assert got.calls == 2


@pytest.mark.parametrize("name", FILES)
def test_a_comma_behind_the_last_element_is_no_obstacle(name: str, tmp_path: Path) -> None:
    text = FILES[name]().rstrip()
    got = import_data(tmp_path, "log.json", f"{text[:-1]},{text[-1]}".encode())
    assert got.calls == 2


def test_a_comma_inside_of_a_text_stays(tmp_path: Path) -> None:
    line = json.dumps({"request": {"model": "m", "messages": [{"role": "user", "content": "a,} b,]"}]}, "response": {}})
    got = import_data(tmp_path, "log.jsonl", (line[:-1] + ",}\n").encode())
    assert bodies(got.trace)[0]["messages"][0]["content"] == "a,} b,]"


def test_a_torn_line_among_very_long_ones_costs_no_other(tmp_path: Path) -> None:
    long = [json.dumps({**json.loads(line), "salt": "x" * 300_000}) for line in pairs(4)]
    got = import_data(tmp_path, "log.jsonl", f"{long[0]}\n{long[1][:-200_000]}\n{long[2]}\n{long[3]}\n".encode())
    assert got.calls == 3
    assert got.skipped == {"its line ends in the middle of it": 1}


def test_long_elements_of_a_list_on_lines_of_their_own_are_not_torn(tmp_path: Path) -> None:
    long = [json.dumps({**json.loads(line), "salt": "x" * 300_000}) for line in pairs(3)]
    got = import_data(tmp_path, "log.json", ("[" + ",\n".join(long) + "]").encode())
    assert (got.calls, got.skipped) == (3, {})


@pytest.mark.parametrize("size", [100_000, 2_000_000])
def test_a_long_text_in_front_of_what_a_format_is_known_by_hides_nothing(size: int, tmp_path: Path) -> None:
    doc: dict[str, Any] = json.loads(FILES["langfuse"]())
    whole = {"id": "t", "projectId": "p", "input": "x" * size, "observations": doc["observations"], "latency": 1}
    got = import_data(tmp_path, "trace.json", json.dumps(whole).encode())
    assert (got.format["format"], got.calls) == ("langfuse", 2)


@pytest.mark.parametrize(("kind", "name"), RECORDINGS)
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_bytes_that_are_wrong_inside_of_an_archive_crash_nothing(
    kind: str, name: str, tmp_path: Path, data: st.DataObject
) -> None:
    file, content, calls = recording(kind, name)
    packed = bytearray(archive(one=content))
    at = data.draw(st.integers(0, len(packed) - 1))
    packed[at] ^= data.draw(st.integers(1, 255))
    got = import_data(Path(tempfile.mkdtemp(dir=tmp_path)), f"{file}.zip", bytes(packed))
    assert got.calls == calls or told(got)
