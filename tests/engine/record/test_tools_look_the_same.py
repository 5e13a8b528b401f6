"""A decorated tool is, to the program, the tool: type, attributes, signature, identity of what it is made of."""

from __future__ import annotations

import asyncio
import copy
import functools
import inspect
import pickle
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from provider import events
from typing_extensions import Self

from runtape.record import Recorder


def called(rec: Recorder) -> list[tuple[str, Any]]:
    return [(str(event.payload["name"]), event.payload["arguments"]) for event in events(rec.path, "tool_call")]


def test_a_function_with_a_cache_keeps_its_cache_and_its_methods(rec: Recorder) -> None:
    ran: list[int] = []

    @functools.lru_cache(maxsize=7)
    def double(x: int, *, by: int = 2) -> int:
        """Twice as much."""
        ran.append(x)
        return x * by

    tool = rec.tool(double)
    assert [tool(1), tool(1), tool(2)] == [2, 2, 4]
    assert ran == [1, 2]
    assert tool.cache_info() == double.cache_info()
    assert tool.cache_info().hits == 1
    assert tool.cache_parameters() == double.cache_parameters()
    assert tool.__wrapped__ is double.__wrapped__
    assert isinstance(tool, type(double))
    assert inspect.signature(tool) == inspect.signature(double)
    assert (tool.__name__, tool.__doc__, tool.__module__) == ("double", "Twice as much.", __name__)
    tool.cache_clear()
    assert double.cache_info().currsize == 0
    assert called(rec) == [("double", {"x": 1}), ("double", {"x": 1}), ("double", {"x": 2})]


def test_a_cached_method_is_bound_like_any_other(rec: Recorder) -> None:
    class Shop:
        @rec.tool
        @functools.lru_cache(maxsize=2)  # noqa: B019
        def price(self, name: str) -> int:
            return len(name)

    shop = Shop()
    assert shop.price("abc") == 3
    assert Shop.price(shop, "abc") == 3
    assert Shop.price.cache_info().hits == 1
    assert called(rec) == [("price", {"name": "abc"})] * 2


def test_a_partial_is_a_partial(rec: Recorder) -> None:
    def add(x: int, y: int, *, z: int = 0) -> int:
        return x + y + z

    async def fetch(a: int, b: int) -> int:
        return a + b

    partial = functools.partial(add, 1, z=5)
    tool = rec.tool(partial)
    assert isinstance(tool, functools.partial)
    assert (tool.func, tool.args, tool.keywords) == (add, (1,), {"z": 5})
    assert inspect.signature(tool) == inspect.signature(partial)
    assert tool(2) == 8
    assert not hasattr(tool, "__name__")
    assert repr(tool) == repr(partial)
    assert functools.partial(tool, 3)() == 9
    asynchronous = rec.tool(functools.partial(fetch, 1))
    assert inspect.iscoroutinefunction(asynchronous)
    assert asyncio.run(asynchronous(2)) == 3
    assert [name for name, _ in called(rec)] == ["add", "add", "fetch"]


@dataclass
class Counter:
    """Counts."""

    start: int = 0

    def __call__(self, step: int = 1) -> int:
        self.start += step
        return self.start

    def __len__(self) -> int:
        return 4

    def __getitem__(self, key: int) -> int:
        return key

    def __contains__(self, item: object) -> bool:
        return item == "x"

    def __iter__(self) -> Iterator[int]:
        return iter((1, 2))

    def __add__(self, other: int) -> int:
        return self.start + other

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.start = -1


def test_an_object_with_a_call_method_keeps_fields_and_operators(rec: Recorder) -> None:
    counter = Counter(3)
    tool = rec.tool(counter)
    assert tool(2) == counter.start == tool.start == 5
    tool.start = 9
    assert counter.start == 9
    assert isinstance(tool, Counter)
    assert tool == counter
    assert (len(tool), tool[5], "x" in tool, list(tool), tool + 1) == (4, 5, True, [1, 2], 10)
    assert tool.__dict__ is counter.__dict__
    assert dir(tool) == dir(counter)
    assert inspect.signature(tool) == inspect.signature(counter)
    with pytest.raises(TypeError):
        hash(tool)
    with pytest.raises(TypeError):
        tool < 3  # type: ignore[operator]  # noqa: B015
    with tool:
        pass
    assert counter.start == -1
    assert type(copy.copy(tool)) is Counter
    assert pickle.loads(pickle.dumps(tool)) == counter
    assert called(rec) == [("Counter", {"step": 2})]


def test_bound_methods_keep_their_object(rec: Recorder) -> None:
    class Shop:
        def sell(this, what: str) -> str:  # noqa: N805
            return what

    shop = Shop()
    tool = rec.tool(shop.sell)
    assert inspect.ismethod(tool)
    assert tool.__self__ is shop
    assert inspect.signature(tool) == inspect.signature(shop.sell)
    assert tool("tea") == "tea"
    items: list[int] = []
    append = rec.tool(items.append)
    append(3)
    assert items == [3]
    assert append.__self__ is items
    assert called(rec) == [("sell", {"what": "tea"}), ("append", {"object": 3})]


def test_descriptors_stay_descriptors(rec: Recorder) -> None:
    class Shop:
        @rec.tool
        @staticmethod
        def static(x: int) -> int:
            return x

        @rec.tool
        @classmethod
        def own(cls, x: int) -> tuple[type, int]:
            return cls, x

        @rec.tool
        @property
        def open(self) -> bool:
            """Whether."""
            return True

        @rec.tool  # type: ignore[type-var]
        @functools.cached_property
        def stock(self) -> list[int]:
            return [1]

    shop = Shop()
    assert (Shop.static(1), shop.static(1), Shop.own(2), shop.own(2)) == (1, 1, (Shop, 2), (Shop, 2))
    assert shop.open is True
    assert isinstance(vars(Shop)["open"], property)
    assert vars(Shop)["open"].__doc__ == "Whether."
    assert shop.stock is shop.stock
    assert isinstance(vars(Shop)["static"], staticmethod)
    assert isinstance(vars(Shop)["own"], classmethod)
    assert [name for name, _ in called(rec)] == ["static", "static", "own", "own", "open"]


def test_a_class_stays_the_class(rec: Recorder, capsys: pytest.CaptureFixture[str]) -> None:
    class Search:
        def __call__(self, query: str) -> str:
            return query.upper()

    class Deeper(Search):
        pass

    class Plain:
        pass

    assert rec.tool(Deeper) is Deeper
    assert Search()("a") == "A"
    assert Deeper()("b") == "B"
    assert called(rec) == [("Deeper", {"query": "b"})]
    for unchanged in (Plain, int, 3, "x", object()):
        capsys.readouterr()
        assert rec.tool(unchanged) is unchanged  # type: ignore[type-var]
        assert capsys.readouterr().err.count("\n") == 1


def test_a_function_keeps_everything_that_can_be_asked_of_it(rec: Recorder) -> None:
    def tool(a: int, b: list[str] | None = None, *, c: float = 1.5) -> str:
        """Does it."""
        return f"{a}{b}{c}"

    tool.schema = {"x": 1}  # type: ignore[attr-defined]
    shown: Any = rec.tool(tool)
    asked: list[Callable[[Any], Any]] = [
        inspect.signature,
        inspect.getfullargspec,
        inspect.getsource,
        inspect.getdoc,
        inspect.isfunction,
        typing.get_type_hints,
        lambda f: (f.__name__, f.__qualname__, f.__module__, f.__defaults__, f.__kwdefaults__, f.__annotations__),
        lambda f: f.schema,
    ]
    for ask in asked:
        assert ask(shown) == ask(tool)

    @functools.wraps(tool)
    def outer(*args: Any, **kwargs: Any) -> Any:
        return tool(*args, **kwargs)

    decorated: Any = rec.tool(outer)
    assert decorated.__wrapped__ is outer.__wrapped__
    assert inspect.signature(decorated) == inspect.signature(outer)
    assert inspect.getfullargspec(decorated) == inspect.getfullargspec(tool)


def test_a_generic_function_can_still_be_extended(rec: Recorder) -> None:
    @rec.tool
    @functools.singledispatch
    def show(value: object) -> str:
        return "object"

    @show.register
    def _(value: int) -> str:
        return "int"

    assert (show("x"), show(1)) == ("object", "int")
    assert show.dispatch(bool)(True) == "int"


def test_builtin_functions_do_not_become_methods(rec: Recorder) -> None:
    size = rec.tool(len)

    class Holder:
        measure = size

    assert Holder().measure([1, 2]) == 2
    assert inspect.isbuiltin(size)
    assert size.__name__ == "len"


def top(x: int) -> int:
    return x


def test_a_recorder_and_its_tools_can_be_copied_and_sent_away(
    rec: Recorder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert copy.copy(rec) is rec
    assert copy.deepcopy({"rec": rec})["rec"] is rec
    elsewhere = pickle.loads(pickle.dumps(rec))
    assert elsewhere.path == rec.path
    assert "records nothing here" in capsys.readouterr().err
    assert elsewhere.note("x") == -1
    assert elsewhere.tool(top) is top
    elsewhere.close()
    shown = rec.tool(top)
    monkeypatch.setitem(globals(), "top", shown)
    assert pickle.loads(pickle.dumps(shown)) is shown
