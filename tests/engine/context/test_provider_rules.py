"""Whatever is removed, the provider still takes the request."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from provider_rules import RULES

from runtape.context.apply import apply, remove
from runtape.context.build import build
from runtape.context.edits import ReorderTools
from runtape.errors import BadInput, EditChangesNothing
from runtape.wire.values import Request

every_api = pytest.mark.parametrize("api", list(RULES))
law = settings(deadline=None, max_examples=60)

words = st.sampled_from(
    [
        "Delete vol-77 now. It is full.",
        "Удалите том. Он полон.",
        "请删除卷。它满了。",
        '{"id": "vol-01", "note": "Delete this. Then stop.", "tags": [1, "x"]}',
        "- id: vol-01\n- id: vol-77",
        "<p>Hi there.</p><!-- Delete it. -->",
        "ok",
    ]
)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=5,
)
arguments = st.dictionaries(st.sampled_from(["path", "query", "force"]), values, max_size=3)
names = st.sampled_from(["read_file", "delete_volume"])
parameters = st.fixed_dictionaries(
    {
        "type": st.just("object"),
        "properties": st.just(
            {"path": {"type": "string", "description": "Where it is. Ask first."}, "force": {"type": "boolean"}}
        ),
        "required": st.just(["path"]),
    }
)
IMAGE = "data:image/png;base64,AA=="


@st.composite
def chat(draw: st.DrawFn) -> dict[str, Any]:
    talk: list[Any] = [{"role": "system", "content": draw(words)}]
    for turn in range(draw(st.integers(1, 3))):
        parts: list[Any] = [{"type": "text", "text": draw(words)}, {"type": "image_url", "image_url": {"url": IMAGE}}]
        talk.append({"role": "user", "content": draw(words | st.just(parts))})
        for step in range(draw(st.integers(0, 2))):
            calls = [
                {"id": f"c{turn}.{step}.{n}", "type": "function", "function": {"name": draw(names), "arguments": a}}
                for n, a in enumerate(draw(st.lists(arguments.map(json.dumps), min_size=1, max_size=2)))
            ]
            thought = draw(st.sampled_from([{}, {"reasoning_content": "Let me see. I read."}]))
            talk.append({"role": "assistant", "content": draw(st.none() | words), "tool_calls": calls, **thought})
            talk += [{"role": "tool", "tool_call_id": call["id"], "content": draw(words)} for call in calls]
        talk.append({"role": "assistant", "content": draw(words)})
    tools = [
        {"type": "function", "function": {"name": name, "description": draw(words), "parameters": draw(parameters)}}
        for name in draw(st.permutations(["read_file", "delete_volume", "list"]))
    ]
    return {"model": "m", "messages": talk, "tools": tools}


@st.composite
def responses(draw: st.DrawFn) -> dict[str, Any]:
    items: list[Any] = []
    for turn in range(draw(st.integers(1, 3))):
        parts = [{"type": "input_text", "text": draw(words)}, {"type": "input_image", "image_url": IMAGE}]
        items.append({"role": "user", "content": draw(words | st.just(parts))})
        for step in range(draw(st.integers(0, 2))):
            items.append({"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "AAA="})
            call = {"type": "function_call", "call_id": f"c{turn}.{step}", "name": draw(names)}
            items.append({**call, "arguments": json.dumps(draw(arguments))})
            items.append({"type": "function_call_output", "call_id": call["call_id"], "output": draw(words)})
        said = {"type": "output_text", "text": draw(words), "annotations": []}
        items.append({"type": "message", "role": "assistant", "content": [said]})
    tools = [
        {"type": "function", "name": name, "description": draw(words), "parameters": draw(parameters)}
        for name in ("read_file", "delete_volume")
    ]
    return {"model": "m", "instructions": draw(words), "input": items, "tools": tools}


@st.composite
def messages(draw: st.DrawFn) -> dict[str, Any]:
    talk: list[Any] = []
    results: list[Any] = []
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}
    paper = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": draw(words)}}
    for turn in range(draw(st.integers(1, 3))):
        asked = [{"type": "text", "text": draw(words)}, *draw(st.lists(st.sampled_from([image, paper]), max_size=2))]
        talk.append({"role": "user", "content": asked})
        for step in range(draw(st.integers(0, 2))):
            uses = [
                {"type": "tool_use", "id": f"c{turn}.{step}.{n}", "name": draw(names), "input": given}
                for n, given in enumerate(draw(st.lists(arguments, min_size=1, max_size=2)))
            ]
            thought = draw(words)
            thinking = [{"type": "thinking", "thinking": thought, "signature": f"signed:{thought}"}]
            talk.append({"role": "assistant", "content": [*draw(st.sampled_from([[], thinking])), *uses]})
            results = [
                {
                    "type": "tool_result",
                    "tool_use_id": use["id"],
                    "content": draw(words | st.just([{"type": "text", "text": draw(words)}, image])),
                }
                for use in uses
            ]
            talk.append({"role": "user", "content": results})
        talk.append({"role": "assistant", "content": [{"type": "text", "text": draw(words)}]})
    talk.append({"role": "user", "content": draw(words)})
    tools = [
        {"name": name, "description": draw(words), "input_schema": draw(parameters)}
        for name in ("read_file", "delete_volume")
    ]
    return {"model": "m", "max_tokens": 9, "system": draw(words), "messages": talk, "tools": tools}


BODY = {"chat.completions": chat(), "responses": responses(), "messages": messages()}


def shape(body: Any, api: str) -> list[Any]:
    """What no removal may change: who speaks, which calls are asked for and answered, which tools there are."""
    talk = body["input" if api == "responses" else "messages"]
    keys = ("role", "type", "id", "call_id", "tool_call_id", "tool_use_id", "name")
    found: list[Any] = [{key: item.get(key) for key in keys} for item in talk]
    for item in talk:
        content = item.get("content")
        blocks = [*(content if isinstance(content, list) else []), *(item.get("tool_calls") or [])]
        found += [{key: block[key] for key in keys if key in block} for block in blocks if "id" in block]
    names = [tool.get("function", tool)["name"] for tool in body["tools"]]
    return [*found, sorted(names)]


@every_api
@law
@given(data=st.data())
def test_every_variant_of_every_request_is_one_that_the_provider_takes(api: str, data: Any) -> None:
    body = data.draw(BODY[api])
    RULES[api](body)
    context = build(Request("any", api, None, body), ())
    leaves = data.draw(st.frozensets(st.integers(0, len(context.leaves) - 1), min_size=1))
    orders = [len(context.leaves) + k for k in range(len(context.tool_order.others))]
    order = data.draw(st.sampled_from([[], *([at] for at in orders)]))
    for gone in (leaves | frozenset(order), frozenset(range(len(context.leaves)))):
        changed = remove(context, gone).body
        RULES[api](changed)
        assert shape(changed, api) == shape(body, api)
        assert changed != body, "an edit that changes nothing is no edit"


@every_api
@law
@given(data=st.data())
def test_every_leaf_changes_the_request_in_its_own_place_only(api: str, data: Any) -> None:
    body = data.draw(BODY[api])
    context = build(Request("any", api, None, body), ())
    at = data.draw(st.integers(0, len(context.leaves) - 1))
    slot = context.slots[context.pieces[context.leaves[at]].slot]
    there: Any = remove(context, frozenset([at])).body
    before: Any = body
    for step in slot.path[:-1]:
        others = [key for key in before if key != step] if isinstance(before, dict) else range(len(before))
        assert all(there[key] == before[key] for key in others if key != step)
        there, before = there[step], before[step]


def offered_in(body: Any) -> Any:
    return body["tools"]


def test_the_tools_are_offered_in_another_order_and_nothing_else_changes() -> None:
    tools = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in "abcd"]
    body: Any = {"messages": [{"role": "user", "content": "Go on."}], "tools": tools}
    context = build(Request("any", "chat.completions", None, body), ())
    others = [remove(context, frozenset([len(context.leaves) + k])).body for k in range(3)]
    offered = ["".join(tool["function"]["name"] for tool in offered_in(other)) for other in others]
    assert offered == ["dcba", "cdab", "bdac"]
    assert context.tool_order.names == ("a", "b", "c", "d")
    assert apply(context, frozenset([ReorderTools((3, 2, 1, 0))])).body == {**body, "tools": tools[::-1]}


@pytest.mark.parametrize("tools", [None, [], [{"name": "a"}], [{"name": "a"}, {"name": "a"}], "odd"])
def test_tools_that_have_no_other_order_have_none(tools: Any) -> None:
    body = {"messages": [{"role": "user", "content": "Go on."}], "tools": tools}
    assert build(Request("any", "messages", None, body), ()).tool_order.others == ()


def test_an_order_that_is_none_or_the_recorded_one_is_refused() -> None:
    body: Any = {"messages": [{"role": "user", "content": "Go on."}], "tools": [{"name": "a"}, {"name": "b"}]}
    context = build(Request("any", "messages", None, body), ())
    with pytest.raises(BadInput, match="each of the 2 tools once"):
        apply(context, frozenset([ReorderTools((0, 0))]))
    with pytest.raises(EditChangesNothing, match="already stand in this order"):
        apply(context, frozenset([ReorderTools((0, 1))]))
