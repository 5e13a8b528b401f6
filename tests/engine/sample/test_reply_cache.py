from __future__ import annotations

import functools
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sampling import chat, said

from runtape.sample import answer_json
from runtape.sample.cache import ReplyCache, key_of
from runtape.sample.model import Answer
from runtape.sample.rows import Sample
from runtape.wire.values import Json, Reply, Request, Stop, ToolCall, Usage

ONE = Sample("k", "pool", 0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def rewrite(folder: Path, answer: object) -> None:
    db = sqlite3.connect(folder / "replies.sqlite")
    db.execute("UPDATE replies SET answer = ?", (answer,))
    db.commit()
    db.close()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
texts = st.text(st.characters(codec=None))
optional = st.none() | texts
calls = st.builds(ToolCall, texts, texts, json_values, optional)
tokens = st.none() | st.integers(0, 10**7)
replies = st.builds(
    Reply,
    text=optional,
    tool_calls=st.lists(calls, max_size=3).map(tuple),
    refusal=optional,
    stop=st.sampled_from(get_args(Stop)),
    stop_reason=optional,
    model=optional,
    id=optional,
    usage=st.builds(Usage, tokens, tokens, tokens),
)
answers = st.builds(Answer, replies, json_values) | st.builds(Answer, st.none(), json_values, texts)


@given(answers)
def test_an_answer_reads_back_equal(answer: Answer) -> None:
    assert answer_json.decode(answer_json.encode(answer)) == answer


@given(answers, st.data())
def test_a_torn_answer_is_no_answer(answer: Answer, data: st.DataObject) -> None:
    text = answer_json.encode(answer)
    cut = data.draw(st.integers(0, len(text) - 1))
    with pytest.raises(answer_json.BadRow):
        answer_json.decode(text[:cut])


def test_what_one_cache_kept_the_next_one_finds(folder: Path) -> None:
    with ReplyCache(folder) as cache:
        cache.add(ONE, said("hi"), job="why")
        cache.add(ONE, said("too late"), job="other")
    with ReplyCache(folder) as cache:
        assert cache.answers("k", "pool") == {0: said("hi")}
        assert cache.answers("k", "slot 1") == {}
        assert (cache.paid("why"), cache.paid("other")) == (1, 0)
        assert cache.notes == []


def age(folder: Path, seconds: object) -> None:
    db = sqlite3.connect(folder / "replies.sqlite")
    db.execute(
        "UPDATE replies SET at = at - ?" if isinstance(seconds, float) else "UPDATE replies SET at = ?", (seconds,)
    )
    db.commit()
    db.close()


def test_answers_older_than_a_day_are_told_with_how_to_draw_new_ones(folder: Path) -> None:
    with ReplyCache(folder) as cache:
        for number in range(3):
            cache.add(Sample("k", "pool", number), said("hi"), job="")
        cache.add(Sample("k2", "pool", 0), said("hi"), job="")
    age(folder, 80_000.0)
    with ReplyCache(folder) as cache:
        assert len(cache.answers("k", "pool")) == 3
        assert cache.notes == []
    age(folder, 10_000.0)
    with ReplyCache(folder) as cache:
        assert cache.notes == [], "nothing of it was used"
        cache.add(Sample("k", "pool", 3), said("new"), job="")
        for _ in range(2):
            cache.answers("k", "pool")
        assert cache.notes == [
            "3 answers from the reply cache are more than a day old; pass --no-cache to draw new ones"
        ]
    with ReplyCache(folder) as cache:
        cache.answers("k2", "pool")
        assert cache.notes == ["1 answer from the reply cache is more than a day old; pass --no-cache to draw new ones"]
    age(folder, "yesterday")
    with ReplyCache(folder) as cache:
        assert len(cache.answers("k", "pool")) == 4


def test_the_folder_is_private_and_kept_out_of_version_control(folder: Path) -> None:
    ReplyCache(folder).close()
    assert (folder / ".gitignore").read_text(encoding="utf-8") == "*\n"
    if sys.platform != "win32":
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert stat.S_IMODE((folder / "replies.sqlite").stat().st_mode) == 0o600


def test_a_sample_is_claimed_by_one_until_it_is_answered_released_or_abandoned(folder: Path) -> None:
    other = Sample("k", "pool", 1)
    with ReplyCache(folder) as mine, ReplyCache(folder) as theirs:
        assert mine.claim([ONE], "me") == {ONE}
        assert theirs.claim([ONE, other], "they") == {other}
        mine.add(ONE, said("hi"), job="")
        mine.release("me")
        assert theirs.claim([ONE], "they") == set(), "answered by now"
        theirs.release("they")
        assert mine.claim([other], "me") == {other}
    with ReplyCache(folder, lease=0.0) as later:
        assert later.claim([other], "later") == {other}, "whoever held it is gone"


def test_a_claim_from_before_a_reboot_holds_nothing(folder: Path) -> None:
    with ReplyCache(folder) as cache:
        cache.claim([ONE], "me")
    db = sqlite3.connect(folder / "replies.sqlite")
    db.execute("UPDATE leases SET expires = expires + 1e9")
    db.commit()
    db.close()
    with ReplyCache(folder) as cache:
        assert cache.claim([ONE], "they") == {ONE}


WRONG: list[object] = [
    "null",
    "[]",
    "3",
    '"text"',
    "{}",
    '{"raw": null, "error": null, "reply": null}',
    '{"raw": null, "error": null, "reply": {"text": 3, "tool_calls": [], "stop": "end", "usage": [1, 2, 3]}}',
    '{"raw": null, "error": null, "reply": {"tool_calls": [{"name": 1, "text": ""}], "stop": "end", "usage": [1, 2, 3]}}',
    '{"raw": null, "error": null, "reply": {"tool_calls": [], "stop": "whenever", "usage": [1, 2, 3]}}',
    '{"raw": null, "error": null, "reply": {"tool_calls": [], "stop": "end", "usage": [true, 2, 3]}}',
    "[" * 50_000,
    b"\x00\xff\xfe",
    7,
]


@pytest.mark.parametrize("wrong", WRONG, ids=[str(i) for i in range(len(WRONG))])
def test_a_row_of_another_shape_is_a_miss_and_set_aside_with_one_note(folder: Path, wrong: object) -> None:
    with ReplyCache(folder) as cache:
        for number in range(3):
            cache.add(Sample("k", "pool", number), said("hi"), job="")
    rewrite(folder, wrong)
    with ReplyCache(folder) as cache:
        assert cache.answers("k", "pool") == {}
        assert cache.answers("k", "pool") == {}
        assert len({note.split("(")[0] for note in cache.notes}) == 1
        assert cache.claim([ONE], "me") == {ONE}
        cache.add(ONE, said("again"), job="")
        assert cache.answers("k", "pool") == {0: said("again")}


@pytest.mark.parametrize("damage", [b"", b"not a database at all, but long enough to be read as one" * 20])
def test_a_damaged_file_is_set_aside_and_begun_anew(folder: Path, damage: bytes) -> None:
    with ReplyCache(folder) as cache:
        cache.add(ONE, said("hi"), job="")
    (folder / "replies.sqlite").write_bytes(damage)
    with ReplyCache(folder) as cache:
        assert cache.answers("k", "pool") == {}
        cache.add(ONE, said("again"), job="")
    with ReplyCache(folder) as cache:
        assert cache.answers("k", "pool") == {0: said("again")}
        assert cache.notes == []


def test_a_file_damaged_under_our_hands_costs_no_reply_that_comes_after(folder: Path) -> None:
    with ReplyCache(folder) as cache:
        for number in range(200):
            cache.add(Sample("k", "pool", number), said("x" * 500), job="")
    whole = (folder / "replies.sqlite").read_bytes()
    (folder / "replies.sqlite").write_bytes(whole[: len(whole) // 3] + bytes(len(whole) // 3))
    with ReplyCache(folder) as cache:
        cache.answers("k", "pool")
        cache.claim([ONE], "me")
        cache.add(Sample("k2", "pool", 0), said("new"), job="")
        assert cache.answers("k2", "pool") == {0: said("new")}
        assert any("damaged" in note for note in cache.notes)


def test_of_two_that_find_a_file_damaged_the_second_keeps_what_the_first_began(folder: Path) -> None:
    with ReplyCache(folder) as cache:
        for number in range(200):
            cache.add(Sample("k", "pool", number), said("x" * 500), job="")
    with ReplyCache(folder) as one, ReplyCache(folder) as two:
        whole = (folder / "replies.sqlite").read_bytes()
        (folder / "replies.sqlite").write_bytes(whole[: len(whole) // 3] + bytes(len(whole) // 3))
        for at, cache in enumerate((one, two)):
            cache.answers("k", "pool")
            cache.add(Sample("new", "pool", at), said("new"), job="")
        assert set(two.answers("new", "pool")) == {0, 1}
        assert any("another process began it anew" in note for note in two.notes)
    assert len(list(folder.glob("*.damaged*"))) == 1


def test_no_file_that_was_set_aside_is_lost_to_the_next_one(folder: Path) -> None:
    for damage in (b"one " * 300, b"two " * 300):
        with ReplyCache(folder) as cache:
            cache.add(ONE, said("hi"), job="")
        (folder / "replies.sqlite").write_bytes(damage)
    with ReplyCache(folder):
        pass
    assert {file.read_bytes()[:4] for file in folder.glob("*.damaged*")} == {b"one ", b"two "}


def test_a_file_of_a_later_version_with_more_columns_is_read_and_written(folder: Path) -> None:
    with ReplyCache(folder) as cache:
        cache.add(ONE, said("hi"), job="")
    db = sqlite3.connect(folder / "replies.sqlite")
    for table in ("replies", "leases", "asked", "most_at_once", "charged", "batches", "in_batch", "set_aside"):
        db.execute(f"ALTER TABLE {table} ADD COLUMN later TEXT DEFAULT 'x'")
    db.close()
    with ReplyCache(folder) as cache:
        assert cache.claim([Sample("k", "pool", 1)], "me")
        cache.add(Sample("k", "pool", 1), said("new"), job="why")
        cache.charge("why", 1)
        cache.learn_most_at_once("m", 4)
        cache.begin_batch("b", {"i": [Sample("k", "pool", 2)]})
        assert cache.notes == []
    with ReplyCache(folder) as cache:
        assert set(cache.answers("k", "pool")) == {0, 1}


def test_a_writer_that_holds_the_file_keeps_nobody_from_what_is_there(folder: Path) -> None:
    with ReplyCache(folder) as cache:
        cache.add(ONE, said("hi"), job="")
    writer = sqlite3.connect(folder / "replies.sqlite", isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    with ReplyCache(folder) as cache:
        assert cache.answers("k", "pool") == {0: said("hi")}
        assert cache.notes == []
    writer.close()


def test_no_link_in_the_folder_leads_a_write_out_of_it(folder: Path, tmp_path: Path) -> None:
    folder.mkdir()
    (folder / ".gitignore").symlink_to(tmp_path / "elsewhere")
    with ReplyCache(folder) as cache:
        assert cache.notes == []
    assert not (tmp_path / "elsewhere").exists()


@pytest.fixture
def unwritable(tmp_path: Path) -> Path:
    taken = tmp_path / "taken"
    taken.write_text("a file where the folder should be", encoding="utf-8")
    return taken / "cache"


class WithoutWal(sqlite3.Connection):
    """As on a network file system: SQLite answers with the journal that it keeps."""

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        return super().execute(sql.replace("journal_mode=WAL", "journal_mode=DELETE"), parameters)


def test_where_wal_is_refused_the_cache_is_kept_and_shared_all_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite3, "connect", functools.partial(sqlite3.connect, factory=WithoutWal))
    with ReplyCache(folder) as mine, ReplyCache(folder) as theirs:
        assert mine.claim([ONE], "me") == {ONE}
        assert theirs.claim([ONE], "they") == set()
        mine.add(ONE, said("hi"), job="why")
        assert theirs.answers("k", "pool") == {0: said("hi")}
        assert mine.notes == theirs.notes == []
    assert not (folder / "replies.sqlite-wal").exists()
    with ReplyCache(folder) as later:
        assert later.answers("k", "pool") == {0: said("hi")}


def test_without_a_usable_folder_replies_stay_in_memory_with_one_note(unwritable: Path) -> None:
    with ReplyCache(unwritable) as cache:
        assert cache.claim([ONE], "me") == {ONE}
        assert cache.claim([ONE], "they") == set()
        cache.add(ONE, said("hi"), job="why")
        assert cache.answers("k", "pool") == {0: said("hi")}
        assert cache.paid("why") == 1
        assert len(cache.notes) == 1
        assert "stay in memory" in cache.notes[0]


def test_what_was_paid_without_a_usable_folder_is_found_by_the_next_question_of_this_process(unwritable: Path) -> None:
    with ReplyCache(unwritable) as cache:
        cache.add(ONE, said("hi"), job="why")
        cache.learn_most_at_once("m", 3)
    with ReplyCache(unwritable) as cache:
        assert cache.answers("k", "pool") == {0: said("hi")}
        assert (cache.paid("why"), cache.most_at_once("m")) == (1, 3)
    with ReplyCache(unwritable.with_name("another")) as cache, ReplyCache(None) as alone:
        assert cache.answers("k", "pool") == alone.answers("k", "pool") == {}


@pytest.mark.parametrize("spoilt", ["x", "", None, 0, -5, 2.5, b"3"])
def test_a_spoilt_row_about_a_model_is_as_if_it_was_never_asked(folder: Path, spoilt: object) -> None:
    with ReplyCache(folder) as cache:
        cache.learn_most_at_once("m", 8)
        db = sqlite3.connect(folder / "replies.sqlite", isolation_level=None)
        db.execute("DROP TABLE most_at_once")
        db.execute("CREATE TABLE most_at_once (identity TEXT PRIMARY KEY, samples)")
        db.execute("INSERT INTO most_at_once VALUES ('m', ?)", (spoilt,))
        db.close()
        assert cache.most_at_once("m") is None
        cache.learn_most_at_once("m", 4)
        assert cache.most_at_once("m") == 4
        assert cache.notes == []


def test_a_disk_that_fills_up_costs_no_reply(folder: Path) -> None:
    with ReplyCache(folder) as cache:
        cache.add(ONE, said("hi"), job="")
        db = sqlite3.connect(folder / "replies.sqlite", isolation_level=None)
        db.execute("DROP TABLE leases")  # every later write fails, reads go on
        db.close()
        cache.add(Sample("k", "pool", 1), said("more"), job="")
        cache.add(Sample("k", "pool", 2), said("and more"), job="")
        assert cache.answers("k", "pool") == {0: said("hi"), 1: said("more"), 2: said("and more")}
        assert len(cache.notes) == 1


BASE = chat("go", temperature=0.5, tools=[{"type": "function", "function": {"name": "read"}}])


def changed(**fields: Json) -> Request:
    return Request(BASE.provider, BASE.api, BASE.endpoint, {**BASE.body, **fields})


@pytest.mark.parametrize(
    "other",
    [
        changed(model="m2"),
        changed(temperature=0.6),
        changed(tools=[]),
        changed(messages=[{"role": "user", "content": "go!"}]),
        changed(max_tokens=10),
        changed(tool_choice="required"),
        Request(BASE.provider, "responses", BASE.endpoint, BASE.body),
    ],
)
def test_whatever_the_model_is_told_is_part_of_the_key(other: Request) -> None:
    assert key_of("m", other) != key_of("m", BASE)


def test_who_is_asked_is_part_of_the_key_and_the_order_of_keys_is_not() -> None:
    turned = Request(BASE.provider, BASE.api, BASE.endpoint, dict(reversed(BASE.body.items())))
    assert key_of("m", turned) == key_of("m", BASE)
    assert key_of("elsewhere", BASE) != key_of("m", BASE)
    assert key_of("m", changed(stream=True)) == key_of("m", BASE), "how it travels is not asked"


def test_what_a_job_was_charged_is_counted_also_when_nothing_came_of_it(folder: Path) -> None:
    with ReplyCache(folder) as cache:
        cache.add(ONE, said("hello"), job="why")
        cache.charge("why", 3)
        cache.charge("why", 2)
        cache.charge("other", 1)
    with ReplyCache(folder) as again:
        assert (again.paid("why"), again.paid("other"), again.paid("none")) == (5, 1, 0)


def test_a_second_connection_of_a_process_hides_no_answer_from_other_processes(folder: Path) -> None:
    def counted_elsewhere() -> int:
        script = "import sys; from runtape.sample.cache import ReplyCache\n"
        script += "with ReplyCache(sys.argv[1]) as cache: print(len(cache.answers('k', 'pool')))"
        done = subprocess.run([sys.executable, "-c", script, str(folder)], check=True, capture_output=True, text=True)
        return int(done.stdout)

    with ReplyCache(folder) as cache, ReplyCache(folder):
        for number in range(3):
            cache.add(Sample("k", "pool", number), said("hello"), job="why")
            assert counted_elsewhere() == number + 1


@given(texts, texts)
def test_whatever_a_trace_names_can_be_kept_and_found_again(identity: str, model: str) -> None:
    request = Request("openai", "chat.completions", None, {"model": model})
    with ReplyCache(None) as cache:
        cache.describe(identity, {key_of(identity, request): request})
        cache.learn_most_at_once(identity, 4)
        cache.learn_takes_turns(identity)
        cache.learn_no_logprobs(identity, model)
        assert cache.most_at_once(identity) == 4
        assert cache.takes_turns(identity)
        assert cache.no_logprobs(identity) is not None
        assert cache.notes == []
