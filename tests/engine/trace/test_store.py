"""Traces by name: what is listed, what is found, and what no name reaches."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from trace_files import START, line, write

from runtape.errors import TraceNotFound, TraceUnreadable
from runtape.trace.store import Store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three traces with rising times in a folder, and things around and in it that are none."""
    folder = tmp_path / "traces"
    folder.mkdir()
    for age, name in enumerate(("inbox-1", "inbox-2", "refund")):
        _trace(folder / f"{name}.jsonl", 1000 + age)
    _trace(tmp_path / "outside.jsonl", 5000)
    (tmp_path / "traces-evil").mkdir()
    _trace(tmp_path / "traces-evil" / "evil.jsonl", 5000)
    (folder / "notes.txt").write_text("x")
    (folder / "empty.jsonl").touch()
    (folder / "folder.jsonl").mkdir()
    (folder / "inner").mkdir()
    _trace(folder / "inner" / "deep.jsonl", 5000)
    return folder


def _trace(path: Path, modified: int) -> None:
    write(path, line(0, "run_start", START))
    os.utime(path, (modified, modified))


def test_traces_are_listed_newest_first_and_nothing_else(folder: Path) -> None:
    rows = Store(folder).listing()
    assert [row.name for row in rows] == ["refund", "inbox-2", "inbox-1"]
    assert rows[0].path == folder / "refund.jsonl"
    assert (rows[0].size, rows[0].started) == (rows[0].path.stat().st_size, 1002)


def test_a_run_that_began_earlier_and_is_changed_later_stays_behind(tmp_path: Path) -> None:
    names = ("chat-20261130-101010-abcdef", "chat-20261130-101009-123456", "chat-20231130-101010-ffffff")
    for age, name in enumerate(names):
        _trace(tmp_path / f"{name}.jsonl", 9000 + age)
    assert [row.name for row in Store(tmp_path).listing()] == list(names)
    assert Store(tmp_path).find("last") == tmp_path / f"{names[0]}.jsonl"


def test_the_listing_opens_no_file(folder: Path) -> None:
    (folder / "broken.jsonl").write_text("not a trace")
    os.utime(folder / "broken.jsonl", (2000, 2000))
    rows = Store(folder).listing()
    assert rows[0].name == "broken"
    with pytest.raises(TraceUnreadable):
        rows[0].summary()
    assert rows[1].summary().name == "inbox"


@pytest.mark.parametrize(("name", "found"), [("refund", "refund"), ("refund.jsonl", "refund"), ("last", "refund")])
def test_a_trace_is_found_by_name(folder: Path, name: str, found: str) -> None:
    assert Store(folder).find(name) == folder / f"{found}.jsonl"


def test_the_beginning_of_one_name_alone_is_enough(folder: Path) -> None:
    assert Store(folder).find("ref") == folder / "refund.jsonl"
    with pytest.raises(TraceNotFound, match="nearest names are 'inbox-2', 'inbox-1'"):
        Store(folder).find("inbox")


def test_a_trace_called_like_its_ending_is_found(folder: Path) -> None:
    _trace(folder / "a.jsonl.jsonl", 1)
    assert Store(folder).find("a.jsonl") == folder / "a.jsonl.jsonl"


@pytest.mark.parametrize(
    "name",
    [
        "../outside",
        "../outside.jsonl",
        "..",
        ".",
        "",
        "/etc/passwd",
        "./refund",
        "inner/deep",
        "inner\\deep",
        "..\\outside",
        "../traces-evil/evil",
        "~/outside",
        "~root",
        "refund\0",
        "C:refund",
        "%2e%2e/outside",
        "refund/",
        ".hidden",
        "folder",
        "notes.txt",
        "x" * 5000,
        "\ud800",
    ],
)
def test_no_name_leads_out_of_the_folder_or_to_what_is_no_trace(folder: Path, name: str) -> None:
    with pytest.raises(TraceNotFound) as error:
        Store(folder).find(name)
    assert len(str(error.value)) < 1000
    str(error.value).encode("utf-8")


@pytest.mark.parametrize("target", ["../outside.jsonl", "../traces-evil/evil.jsonl", "/etc/hostname"])
def test_a_link_out_of_the_folder_is_not_listed_and_not_found(folder: Path, target: str) -> None:
    (folder / "link.jsonl").symlink_to(target)
    assert "link" not in [row.name for row in Store(folder).listing()]
    with pytest.raises(TraceNotFound):
        Store(folder).find("link")


def test_a_link_through_a_linked_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "door").symlink_to(tmp_path / "traces-evil")
    (folder / "link.jsonl").symlink_to("door/evil.jsonl")
    with pytest.raises(TraceNotFound):
        Store(folder).find("link")


def test_links_that_stay_inside_are_followed_and_broken_ones_are_not(folder: Path) -> None:
    (folder / "alias.jsonl").symlink_to("refund.jsonl")
    (folder / "broken.jsonl").symlink_to("gone.jsonl")
    (folder / "circle.jsonl").symlink_to("circle.jsonl")
    names = [row.name for row in Store(folder).listing()]
    assert "alias" in names
    assert not {"broken", "circle"} & set(names)
    assert Store(folder).find("alias") == folder / "alias.jsonl"
    with pytest.raises(TraceNotFound):
        Store(folder).find("circle")


def test_a_folder_that_is_itself_a_link_works(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "linked").symlink_to(folder)
    store = Store(tmp_path / "linked")
    assert store.find("refund").samefile(folder / "refund.jsonl")
    assert len(store.listing()) == 3


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("inbox", "nearest names are 'inbox-2', 'inbox-1'"),
        ("refnud", "nearest names are 'refund'"),
        ("REFUND", "nearest names are 'refund'"),
        ("zzz", "newest are 'refund', 'inbox-2', 'inbox-1'"),
    ],
)
def test_a_miss_names_what_is_near(folder: Path, name: str, told: str) -> None:
    with pytest.raises(TraceNotFound, match=told):
        Store(folder).find(name)


def test_an_error_shows_hidden_characters_of_the_name(folder: Path) -> None:
    with pytest.raises(TraceNotFound, match=r"<ESC>.*<U\+202E>"):
        Store(folder).find("\x1b[31m\u202ex")


@pytest.mark.parametrize("missing", [True, False])
def test_a_folder_without_traces_says_so(tmp_path: Path, missing: bool) -> None:
    store = Store(tmp_path / "none" if missing else tmp_path)
    assert store.listing() == []
    with pytest.raises(TraceNotFound, match="no traces in"):
        store.find("last")
    with pytest.raises(TraceNotFound, match="holds no traces yet"):
        store.find("x")
