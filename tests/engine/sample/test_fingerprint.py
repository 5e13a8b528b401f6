from __future__ import annotations

import functools
import itertools
import operator
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sampling import chat

from runtape.sample.asks import Ask
from runtape.sample.budget import Budget
from runtape.sample.cache import ReplyCache
from runtape.sample.function import FunctionModel
from runtape.sample.resolve import resolve
from runtape.sample.sampler import Sampler

Answering = Callable[[dict[str, Any]], object]


def identity(function: Answering) -> str:
    return FunctionModel(function).identity


def say(text: str, _: dict[str, Any], *, end: str = "") -> str:
    return text + end


@dataclass
class Config:
    text: str
    more: list[str] = field(default_factory=list)


class Tone(str, Enum):
    KIND = "kind"
    RUDE = "rude"


class Speaker:
    prompt = ""

    def __init__(self, said: Any) -> None:
        self.said = said

    def __call__(self, _: dict[str, Any]) -> str:
        return str(self.said.text if isinstance(self.said, Config) else self.said)

    def method(self, request: dict[str, Any]) -> str:
        return self(request)


class Slotted:
    __slots__ = ("__said",)

    def __init__(self, said: str) -> None:
        self.__said = said

    def __call__(self, _: dict[str, Any]) -> str:
        return self.__said


def closing_over(text: Any) -> Answering:
    return lambda _: str(text)


def by_keyword(text: str) -> Answering:
    def model(_: dict[str, Any], *, said: str = text) -> str:
        return said

    return model


def by_default(text: str) -> Answering:
    def model(_: dict[str, Any], said: str = text) -> str:
        return said

    return model


def by_attribute(text: str) -> Answering:
    def model(_: dict[str, Any]) -> str:
        return str(vars(model)["said"])

    vars(model)["said"] = text
    return model


def by_later_binding(text: str) -> Answering:
    said = ""

    def model(_: dict[str, Any]) -> str:
        nonlocal said
        said = said or "never empty"
        return said

    said = text
    return model


def decorated(text: str) -> Answering:
    @functools.wraps(plain)
    def model(request: dict[str, Any]) -> str:
        return text + plain(request)

    return model


def plain(_: dict[str, Any]) -> str:
    return "plain"


def class_made_here(text: str) -> Answering:
    class Local(Speaker):
        def __call__(self, request: dict[str, Any]) -> str:
            return text + super().__call__(request)

    return Local("")


def class_attribute(text: str) -> Answering:
    return type("Local", (Speaker,), {"prompt": text, "__call__": lambda self, _: self.prompt})("")  # type: ignore[no-any-return]


def generator(text: str) -> Answering:
    replies: Iterator[str] = itertools.repeat(text)
    return lambda _: next(replies)


def compiled_only(text: str) -> Answering:
    """As typed into a shell: there is no file."""
    scope: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(f"def inner(): return {text!r}\ndef model(request): return inner()", "<stdin>", "exec"), scope)
    model: Answering = scope["model"]
    return model


def holding_a_lock(text: str) -> Answering:
    speaker = Speaker(text)
    vars(speaker)["lock"] = threading.Lock()
    return speaker


MAKERS: dict[str, Callable[[str], Answering]] = {
    "partial": lambda text: functools.partial(say, text),
    "partial keyword": lambda text: functools.partial(say, "", end=text),
    "partial of a partial": lambda text: functools.partial(functools.partial(say, text), end="."),
    "partial of a method": lambda text: functools.partial(Speaker(text).method),
    "object": Speaker,
    "object with an object": lambda text: Speaker(Config(text)),
    "object with a list": lambda text: Speaker([text]),
    "slots": Slotted,
    "method": lambda text: Speaker(text).method,
    "closure": closing_over,
    "closure over an object": lambda text: closing_over(Config("", [text])),
    "closure over a list": lambda text: closing_over([text]),
    "closure over a dict": lambda text: closing_over({"said": {"text": text}}),
    "closure over a set": lambda text: closing_over({text, 1, "b"}),
    "closure over a function": lambda text: closing_over(closing_over(text)),
    "closure over a path": lambda text: closing_over(Path("x") / f"_{text}"),
    "keyword-only default": by_keyword,
    "default": by_default,
    "attribute of the function": by_attribute,
    "variable that is bound again": by_later_binding,
    "decorated": decorated,
    "class made here": class_made_here,
    "class attribute": class_attribute,
    "without a file": compiled_only,
    "iterator": generator,
    "object with a lock": holding_a_lock,
}
OPAQUE = ("iterator", "object with a lock")
plain_makers = st.sampled_from([name for name in MAKERS if name not in OPAQUE])
texts = st.text(max_size=3)


@given(st.sampled_from(sorted(MAKERS)), st.sampled_from(sorted(MAKERS)), texts, texts)
def test_functions_that_answer_differently_have_different_identities(a: str, b: str, one: str, other: str) -> None:
    first, second = MAKERS[a](one), MAKERS[b](other)
    assert identity(first) == identity(first)
    if (a, one) != (b, other):
        assert identity(first) != identity(second)


@pytest.mark.parametrize("maker", MAKERS)
def test_two_functions_of_one_kind_are_told_apart(maker: str) -> None:
    one, other = MAKERS[maker]("a"), MAKERS[maker]("b")
    assert identity(one) != identity(other)


@given(plain_makers, texts)
def test_functions_made_alike_from_plain_data_are_one_model(maker: str, text: str) -> None:
    assert identity(MAKERS[maker](text)) == identity(MAKERS[maker](text))


@given(st.recursive(st.integers() | texts | st.booleans() | st.floats() | st.none(), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=6), st.data())  # fmt: skip
def test_a_closure_is_as_its_data_is(value: Any, data: st.DataObject) -> None:
    assert identity(closing_over(value)) == identity(closing_over(eval(repr(value), {"nan": float("nan"), "inf": float("inf")})))  # fmt: skip
    assert identity(closing_over(value)) != identity(closing_over([value]))


def test_lambdas_in_one_scope_are_told_apart() -> None:
    many: list[Answering] = [
        lambda _: "a", lambda _: "b", lambda r: r["model"], lambda r: r["system"], lambda _: 1, lambda _: True,
        lambda _: 1.0, lambda _: [x + x for x in "ab"], lambda _: [x + x for x in "ac"], lambda _: -0.0, lambda _: 0.0,
        lambda r: r["model"] in {"a", "b"}, lambda r: r["model"] in {"a", "c"}, lambda r: closing_over(lambda: r), lambda r: closing_over(lambda: "a"),
    ]  # fmt: skip
    assert len(set(map(identity, many))) == len(many)


def test_enums_differ_by_member() -> None:
    assert identity(closing_over(Tone.KIND)) != identity(closing_over(Tone.RUDE))
    assert FunctionModel(closing_over(Tone.KIND)).identity == identity(closing_over(Tone.KIND))


def test_what_refers_to_itself_is_written_all_the_same() -> None:
    def made(text: str) -> Answering:
        ring: list[Any] = [text]
        ring.append(ring)
        speaker = Speaker(ring)
        vars(speaker)["me"] = speaker.method
        return speaker

    assert identity(made("a")) == identity(made("a")) != identity(made("b"))


def test_what_is_too_large_or_too_deep_to_look_at_is_known_by_its_object() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for state in (deep, list(range(200_000))):
        one, other = closing_over(state), closing_over(state)
        assert identity(one) == identity(one) != identity(other)
    del one, other
    while deep:  # taken apart by hand: a deep list ends the interpreter of some versions when it is freed
        deep = deep[0]


def test_an_object_that_went_leaves_its_identity_to_nobody() -> None:
    seen = {identity(operator.itemgetter("model")) for _ in range(50)}
    seen |= {identity(holding_a_lock("a")) for _ in range(50)}
    assert len(seen) == 100


@pytest.mark.anyio
async def test_what_cannot_be_recognised_by_another_process_is_said() -> None:
    for function, noted in ((holding_a_lock("a"), True), (Speaker("a"), False), (plain, False)):
        with ReplyCache(None) as cache:
            sampler = Sampler(FunctionModel(function), cache, Budget(None))
            await sampler.draw([Ask(chat(), "pool", 3)])
        said = [note for note in sampler.notes if "carries a lock, whose state cannot be compared" in note]
        assert len(said) == noted, sampler.notes


FILE = """
import functools, itertools, threading
from beside import WORD
client = threading.Lock()
LIMIT = {1, 2, 3, "a", "b"}
def helper(): return WORD + str(LIMIT)
def model(request, client=client, *, limit=frozenset({"a", "b", "c"})):
    if request in {"x", "y", "z"}: return (lambda: WORD)()
    return helper()
def retried(function):
    lock = threading.Lock()
    @functools.wraps(function)
    def again(request):
        with lock: return function(request)
    return again
@retried
def decorated(request): return helper()
@functools.lru_cache
def cached(request): return helper()
part = functools.partial(model, limit=LIMIT)
class Agent:
    def __init__(self): self.client = client; self.prompt = "p"; self.tags = {"x", "y", "z"}
    def __call__(self, request): return self.prompt
    def run(self, request): return self.prompt
agent = Agent()
run = agent.run
lines = itertools.repeat("hi")
lamb = lambda request: next(lines)
"""
NAMED = ("model", "decorated", "cached", "part", "agent", "run", "lamb")


def test_a_function_named_in_a_file_is_one_model_in_every_process_until_the_file_changes(tmp_path: Path) -> None:
    file = tmp_path / "my_model.py"
    (tmp_path / "beside.py").write_text("WORD = 'hi'", encoding="utf-8")
    code = (
        "import sys\nfrom runtape.sample.resolve import resolve\nfrom runtape.wire.values import Request\n"
        "from runtape.sample.function import FunctionModel\n"
        "request = Request('openai', 'chat.completions', None, {})\n"
        "for name in sys.argv[2:]: print(resolve(request, model=f'{sys.argv[1]}:{name}').identity)\n"
        "import my_model\n"
        "for function in (my_model.model, my_model.decorated): print(FunctionModel(function).identity)\n"
    )

    def identities(seed: int) -> list[str]:
        command = [sys.executable, "-c", code, str(file), *NAMED]
        done = subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            env={"PYTHONHASHSEED": str(seed), "PYTHONPATH": str(tmp_path)},
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split("\n")[:-1]

    file.write_text(FILE, encoding="utf-8")
    first = identities(1)
    assert first == identities(2)
    assert len(set(first)) == len(NAMED) + 2
    file.write_text(FILE.replace("return WORD + str(LIMIT)", "return WORD"), encoding="utf-8")
    assert not set(first) & set(identities(1))


def test_a_named_function_that_holds_a_lock_is_the_same_model_when_it_is_loaded_again(tmp_path: Path) -> None:
    file = tmp_path / "held_model.py"
    file.write_text("import threading\ndef model(r, lock=threading.Lock()): return 'hi'\n", encoding="utf-8")
    model = resolve(chat(), model=f"{file}:model")
    assert model.identity == resolve(chat(), model=f"{file}:model").identity
