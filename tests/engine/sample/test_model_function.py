from __future__ import annotations

import asyncio
import functools
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from anyio import from_thread
from anyio.lowlevel import current_token
from sampling import chat

from runtape.errors import BadModel, ModelFailed
from runtape.sample.function import FunctionModel
from runtape.sample.http_models import HttpModel
from runtape.sample.model import Answer, Unanswered
from runtape.sample.resolve import resolve
from runtape.testing.models import ScriptedModel
from runtape.wire.values import Reply, Request, ToolCall

pytestmark = pytest.mark.anyio


async def answer_of(function: Callable[[dict[str, Any]], object], request: Request | None = None) -> Answer:
    [answer] = await FunctionModel(function).sample(request or chat(), 1)
    return answer


async def test_a_string_is_a_text() -> None:
    assert (await answer_of(lambda _: "hi")).reply == Reply("hi", stop="end")


async def test_a_dict_may_call_tools() -> None:
    answer = await answer_of(lambda _: {"text": "so", "tool_calls": [{"name": "pay", "arguments": {"sum": 3}}]})
    assert answer.reply == Reply("so", (ToolCall("pay", '{"sum":3}', {"sum": 3}),), stop="tool_calls")
    assert answer.raw == {"text": "so", "tool_calls": [{"name": "pay", "arguments": {"sum": 3}}]}


async def test_arguments_may_be_json_text_or_missing() -> None:
    answer = await answer_of(lambda _: {"tool_calls": [{"name": "a", "arguments": '{"x": 1}'}, {"name": "b"}]})
    assert answer.reply is not None
    assert answer.reply.tool_calls == (ToolCall("a", '{"x": 1}', {"x": 1}), ToolCall("b", "{}", {}))


async def test_an_async_function_is_awaited() -> None:
    async def function(request: dict[str, Any]) -> str:
        await anyio.lowlevel.checkpoint()
        return str(request["model"])

    assert (await answer_of(function)).reply == Reply("m", stop="end")
    assert (await answer_of(functools.partial(function))).reply == Reply("m", stop="end")


async def test_a_sync_function_runs_beside_the_event_loop() -> None:
    loop = threading.get_ident()
    assert (await answer_of(lambda _: str(threading.get_ident()))).reply != Reply(str(loop), stop="end")


async def test_a_function_sees_the_request_as_recorded() -> None:
    seen: list[dict[str, Any]] = []

    def function(request: dict[str, Any]) -> str:
        seen.append(request)
        request["messages"].clear()
        return "hi"

    messages: list[Any] = [{"role": "system", "content": "Be good."}, {"role": "user", "content": "go"}]
    tools: list[Any] = [{"type": "function", "function": {"name": "read"}}]
    body: dict[str, Any] = {"model": "m", "messages": messages, "tools": tools, "temperature": 0.5, "stream": True}
    request = Request("openai", "chat.completions", None, body)
    await answer_of(function, request)
    assert seen == [
        {
            "provider": "openai",
            "api": "chat.completions",
            "model": "m",
            "system": "Be good.",
            "tools": tools,
            "messages": [],
            "params": {"temperature": 0.5},
        }
    ]
    assert len(messages) == 2, "what a function does to its copy changes nothing"


async def test_a_function_sees_a_system_prompt_outside_the_messages() -> None:
    body: dict[str, Any] = {"model": "m", "system": "Be good.", "messages": [{"role": "user", "content": "go"}]}
    answer = await answer_of(lambda request: request["system"], Request("anthropic", "messages", None, body))
    assert answer.reply == Reply("Be good.", stop="end")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "NoneType"),
        (3, "int"),
        ([], "list"),
        ({}, "keys"),
        ({"content": "hi"}, "'content'"),
        ({"text": 3}, "text of type int"),
        ({"tool_calls": "pay"}, "tool_calls of type str"),
        ({"tool_calls": ["pay"]}, "without a name"),
        ({"tool_calls": [{"name": 3}]}, "without a name"),
        ({"tool_calls": [{"name": "pay", "arguments": [1]}]}, "arguments of type list"),
    ],
)
async def test_another_shape_is_no_reply_and_says_what_is_wanted(value: object, said: str) -> None:
    answer = await answer_of(lambda _: value)
    assert answer.reply is None
    assert answer.error is not None
    assert said in answer.error
    assert "return a string or" in answer.error


class Broken(Exception):
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(("error", "said"), [(KeyError("sum"), "KeyError: 'sum'"), (Broken(), "raised Broken")])
async def test_a_function_that_raises_is_named_with_what_it_raised(error: Exception, said: str) -> None:
    def pay_bills(_: dict[str, Any]) -> str:
        raise error

    with pytest.raises(ModelFailed, match="pay_bills") as failure:
        await answer_of(pay_bills)
    assert said in str(failure.value)
    assert failure.value.__cause__ is None


MODEL = "def model(request):\n    return {text!r}\n"


def resolved(spec: object) -> FunctionModel:
    model = resolve(chat(), model=spec)  # type: ignore[arg-type]
    assert isinstance(model, FunctionModel)
    return model


async def test_a_file_and_a_module_name_a_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "beside_it.py").write_text("WORD = 'hi'\n", encoding="utf-8")
    (tmp_path / "my_model.py").write_text(
        "from beside_it import WORD\ndef model(request): return WORD\n", encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for spec in (f"{tmp_path}/my_model.py:model", "my_model.py:model", "my_model:model"):
        [answer] = await resolved(spec).sample(chat(), 1)
        assert answer.reply == Reply("hi", stop="end")


@pytest.mark.parametrize(
    ("source", "spec", "said"),
    [
        ("", "gpt-4o", "names no function: write module:function"),
        ("", ":model", "names no function"),
        ("", "m.py:", "names no function"),
        ("", "nowhere.py:model", "no file 'nowhere.py'"),
        ("", "no_such_module_anywhere:model", "ModuleNotFoundError"),
        ("", "{file}:model", "has no function 'model'"),
        ("def modle(r): ...", "{file}:model", "did you mean 'modle'"),
        ("model = 3", "{file}:model", "is of type int, not a function"),
        ("raise OSError('no key')", "{file}:model", "could not be loaded: OSError: no key"),
        ("import sys; sys.exit(3)", "{file}:model", "could not be loaded: SystemExit: 3"),
        ("def (", "{file}:model", "could not be loaded: SyntaxError"),
    ],
)
def test_a_spec_that_cannot_be_loaded_says_why(tmp_path: Path, source: str, spec: str, said: str) -> None:
    file = tmp_path / "m.py"
    file.write_text(source, encoding="utf-8")
    with pytest.raises(BadModel) as refusal:
        resolve(chat(), model=spec.format(file=file))
    assert said in str(refusal.value)
    assert "Traceback" not in str(refusal.value)


def test_a_model_is_taken_as_it_is_and_none_is_the_recorded_api(monkeypatch: pytest.MonkeyPatch) -> None:
    model = ScriptedModel(["hi"])
    assert resolve(chat(), model=model) is model
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    asked = resolve(chat())
    assert isinstance(asked, HttpModel)
    assert asked.identity == "chat.completions https://api.openai.com/v1"
    with pytest.raises(BadModel, match="model= is of type int"):
        resolve(chat(), model=3)  # type: ignore[arg-type]


def test_editing_a_function_makes_it_another_model(tmp_path: Path) -> None:
    file = tmp_path / "m.py"
    identities: list[str] = []
    for text in ("a", "a", "b"):
        file.write_text(MODEL.format(text=text), encoding="utf-8")
        identities.append(resolved(f"{file}:model").identity)
    assert identities[0] == identities[1] != identities[2]


class Assistant:
    def __call__(self, _: dict[str, Any]) -> str:
        return "object"

    def method(self, _: dict[str, Any]) -> str:
        return "method"


async def test_callable_objects_and_methods_are_functions_too() -> None:
    for function, name in ((Assistant(), "Assistant"), (Assistant().method, "Assistant.method")):
        model = FunctionModel(function)
        assert model.name == name
        assert (await model.sample(chat(), 1))[0].reply is not None


async def _cancels_a_task_of_its_own(request: dict[str, Any]) -> str:
    task = asyncio.ensure_future(asyncio.sleep(60))
    task.cancel()
    await task
    return "never"


def _exits(request: dict[str, Any]) -> str:
    sys.exit(3)


class _Odd(BaseException):
    pass


def _raises_no_exception(request: dict[str, Any]) -> str:
    raise _Odd("odd")


@pytest.mark.parametrize("function", [_cancels_a_task_of_its_own, _exits, _raises_no_exception])
async def test_whatever_a_function_lets_escape_is_one_answer_less_and_never_the_end_of_the_process(function) -> None:
    with pytest.raises(Unanswered, match=function.__name__):
        await FunctionModel(function).sample(chat(), 1)


async def test_a_cancellation_of_the_rerun_itself_passes() -> None:
    async def waits(request: dict[str, Any]) -> str:
        started.set()
        await anyio.sleep(60)
        return "never"

    started = anyio.Event()
    finished = []
    async with anyio.create_task_group() as group:

        async def ask() -> None:
            finished.append(await FunctionModel(waits).sample(chat(), 1))

        group.start_soon(ask)
        await started.wait()
        group.cancel_scope.cancel()
    assert finished == []


async def test_a_function_that_does_not_return_in_time_is_one_answer_less() -> None:
    never = threading.Event()

    def hangs(_: dict[str, Any]) -> str:
        never.wait()
        return "late"

    with pytest.raises(Unanswered, match=r"'.*hangs' did not return within 0.05 s"):
        await FunctionModel(hangs, deadline=0.05).sample(chat(), 1)
    never.set()


async def test_an_answer_on_its_way_when_the_rerun_is_cancelled_is_kept() -> None:
    def slow(_: dict[str, Any]) -> str:
        from_thread.run_sync(started.set, token=token)
        go_on.wait()
        return "paid for"

    started, go_on, token = anyio.Event(), threading.Event(), current_token()
    finished: list[object] = []
    async with anyio.create_task_group() as group:

        async def ask() -> None:
            finished.extend(await FunctionModel(slow).sample(chat(), 1))

        group.start_soon(ask)
        await started.wait()
        group.cancel_scope.cancel()
        go_on.set()
    assert len(finished) == 1
