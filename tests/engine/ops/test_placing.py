from __future__ import annotations

import threading

import pytest

from runtape.errors import PathRefused
from runtape.ops.placing import place, write_all


def write(path, content=b"{}\n"):
    write_all(path, "source\n", [content])


def test_a_test_and_its_trace_are_written_side_by_side(tmp_path):
    path = place("tests/deep/test_refund.py", tmp_path)

    write(path)

    assert path == tmp_path.resolve() / "tests" / "deep" / "test_refund.py"
    assert path.read_text(encoding="utf-8") == "source\n"
    assert path.with_suffix(".jsonl").read_bytes() == b"{}\n"


def test_an_absolute_path_inside_the_root_is_allowed(tmp_path):
    assert place(tmp_path / "test_a.py", tmp_path) == tmp_path.resolve() / "test_a.py"


@pytest.mark.parametrize("taken", ["test_a.py", "test_a.jsonl"])
def test_a_name_that_is_taken_is_refused_before_anything_is_written(tmp_path, taken):
    (tmp_path / taken).touch()

    with pytest.raises(PathRefused, match=f"{taken}.*exists already"):
        place("test_a.py", tmp_path)
    with pytest.raises(PathRefused, match="exists already"):
        place(tmp_path / "test_a.py", None)


@pytest.mark.parametrize(
    "out",
    [
        "../test_a.py",
        "a/../../test_a.py",
        "a/../test_a.py",
        "/etc/test_a.py",
        ".github/test_a.py",
        "a/.hidden/test_a.py",
        "conftest.py",
        "test_a.txt",
        "a.py",
        "test_.py\n",
        "test_a b.py",
        "test_a\u202e.py",
        "",
    ],
)
def test_paths_that_leave_the_project_or_are_no_tests_are_refused(tmp_path, out):
    with pytest.raises(PathRefused):
        place(out, tmp_path)


def test_a_sibling_folder_with_the_same_prefix_is_outside(tmp_path):
    with pytest.raises(PathRefused):
        place(tmp_path / "root-evil" / "test_a.py", tmp_path / "root")


def test_a_symbolic_link_on_the_way_is_refused(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(outside)

    with pytest.raises(PathRefused, match="symbolic link"):
        place("link/test_a.py", root)


@pytest.mark.parametrize("taken", ["test_a.py", "test_a.jsonl"])
def test_nothing_is_ever_replaced(tmp_path, taken):
    (tmp_path / taken).write_text("mine", encoding="utf-8")

    with pytest.raises(PathRefused, match=taken):
        write(tmp_path / "test_a.py")

    assert [path.name for path in tmp_path.iterdir()] == [taken]
    assert (tmp_path / taken).read_text(encoding="utf-8") == "mine"


def test_a_dangling_link_is_not_followed(tmp_path):
    outside = tmp_path / "outside.py"
    (tmp_path / "test_a.py").symlink_to(outside)

    with pytest.raises(PathRefused):
        write(tmp_path / "test_a.py")

    assert not outside.exists()


def test_of_two_writers_at_once_one_wins_whole(tmp_path):
    for attempt in range(20):
        path = tmp_path / f"test_{attempt}.py"
        barrier = threading.Barrier(2)
        won: list[bytes] = []

        def writer(content, path=path, barrier=barrier, won=won):
            barrier.wait()
            try:
                write(path, content)
            except PathRefused:
                return
            won.append(content)

        threads = [threading.Thread(target=writer, args=(content,)) for content in (b"one\n", b"two\n")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert len(won) == 1
        assert path.with_suffix(".jsonl").read_bytes() == won[0]


def test_a_folder_that_cannot_be_made_is_one_message(tmp_path):
    (tmp_path / "file").write_text("x", encoding="utf-8")

    with pytest.raises(PathRefused):
        write(tmp_path / "file" / "test_a.py")


def test_a_name_that_no_file_system_takes_is_refused_in_words(tmp_path):
    with pytest.raises(PathRefused, match="cannot be used in a path"):
        place("a" * 285 + "/test_a.py", tmp_path)
