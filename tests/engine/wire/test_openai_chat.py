from __future__ import annotations

import json
from typing import Any

import pytest
from wire_bodies import PNG

from runtape.wire.dialect import Assembled, UnreadableReply
from runtape.wire.openai_chat import OpenAIChat
from runtape.wire.values import Reply, ToolCall, Usage

chat = OpenAIChat()


def called(id_: Any, name: str, arguments: str = "{}") -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def answer(message: dict[str, Any], reason: str | None = "stop", **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}
    return {"id": "chatcmpl-1", "object": "chat.completion", "model": "gpt-5.2", "choices": [choice], **more}


def streamed(*deltas: Any, reason: str | None = "stop", index: int = 0) -> list[Any]:
    """Chunks of one choice; the last one ends it."""
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "gpt-5.2"}
    chunks = [{**head, "choices": [{"index": index, "delta": delta, "finish_reason": None}]} for delta in deltas]
    return [*chunks, {**head, "choices": [{"index": index, "delta": {}, "finish_reason": reason}]}]


def put_together(*deltas: Any, reason: str = "tool_calls") -> list[tuple[str, str, str | None]]:
    reply = chat.replies(chat.assemble(streamed(*deltas, reason=reason)).body)[0]
    return [(call.name, call.text, call.id) for call in reply.tool_calls]


def entry(**fields: Any) -> dict[str, Any]:
    function = {key: fields.pop(key) for key in ("name", "arguments") if key in fields}
    return {**fields, "function": function} if function else fields


def test_every_text_of_a_conversation_is_a_slot_with_its_kind_and_tool() -> None:
    body: Any = {
        "model": "gpt-5.2",
        "messages": [
            {"role": "developer", "content": "Be careful."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Look:"},
                    {"type": "image_url", "image_url": {"url": PNG}},
                    {"type": "text", "text": "And?"},
                ],
            },
            {
                "role": "assistant",
                "content": "Reading.",
                "tool_calls": [
                    called("c1", "read", '{"id": 1}'),
                    {"id": "c2", "type": "custom", "custom": {"name": "grep", "input": "x.*"}},
                ],
            },
            {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "match"}]},
            {"role": "tool", "tool_call_id": "c1", "content": "mail 1"},
            {"role": "system", "content": "A reminder."},
            {"role": "assistant", "content": None, "refusal": "No."},
            {"role": "assistant", "function_call": {"name": "old", "arguments": "{}"}},
            {"role": "function", "name": "old", "content": "done"},
        ],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "read",
                    "description": "Reads.",
                    "parameters": {
                        "type": "object",
                        "properties": {
                            "description": {"type": "string", "description": "Which mail."},
                            "filter": {"type": "object", "properties": {"by": {"anyOf": [{"description": "Key."}]}}},
                        },
                        "required": ["description"],
                    },
                },
            },
            {"type": "custom", "custom": {"name": "grep", "description": "Greps."}},
        ],
        "functions": [{"name": "old", "description": "Old."}],
    }
    assert [(slot.kind, slot.message, slot.block, slot.text, slot.tool, slot.call_id) for slot in chat.slots(body)] == [
        ("system", 0, 0, "Be careful.", None, None),
        ("user", 1, 0, "Look:", None, None),
        ("user", 1, 1, f"image, image/png, {len(PNG.split(',')[1])} characters of data", None, None),
        ("user", 1, 2, "And?", None, None),
        ("assistant", 2, 0, "Reading.", None, None),
        ("tool_arguments", 2, 1, '{"id": 1}', "read", "c1"),
        ("tool_arguments", 2, 2, "x.*", "grep", "c2"),
        ("tool_result", 3, 0, "match", "grep", "c2"),
        ("tool_result", 4, 0, "mail 1", "read", "c1"),
        ("system", 5, 0, "A reminder.", None, None),
        ("assistant", 6, 0, "No.", None, None),
        ("tool_arguments", 7, 0, "{}", "old", None),
        ("tool_result", 8, 0, "done", "old", None),
        ("tool_definition", -1, 0, "Reads.", "read", None),
        ("tool_definition", -1, 0, "Which mail.", "read", None),
        ("tool_definition", -1, 0, "Key.", "read", None),
        ("tool_definition", -1, 1, "Greps.", "grep", None),
        ("tool_definition", -1, 0, "Old.", "old", None),
    ]
    assert [slot.parameter for slot in chat.slots(body)[-5:]] == [None, "description", "filter.by", None, None]


@pytest.mark.parametrize(
    ("calls", "results", "tools"),
    [
        (["dup", "dup"], ["dup", "dup"], ["first", "second"]),
        (["", ""], ["", ""], ["first", "second"]),
        ([None, None], [None, None], ["first", "second"]),
        (["a", "b"], ["b", "a"], ["second", "first"]),
        (["a", "b"], [None, None], ["first", "second"]),
        (["a", "b"], ["a", "a"], ["first", "first"]),
        (["a", "b"], ["unknown", "b"], [None, "second"]),
    ],
)
def test_results_find_their_tools_by_id_or_else_by_order(
    calls: list[Any], results: list[Any], tools: list[Any]
) -> None:
    names = ["first", "second"]
    turn: Any = [
        {"role": "assistant", "tool_calls": [called(id_, name) for id_, name in zip(calls, names, strict=True)]}
    ]
    turn += [{"role": "tool", "content": "r", **({} if id_ is None else {"tool_call_id": id_})} for id_ in results]
    slots = chat.slots(
        {
            "messages": [
                {"role": "assistant", "tool_calls": [called(id_, "earlier") for id_ in calls]},
                {"role": "tool", "tool_call_id": calls[0], "content": "r"},
                *turn,
            ]
        }
    )
    assert [slot.tool for slot in slots if slot.kind == "tool_result"][1:] == tools


def test_the_first_system_message_is_the_prompt_and_later_ones_stay() -> None:
    body: Any = {
        "messages": [
            {"role": "developer", "content": "Old.", "name": "n"},
            {"role": "user", "content": "x"},
            {"role": "system", "content": "Later."},
        ]
    }
    assert chat.system_text(body) == "Old."
    assert chat.with_system(body, "New.") == {
        "messages": [{"role": "developer", "content": "New.", "name": "n"}, *body["messages"][1:]]
    }


def test_a_prompt_in_parts_becomes_one_part_that_keeps_its_cache_mark() -> None:
    parts = [{"type": "text", "text": "One."}, {"type": "text", "text": "Two.", "cache_control": {"type": "ephemeral"}}]
    body: Any = {"messages": [{"role": "system", "content": parts}]}
    assert chat.system_text(body) == "One.\n\nTwo."
    assert chat.with_system(body, "New.") == {
        "messages": [
            {"role": "system", "content": [{"type": "text", "text": "New.", "cache_control": {"type": "ephemeral"}}]}
        ]
    }


def test_a_prompt_is_put_in_front_where_there_was_none() -> None:
    body: Any = {"model": "m", "messages": [{"role": "user", "content": "x"}]}
    assert chat.system_text(body) is None
    assert chat.with_system(body, "New.") == {
        "model": "m",
        "messages": [{"role": "system", "content": "New."}, {"role": "user", "content": "x"}],
    }


def test_several_answers_are_asked_for_with_n() -> None:
    assert chat.with_samples({"model": "m"}, 8) == {"model": "m", "n": 8}
    assert chat.with_samples({"model": "m", "n": 3}, 1) == {"model": "m", "n": 1}
    assert chat.with_samples({"model": "m"}, 1) == {"model": "m"}


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("stop", "end"),
        ("tool_calls", "tool_calls"),
        ("function_call", "tool_calls"),
        ("length", "length"),
        ("content_filter", "filter"),
        ("model_length", "length"),
        ("SAFETY", "filter"),
        ("guardrail_intervened", "filter"),
        ("error", "unfinished"),
        ("abort", "unfinished"),
        ("insufficient_system_resource", "unfinished"),
        ("STOP", "end"),
        ("eos", "other"),
        (None, "other"),
    ],
)
def test_finish_reasons_in_common_words(reason: str | None, stop: str) -> None:
    reply = chat.replies(answer({"content": "x"}, reason))[0]
    assert (reply.stop, reply.stop_reason) == (stop, reason)


def test_an_answer_taken_by_the_filter_is_a_reply() -> None:
    assert chat.replies(answer({"content": None}, "content_filter")) == [
        Reply(text=None, stop="filter", stop_reason="content_filter", model="gpt-5.2", id="chatcmpl-1")
    ]


def test_every_choice_is_a_reply_with_the_usage_of_the_request() -> None:
    usage = {"prompt_tokens": 30, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 16}}
    body = answer({"content": "a"}, usage=usage)
    body["choices"].append(
        {
            "index": 1,
            "finish_reason": "tool_calls",
            "message": {"role": "assistant", "content": "b", "tool_calls": [called("c", "f", '{"k":1}')]},
        }
    )
    one, two = chat.replies(body)
    assert (one.text, two.text, two.tool_calls) == ("a", "b", (ToolCall("f", '{"k":1}', {"k": 1}, "c"),))
    assert one.usage == two.usage == Usage(input=30, output=4, cached=16)


@pytest.mark.parametrize(
    "body",
    [
        {"choices": []},
        {"choices": None},
        {"choices": {}},
        {"choices": ["x"]},
        {"choices": [{"message": None, "finish_reason": "stop"}]},
        {"choices": [{"finish_reason": "stop"}]},
        answer({"content": 3}),
        answer({"content": {"text": "x"}}),
        answer({"content": None, "tool_calls": {}}),
        answer({"content": None, "tool_calls": ["x"]}),
        answer({"content": None, "tool_calls": [{"id": "a", "type": "function"}]}),
        answer({"content": None, "tool_calls": [{"id": "a", "function": {"name": None}}]}),
        answer({"content": "x"}, error={"message": "half way", "code": 502}),
        {
            "choices": [
                {"message": {"role": "assistant", "content": "x"}, "finish_reason": "error", "error": {"code": 502}}
            ]
        },
    ],
)
def test_a_broken_answer_is_no_reply(body: Any) -> None:
    with pytest.raises(UnreadableReply):
        chat.replies(body)


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ("", None),
        ("   ", None),
        ('{"p": "x', None),
        ("[1,2]", [1, 2]),
        ('"text"', "text"),
        ("null", None),
        ("3", 3),
        ('{"a":1}{"a":2}', None),
        ('{"a":1,"a":2}', {"a": 2}),
        ("[" * 100_000, None),
        ('{"n":18446744073709551616}', {"n": 2**64}),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_arguments_keep_their_text_whatever_they_hold(arguments: str, value: Any, stream: bool) -> None:
    body = answer({"content": None, "tool_calls": [called("c", "f", arguments)]}, "tool_calls")
    if stream:
        first = entry(index=0, id="c", name="f", arguments="")
        rest = [{"tool_calls": [entry(index=0, arguments=piece)]} for piece in (arguments[:3], arguments[3:])]
        body = chat.assemble(streamed({"tool_calls": [first]}, *rest, reason="tool_calls")).body
    assert chat.replies(body)[0].tool_calls == (ToolCall("f", arguments, value, "c"),)


def test_arguments_sent_as_an_object_are_read_as_its_json() -> None:
    body = answer({"content": "", "tool_calls": [{"function": {"name": "f", "arguments": {"k": 1}}}]})
    assert chat.replies(body)[0].tool_calls == (ToolCall("f", '{"k":1}', {"k": 1}, None),)


def test_a_refusal_is_a_reply_with_its_text_streamed_or_not() -> None:
    plain = chat.replies(answer({"content": None, "refusal": "I cannot help."}))[0]
    deltas = [{"role": "assistant", "content": "", "refusal": None}, {"refusal": "I cannot "}, {"refusal": "help."}]
    assert chat.replies(chat.assemble(streamed(*deltas)).body)[0] == plain
    assert (plain.text, plain.refusal, plain.stop, plain.stop_reason) == (None, "I cannot help.", "refusal", "stop")


def test_a_legacy_function_call_is_a_tool_call_streamed_or_not() -> None:
    plain = chat.replies(
        answer({"content": None, "function_call": {"name": "f", "arguments": '{"k":1}'}}, "function_call")
    )[0]
    deltas = [
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": ""}},
        {"function_call": {"arguments": '{"k"'}},
        {"function_call": {"arguments": ":1}"}},
    ]
    assert chat.replies(chat.assemble(streamed(*deltas, reason="function_call")).body)[0] == plain
    assert plain.tool_calls == (ToolCall("f", '{"k":1}', {"k": 1}, None),)


@pytest.mark.parametrize("first", [{}, {"index": 0}])
def test_parallel_calls_without_an_index_stay_apart(first: dict[str, Any]) -> None:
    assert put_together(
        {"tool_calls": [entry(**first, id="a", name="get_a", arguments="")]},
        {"tool_calls": [entry(**first, arguments='{"x":1}')]},
        {"tool_calls": [entry(id="b", name="get_b", arguments="")]},
        {"tool_calls": [entry(arguments='{"y":')]},
        {"tool_calls": [entry(arguments="2}")]},
    ) == [("get_a", '{"x":1}', "a"), ("get_b", '{"y":2}', "b")]


def test_two_entries_of_one_call_in_one_chunk_are_one_call() -> None:
    assert put_together(
        {"tool_calls": [entry(index=0, id="a", name="f"), entry(index=0, arguments='{"k"')]},
        {"tool_calls": [entry(index=0, arguments=":1}")]},
    ) == [("f", '{"k":1}', "a")]


@pytest.mark.parametrize(
    ("entries", "calls"),
    [
        # Parallel calls that all say index 0.
        (
            [
                entry(index=0, id="a", name="f", arguments='{"x":1}'),
                entry(index=0, id="b", name="f", arguments='{"x":2}'),
            ],
            [("f", '{"x":1}', "a"), ("f", '{"x":2}', "b")],
        ),
        (
            [
                entry(index=0, id="", name="f", arguments='{"x":1}'),
                entry(index=0, id="", name="f", arguments='{"x":2}'),
            ],
            [("f", '{"x":1}', None), ("f", '{"x":2}', None)],
        ),
        (
            [entry(index=0, name="f", arguments="{}"), entry(index=0, name="g", arguments="{}")],
            [("f", "{}", None), ("g", "{}", None)],
        ),
        # A head that is repeated with every piece.
        (
            [entry(index=0, id="a", name="f", arguments='{"x"'), entry(index=0, id="a", name="f", arguments=":1}")],
            [("f", '{"x":1}', "a")],
        ),
        (
            [entry(id="a", name="f", arguments='{"x"'), entry(id="a", name="f", arguments=":1}")],
            [("f", '{"x":1}', "a")],
        ),
        (
            [entry(index=0, id="a", name="f", arguments=""), entry(index=0, id="a", name="", arguments='{"x":1}')],
            [("f", '{"x":1}', "a")],
        ),
        # A new id with every piece, and an empty one.
        (
            [entry(index=0, id="a", name="f", arguments='{"x"'), entry(index=0, id="b", name=None, arguments=":1}")],
            [("f", '{"x":1}', "a")],
        ),
        (
            [entry(index=0, id="a", name="f", arguments='{"x"'), entry(index=0, id="", arguments=":1}")],
            [("f", '{"x":1}', "a")],
        ),
        # Name and id apart, name in pieces.
        ([entry(id="a"), entry(name="f"), entry(arguments="{}")], [("f", "{}", "a")]),
        (
            [entry(index=0, id="a", name="get_"), entry(index=0, name="mail"), entry(index=0, arguments="{}")],
            [("get_mail", "{}", "a")],
        ),
        # Pieces in turns, by index and by id.
        (
            [
                entry(index=0, id="a", name="f"),
                entry(index=1, id="b", name="g"),
                entry(index=0, arguments="{}"),
                entry(index=1, arguments="[]"),
            ],
            [("f", "{}", "a"), ("g", "[]", "b")],
        ),
        (
            [
                entry(id="a", name="f"),
                entry(id="b", name="g"),
                entry(id="a", arguments="{}"),
                entry(id="b", arguments="[]"),
            ],
            [("f", "{}", "a"), ("g", "[]", "b")],
        ),
        ([entry(index=1, id="b", name="g"), entry(index=0, id="a", name="f")], [("f", "", "a"), ("g", "", "b")]),
        # Ids that say nothing.
        (
            [entry(index=0, id="", name="f", arguments="{}"), entry(index=1, id="", name="g", arguments="{}")],
            [("f", "{}", None), ("g", "{}", None)],
        ),
        (
            [entry(id="", name="f", arguments="{}"), entry(id="", name="g", arguments="{}")],
            [("f", "{}", None), ("g", "{}", None)],
        ),
        (
            [entry(index=0, id="dup", name="f", arguments="{}"), entry(index=1, id="dup", name="f", arguments="[]")],
            [("f", "{}", "dup"), ("f", "[]", "dup")],
        ),
        (
            [entry(id="dup", name="f", arguments="{}"), entry(id="dup", name="f", arguments="[]")],
            [("f", "{}", "dup"), ("f", "[]", "dup")],
        ),
    ],
)
@pytest.mark.parametrize("together", [False, True])
def test_calls_come_out_whole_from_every_way_servers_cut_them(
    entries: list[Any], calls: list[Any], together: bool
) -> None:
    deltas = [{"tool_calls": entries}] if together else [{"tool_calls": [one]} for one in entries]
    before = json.dumps(entries)
    assert put_together({"content": "First "}, {"content": "text."}, *deltas) == calls
    assert json.dumps(entries) == before


def test_text_before_tool_calls_is_kept() -> None:
    deltas = [
        {"content": "Let me "},
        {"content": "see."},
        {"tool_calls": [entry(index=0, id="a", name="f", arguments="{}")]},
    ]
    reply = chat.replies(chat.assemble(streamed(*deltas, reason="tool_calls")).body)[0]
    assert (reply.text, [call.name for call in reply.tool_calls], reply.stop) == ("Let me see.", ["f"], "tool_calls")


@pytest.mark.parametrize(
    ("last", "usage"),
    [
        ([{"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}], Usage(3, 1, None)),
        (
            [
                {
                    "choices": [{"index": 0, "delta": {}, "finish_reason": None}],
                    "usage": {"prompt_tokens": 3, "completion_tokens": 1},
                }
            ],
            Usage(3, 1, None),
        ),
        ([{"choices": [], "usage": None}], Usage(None, None, None)),
        ([], Usage(None, None, None)),
    ],
)
def test_usage_is_read_wherever_it_comes_and_unknown_is_not_zero(last: list[Any], usage: Usage) -> None:
    assembled = chat.assemble([*streamed({"role": "assistant", "content": "Hi"}), *last, "[DONE]"])
    reply = chat.replies(assembled.body)[0]
    assert (reply.text, reply.stop, reply.usage, assembled.complete) == ("Hi", "end", usage, True)


def test_what_only_some_servers_send_is_kept() -> None:
    call = entry(index=0, id="a", name="f", arguments="{}", extra_content={"google": {"thought_signature": "sig"}})
    chunks = streamed(
        {"reasoning_content": "Thin"},
        {"reasoning_content": "king.", "reasoning_details": [{"text": "a"}]},
        {"reasoning_details": [{"text": "b"}]},
        {"tool_calls": [call]},
    )
    chunks[0]["choices"][0]["logprobs"] = {"content": [{"token": "a"}]}
    chunks[1]["choices"][0]["logprobs"] = {"content": [{"token": "b"}]}
    chunks[0].update(prompt_filter_results=[{"prompt_index": 0}], obfuscation="x8", provider="P")
    body: Any = chat.assemble(chunks).body
    choice = body["choices"][0]
    assert choice["message"]["reasoning_content"] == "Thinking."
    assert choice["message"]["reasoning_details"] == [{"text": "a"}, {"text": "b"}]
    assert choice["message"]["tool_calls"][0]["extra_content"] == {"google": {"thought_signature": "sig"}}
    assert choice["logprobs"] == {"content": [{"token": "a"}, {"token": "b"}]}
    assert (body["prompt_filter_results"], body["provider"], "obfuscation" in body) == (
        [{"prompt_index": 0}],
        "P",
        False,
    )


def test_content_that_turns_from_parts_to_text_is_read_whole() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    body = chat.assemble(streamed({"content": "A"}, {"content": [thinking]}, {"content": "B"}, {"content": "C"})).body
    assert chat.replies(body)[0].text == "ABC"


def test_choices_of_one_stream_do_not_mix() -> None:
    chunks = [*streamed({"content": "a"}, {"content": "b"}), *streamed({"content": "c"}, index=1, reason="length")]
    one, two = chat.replies(chat.assemble(reversed(chunks)).body)
    assert (one.text, one.stop, two.text, two.stop) == ("ba", "end", "c", "length")


def test_a_stream_is_incomplete_until_every_choice_has_ended() -> None:
    first, second = streamed({"content": "a"}), streamed({"content": "b"}, index=1)
    assert chat.assemble([*first, *second]).complete
    assert not chat.assemble([*first, *second[:-1]]).complete
    assert chat.assemble([*first, *second[:-1], "[DONE]"]).complete
    assert chat.assemble([]) == Assembled({"object": "chat.completion", "choices": []}, complete=False)


def test_an_error_in_mid_stream_keeps_what_came_before() -> None:
    error: Any = {"message": "upstream went away", "code": 502}
    assembled = chat.assemble([*streamed({"content": "one "}, {"content": "two"})[:-1], {"error": error}, "[DONE]"])
    assert not assembled.complete
    assert assembled.body["stream_error"] == error
    assert chat.replies(assembled.body)[0].text == "one two"


def test_an_error_in_place_of_a_stream_is_the_body() -> None:
    assembled = chat.assemble([{"error": {"message": "upstream went away"}}, "[DONE]"])
    assert not assembled.complete
    with pytest.raises(UnreadableReply, match="upstream went away"):
        chat.replies(assembled.body)
