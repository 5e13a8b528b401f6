"""Any Python value becomes JSON, in bounded time and size, with none of the host's code run."""

from __future__ import annotations

import base64
import dataclasses
import datetime as dt
import decimal
import enum
import hashlib
import json
import pathlib
import time
import tracemalloc
import uuid
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, RootModel, computed_field

from runtape.jsonable import MAX_DEPTH, MAX_NODES, MAX_TEXT, cut, jsonable

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


class Color(enum.Enum):
    RED = "red"
    PAIR = (1, 2)


class Name(str, enum.Enum):
    ANN = "ann"


class Level(enum.IntEnum):
    LOW = 3


@dataclasses.dataclass
class Point:
    x: int
    y: Any


@dataclasses.dataclass(frozen=True, slots=True)
class Slotted:
    x: int
    y: Any = None


class Score(BaseModel):
    model_config = ConfigDict(extra="allow")
    value: float
    inner: Any = None


class Numbers(RootModel[list[int]]):
    pass


Pair = namedtuple("Pair", "a b")  # noqa: PYI024 -- the untyped kind is meant


@given(plain)
def test_json_stays_as_it_is_and_is_a_copy(value: Any) -> None:
    kept = jsonable(value)
    assert kept == value
    assert json.dumps(kept) == json.dumps(value)
    if isinstance(value, (list, dict)):
        assert kept is not value


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (float("nan"), "<nan>"),
        (float("-inf"), "<-inf>"),
        ({"score": float("nan"), "inf": float("inf")}, {"score": "<nan>", "inf": "<inf>"}),
        (Score(value=float("nan")), {"value": "<nan>", "inner": None}),
        (Point(1, float("nan")), {"x": 1, "y": "<nan>"}),
        (Slotted(1, Point(2, None)), {"x": 1, "y": {"x": 2, "y": None}}),
        (
            Score.model_validate({"value": 1.5, "inner": Score.model_validate({"value": 2, "extra": b"a"})}),
            {"value": 1.5, "inner": {"value": 2.0, "inner": None, "extra": {"$bytes": "YQ=="}}},
        ),
        (Numbers([1, 2]), [1, 2]),
        (b"\x00\xff", {"$bytes": "AP8="}),
        (bytearray(b"a"), {"$bytes": "YQ=="}),
        (memoryview(b"abc")[::2], {"$bytes": "YWM="}),
        (dt.datetime(2026, 1, 2, 3, 4, tzinfo=dt.timezone.utc), "2026-01-02T03:04:00+00:00"),
        (dt.date(2026, 1, 2), "2026-01-02"),
        (dt.timedelta(seconds=90), 90.0),
        (decimal.Decimal("1.10"), "1.10"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (pathlib.PurePosixPath("/a/b"), "/a/b"),
        ({3, 1, 2}, [1, 2, 3]),
        (frozenset({"b", "a"}), ["a", "b"]),
        (Color.RED, "red"),
        (Color.PAIR, [1, 2]),
        (Name.ANN, "ann"),
        (Level.LOW, 3),
        (True, True),
        ((1, 2), [1, 2]),
        (Pair(1, 2), [1, 2]),
        (deque([1, 2]), [1, 2]),
        (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
        (defaultdict(list, a=[1]), {"a": [1]}),
        (Counter("aa"), {"a": 2}),
        ({1: "a", (1, 2): "b", None: "c", 2.5: "d"}, {"1": "a", "[1, 2]": "b", "null": "c", "2.5": "d"}),
        ({True: 1, False: 2}, {"true": 1, "false": 2}),
        ({1: "a", "1": "b"}, {"1": "a", "1 <str>": "b"}),
        (ValueError("bad"), {"error": "ValueError", "message": "bad"}),
        (object(), "<object>"),
        (len, "<builtin_function_or_method>"),
        (Point, "<type>"),
        ((n for n in [1]), "<generator>"),
        ("ab\ud83d\0\u2028", "ab\ud83d\0\u2028"),
        (2**200, 2**200),
        (1 + 2j, "(1+2j)"),
        (range(3), "range(0, 3)"),
    ],
)
def test_each_known_kind_has_one_spelling(value: Any, kept: Any) -> None:
    assert jsonable(value) == kept
    assert type(jsonable(value)) is type(kept)


def test_an_integer_that_python_does_not_print_is_hexadecimal() -> None:
    kept = jsonable(10**6000)
    assert isinstance(kept, str)
    assert int(kept.removeprefix("<int ").removesuffix(">"), 16) == 10**6000


def test_a_value_that_holds_itself_is_cut_where_it_begins_again() -> None:
    looped: list[Any] = [1]
    looped.append({"again": looped})
    assert jsonable(looped) == [1, {"again": "<cycle>"}]
    point = Point(1, None)
    point.y = point
    assert jsonable(point) == {"x": 1, "y": "<cycle>"}


def test_the_same_value_twice_is_no_cycle() -> None:
    shared = [1]
    assert jsonable([shared, shared]) == [[1], [1]]


class Touched(Exception):
    """Raised by every method of the hostile classes below."""


def _touch(*_: object, **__: object) -> Any:
    raise Touched


ATTACKS = dict.fromkeys(
    (
        "__getattr__", "__getattribute__", "__repr__", "__str__", "__iter__", "__len__", "__hash__", "__eq__", "__bool__",
        "__format__", "__index__", "__float__", "__int__", "__reduce__", "__getitem__", "__contains__", "__dir__",
        "items", "keys", "values", "get", "model_dump", "dict", "isoformat", "tolist", "item",
    ),
    _touch,
)  # fmt: skip
ATTACKS["__class__"] = property(_touch)  # type: ignore[assignment]  # a property is what a lazy proxy has there
ATTACKS["__dict__"] = property(_touch)  # type: ignore[assignment]
BASES: list[tuple[type, tuple[Any, ...], Any]] = [
    (object, (), "<Hostile>"),
    (dict, ({"a": 1},), {"a": 1}),
    (list, ([1],), [1]),
    (tuple, ([1],), [1]),
    (set, ([1],), [1]),
    (str, ("a",), "a"),
    (int, (7,), 7),
    (float, (1.5,), 1.5),
    (bytes, (b"a",), {"$bytes": "YQ=="}),
    (deque, ([1],), [1]),
]


@pytest.mark.parametrize(("base", "args", "kept"), BASES)
def test_no_method_of_a_hostile_class_is_called(base: type, args: tuple[Any, ...], kept: Any) -> None:
    hostile = type("Hostile", (base,), {name: attack for name, attack in ATTACKS.items() if name != "__hash__"})
    value = base.__new__(hostile, *args)
    if base in (dict, list, set, deque):
        base.__init__(value, *args)
    assert jsonable([value]) == [kept]
    assert type(jsonable([value])[0]) is type(kept)  # type: ignore[index]  # a list comes back


def test_a_hostile_metaclass_is_not_asked_either() -> None:
    asked = ("__getattribute__", "__eq__", "__hash__", "__instancecheck__", "__subclasscheck__")
    meta = type("Meta", (type,), dict.fromkeys(asked, _touch))
    value = meta("Odd", (), {})()
    assert jsonable([value]) == ["<Odd>"]


def test_hostile_keys_cost_their_entry_at_most() -> None:
    class Key:
        def __str__(self) -> str:
            raise Touched

        __repr__ = __str__

    assert jsonable({Key(): 1, "b": 2}) == {"<Key>": 1, "b": 2}


def test_properties_and_computed_fields_are_not_read() -> None:
    reads: list[str] = []

    @dataclasses.dataclass
    class Row:
        id: int

        @property
        def lazy(self) -> int:
            reads.append("row")
            return 1

    class Model(BaseModel):
        id: int

        @computed_field  # type: ignore[prop-decorator]  # as pydantic's documentation has it
        @property
        def lazy(self) -> int:
            reads.append("model")
            return 1

    assert jsonable([Row(1), Model(id=2)]) == [{"id": 1}, {"id": 2}]
    assert reads == []


def test_an_exception_without_a_text_is_still_named() -> None:
    class Broken(Exception):
        def __str__(self) -> str:
            raise Touched

    assert jsonable(Broken()) == {"error": "Broken", "message": "<no text: Touched>"}
    assert jsonable(ValueError("x" * 10_000)) == {"error": "ValueError", "message": "x" * 2000}


def test_five_million_nodes_are_cut_and_counted() -> None:
    kept = jsonable({"rows": [0] * 5_000_000})
    assert isinstance(kept, dict)
    rows = kept["rows"]
    assert isinstance(rows, list)
    assert len(rows) <= MAX_NODES
    assert rows[-1] == f"<cut: {5_000_000 - len(rows) + 1} more elements>"


def test_shared_branches_that_double_are_cut() -> None:
    value: list[Any] = []
    for _ in range(80):
        value = [value, value]
    assert len(json.dumps(jsonable(value))) < 50 * MAX_NODES


def test_a_large_object_is_cut_and_counted() -> None:
    kept = jsonable({str(n): n for n in range(150_000)})
    assert isinstance(kept, dict)
    assert kept["<cut>"] == f"{150_000 - len(kept) + 1} more members"


def test_deep_nesting_is_cut() -> None:
    value: list[Any] = []
    for _ in range(200_000):
        value = [value]
    text = json.dumps(jsonable(value))
    assert text.count("[") == MAX_DEPTH
    assert "nested deeper" in text


@pytest.mark.parametrize("value", ["x" * 50_000_000, [*["y" * 4_000_000] * 10], {"z" * 20_000_000: 1}])
def test_text_beyond_the_limit_is_cut_with_length_and_digest(value: Any) -> None:
    text = json.dumps(jsonable(value))
    assert len(text) < 1.2 * MAX_TEXT
    assert "sha256" in text


def test_a_cut_text_says_how_long_it_was_and_what_its_digest_is() -> None:
    text = "é\ud83d" * 2_000_000
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    assert cut(text, 3) == f"é\ud83dé<cut: 4000000 characters, sha256 {digest}>"


def test_bytes_come_back_or_are_cut_with_length_and_digest() -> None:
    data = bytes(range(256)) * 1000
    kept = jsonable(data)
    assert isinstance(kept, dict)
    assert base64.b64decode(str(kept["$bytes"])) == data
    large = b"ab" * 10_000_000
    kept = jsonable(large)
    assert isinstance(kept, dict)
    assert kept["cut"] == 20_000_000
    assert kept["sha256"] == hashlib.sha256(large).hexdigest()
    assert len(str(kept["$bytes"])) < 200_000


def test_a_hundred_megabytes_need_little_memory_of_their_own() -> None:
    value = "x" * 100_000_000
    tracemalloc.start()
    try:
        jsonable(value)
        assert tracemalloc.get_traced_memory()[1] < 2 * MAX_TEXT
    finally:
        tracemalloc.stop()


def test_a_value_changed_afterwards_leaves_its_record_alone() -> None:
    history: list[Any] = [{"role": "user"}]
    kept = jsonable(history)
    history[0]["role"] = "x"
    history.append(1)
    assert kept == [{"role": "user"}]


def test_bounded_time_for_the_largest_trees() -> None:
    for value in ([[0] * 100 for _ in range(50_000)], [{"k": n} for n in range(300_000)], [object()] * 1_000_000):
        started = time.process_time()
        jsonable(value)
        assert time.process_time() - started < 5
