from __future__ import annotations

from typing import Any

import pytest

from runtape.wire.anthropic_messages import AnthropicMessages
from runtape.wire.dialect import Assembled, UnreadableReply
from runtape.wire.values import Reply, ToolCall, Usage

messages = AnthropicMessages()

MARK: Any = {"cache_control": {"type": "ephemeral"}}
THOUGHTS: Any = [
    {"type": "thinking", "thinking": "A", "signature": "EqQBCkYI+sig1"},
    {"type": "redacted_thinking", "data": "EmwKAhgB"},
    {"type": "thinking", "thinking": "B", "signature": "EqQBCkYI+sig2"},
]
USE: Any = {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"id": 1}}
SEARCH: Any = [
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}},
    {
        "type": "web_search_tool_result",
        "tool_use_id": "srvtoolu_1",
        "content": [{"type": "web_search_result", "url": "u", "encrypted_content": "EqgB"}],
    },
]


def text(value: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": value, **more}


def answer(*content: Any, stop_reason: str | None = "end_turn", **more: Any) -> dict[str, Any]:
    body: Any = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5",
        "content": list(content),
    }
    return {**body, "stop_reason": stop_reason, "stop_sequence": None, **more}


def streamed(*blocks: tuple[Any, list[Any]], stop_reason: str = "end_turn") -> list[Any]:
    """Events of blocks, each given as it starts and by its deltas."""
    events: list[Any] = [
        {"type": "message_start", "message": answer(stop_reason=None, usage={"input_tokens": 5, "output_tokens": 1})}
    ]
    for index, (start, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    end = {
        "type": "message_delta",
        "delta": {"stop_reason": stop_reason, "stop_sequence": None},
        "usage": {"output_tokens": 9},
    }
    return [*events, end, {"type": "message_stop"}]


def spelled(*pieces: str) -> list[Any]:
    return [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]


BODY: dict[str, Any] = {
    "model": "claude-opus-5",
    "max_tokens": 1024,
    "system": [text("Be careful."), text("Always.", **MARK)],
    "messages": [
        {"role": "user", "content": "Hello"},
        {
            "role": "user",
            "content": [
                text("Look:", x_new=1),
                {"type": "image", "source": {"type": "url", "url": "u"}},
                {
                    "type": "document",
                    "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="},
                    "title": "T",
                },
                {"type": "search_result", "source": "s", "title": "t", "content": [text("found")]},
            ],
        },
        {
            "role": "assistant",
            "content": [*THOUGHTS, text("Reading."), *SEARCH, USE, {**USE, "id": "toolu_2", "name": "search"}],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_2",
                    "content": [
                        text("hit 1", **MARK),
                        {"type": "image", "source": {"type": "url", "url": "u"}},
                        text("hit 2"),
                    ],
                    "is_error": False,
                },
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "mail 1"},
                {"type": "tool_result", "tool_use_id": "toolu_9"},
                text("Go on."),
            ],
        },
        {"role": "system", "content": "A reminder."},
    ],
    "tools": [
        {"name": "read", "description": "Reads.", "input_schema": {"type": "object"}, **MARK},
        {"type": "web_search_20260209", "name": "web_search"},
    ],
    "thinking": {"type": "adaptive"},
    "x_param": {"deep": [1]},
}


def test_every_text_of_a_conversation_is_a_slot_with_its_kind_and_tool() -> None:
    assert [
        (slot.kind, slot.message, slot.block, slot.text, slot.tool, slot.call_id) for slot in messages.slots(BODY)
    ] == [
        ("system", -1, 0, "Be careful.", None, None),
        ("system", -1, 1, "Always.", None, None),
        ("user", 0, 0, "Hello", None, None),
        ("user", 1, 0, "Look:", None, None),
        ("user", 1, 1, "image, u", None, None),
        ("user", 1, 2, "document, T, application/pdf, 8 characters of data", None, None),
        ("user", 1, 3, "found", None, None),
        ("assistant", 2, 3, "Reading.", None, None),
        ("tool_arguments", 2, 6, '{"id":1}', "read", "toolu_1"),
        ("tool_arguments", 2, 7, '{"id":1}', "search", "toolu_2"),
        ("tool_result", 3, 0, "hit 1", "search", "toolu_2"),
        ("tool_result", 3, 0, "image, u", "search", "toolu_2"),
        ("tool_result", 3, 0, "hit 2", "search", "toolu_2"),
        ("tool_result", 3, 1, "mail 1", "read", "toolu_1"),
        ("user", 3, 3, "Go on.", None, None),
        ("system", 4, 0, "A reminder.", None, None),
        ("tool_definition", -1, 0, "Reads.", "read", None),
    ]


def test_thinking_cache_marks_server_tools_and_unknown_keys_survive_an_edit() -> None:
    slot = next(slot for slot in messages.slots(BODY) if slot.text == "hit 1")
    again, dropped = messages.for_rerun({**messages.put(BODY, slot, "other"), "stream": True})
    assert dropped == ("stream",)
    expected = {**BODY, "messages": [dict(message) for message in BODY["messages"]]}
    result, *others = BODY["messages"][3]["content"]
    expected["messages"][3]["content"] = [
        {**result, "content": [text("other", **MARK), *result["content"][1:]]},
        *others,
    ]
    assert again == expected


def test_results_that_share_an_id_belong_to_its_calls_in_order() -> None:
    uses: Any = [{**USE, "id": "dup", "name": name} for name in ("first", "second")]
    results: Any = [{"type": "tool_result", "tool_use_id": "dup", "content": name} for name in ("one", "two")]
    slots = messages.slots({"messages": [{"role": "assistant", "content": uses}, {"role": "user", "content": results}]})
    answers = [(slot.text, slot.tool) for slot in slots if slot.kind == "tool_result"]
    assert answers == [("one", "first"), ("two", "second")]


def test_thinking_can_go_from_turns_that_are_over_and_not_from_the_one_that_goes_on() -> None:
    thought: Any = THOUGHTS[0]
    result: Any = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "mail"}
    talk: list[Any] = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": [thought, USE]},
        {"role": "user", "content": [result]},
    ]

    def thoughts(*turns: Any) -> list[int]:
        return [slot.message for slot in messages.slots({"messages": list(turns)}) if slot.form == "reasoning"]

    assert thoughts(*talk) == []
    assert thoughts(*talk, {"role": "assistant", "content": [thought]}, {"role": "user", "content": "More."}) == [1]
    assert thoughts(*talk[:2], {"role": "user", "content": [result, text("And faster.")]}) == []


def test_documents_of_words_are_read_as_words() -> None:
    plain: Any = {"type": "text", "media_type": "text/plain", "data": "Pay at once."}
    blocks: Any = {"type": "content", "content": [text("Page one."), {"type": "image", "source": {}}]}
    content = [{"type": "document", "source": source} for source in (plain, blocks)]
    slots = messages.slots({"messages": [{"role": "user", "content": content}]})
    assert [(slot.text, slot.form) for slot in slots] == [
        ("Pay at once.", "text"),
        ("Page one.", "text"),
        ("image", "block"),
    ]


@pytest.mark.parametrize(
    ("system", "read", "written"),
    [
        ("Old.", "Old.", "New."),
        ([text("One."), text("Two.", **MARK)], "One.\n\nTwo.", [text("New.", **MARK)]),
        ([], None, [text("New.")]),
        (None, None, "New."),
    ],
)
def test_the_system_prompt_keeps_its_form(system: Any, read: str | None, written: Any) -> None:
    body: Any = {"system": system, "messages": []}
    assert messages.system_text(body) == read
    assert messages.with_system(body, "New.") == {"system": written, "messages": []}
    assert messages.with_system({"messages": []}, "New.") == {"system": "New.", "messages": []}


def test_a_message_is_one_reply_and_server_tools_are_no_calls() -> None:
    usage = {"input_tokens": 10, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 300, "output_tokens": 4}
    body = answer(*THOUGHTS, text("One "), *SEARCH, text("two."), USE, stop_reason="tool_use", usage=usage)
    assert messages.replies(body) == [
        Reply(
            text="One two.",
            tool_calls=(ToolCall("read", '{"id":1}', {"id": 1}, "toolu_1"),),
            stop="tool_calls",
            stop_reason="tool_use",
            model="claude-opus-5",
            id="msg_1",
            usage=Usage(input=330, output=4, cached=300),
        )
    ]


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("end_turn", "end"),
        ("stop_sequence", "end"),
        ("tool_use", "tool_calls"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "refusal"),
        ("pause_turn", "unfinished"),
        ("a new one", "other"),
        (None, "other"),
    ],
)
def test_stop_reasons_in_common_words(reason: str | None, stop: str) -> None:
    reply = messages.replies(answer(text("x"), stop_reason=reason))[0]
    assert (reply.stop, reply.stop_reason) == (stop, reason)


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        (
            answer(
                stop_reason="refusal", stop_details={"type": "refusal", "category": "cyber", "explanation": "Not this."}
            ),
            "Not this.",
        ),
        (answer(text("I cannot help."), stop_reason="refusal", stop_details=None), "I cannot help."),
        (answer(stop_reason="refusal"), "refusal"),
        (answer(text("Sure.")), None),
    ],
)
def test_a_refusal_is_a_reply_with_a_text(body: Any, refusal: str | None) -> None:
    assert messages.replies(body)[0].refusal == refusal


def test_an_empty_message_is_a_reply_without_text() -> None:
    reply = messages.replies(answer())[0]
    assert (reply.text, reply.tool_calls, reply.usage) == (None, (), Usage())


@pytest.mark.parametrize(
    "body",
    [
        answer() | {"content": None},
        answer() | {"content": "x"},
        {"id": "msg_1"},
        answer({"type": "tool_use", "id": "t", "input": {}}),
    ],
)
def test_a_broken_answer_is_no_reply(body: Any) -> None:
    with pytest.raises(UnreadableReply):
        messages.replies(body)


def test_thinking_blocks_come_out_of_a_stream_byte_by_byte_and_in_order() -> None:
    assembled = messages.assemble(
        streamed(
            (
                {"type": "thinking", "thinking": "", "signature": ""},
                [
                    {"type": "thinking_delta", "thinking": "A"},
                    {"type": "signature_delta", "signature": "EqQBCkYI+sig1"},
                ],
            ),
            ({"type": "redacted_thinking", "data": "EmwKAhgB"}, []),
            (
                {"type": "thinking", "thinking": "", "signature": ""},
                [
                    {"type": "thinking_delta", "thinking": "B"},
                    {"type": "signature_delta", "signature": "EqQBCkYI+sig2"},
                ],
            ),
            ({**USE, "input": {}}, spelled("", '{"id"', ": 1}")),
            stop_reason="tool_use",
        )
    )
    assert assembled == Assembled(
        answer(*THOUGHTS, USE, stop_reason="tool_use", usage={"input_tokens": 5, "output_tokens": 9}), complete=True
    )


@pytest.mark.parametrize(
    ("pieces", "call"),
    [
        ([], ToolCall("read", "{}", {}, "toolu_1")),
        (["", ""], ToolCall("read", "{}", {}, "toolu_1")),
        (['{"p": "x'], ToolCall("read", '{"p": "x', None, "toolu_1")),
        (["[1,", "2]"], ToolCall("read", "[1,2]", [1, 2], "toolu_1")),
        (['"text"'], ToolCall("read", '"text"', "text", "toolu_1")),
        (['{"n": 18446744073709551616}'], ToolCall("read", '{"n":18446744073709551616}', {"n": 2**64}, "toolu_1")),
    ],
)
def test_streamed_input_is_an_object_or_the_text_that_came(pieces: list[str], call: ToolCall) -> None:
    events = streamed(({**USE, "input": {}}, spelled(*pieces)), stop_reason="tool_use")
    assert messages.replies(messages.assemble(events).body)[0].tool_calls == (call,)


def test_input_that_comes_whole_with_the_block_is_kept() -> None:
    assert messages.assemble(streamed((USE, []))).body["content"] == [USE]


def test_later_usage_replaces_earlier_and_null_says_nothing() -> None:
    events = streamed((text(""), [{"type": "text_delta", "text": "Hi"}]))
    events[0]["message"]["usage"] = {"input_tokens": 5, "cache_read_input_tokens": 7, "output_tokens": 1}
    events[-2]["usage"] = {"input_tokens": None, "cache_read_input_tokens": 8, "output_tokens": 9}
    assert messages.replies(messages.assemble(events).body)[0].usage == Usage(input=13, output=9, cached=8)


def test_blocks_and_deltas_of_a_later_api_are_kept() -> None:
    events = streamed(
        (
            {"type": "compaction", "content": None},
            [{"type": "compaction_delta", "content": "Summary.", "encrypted_content": "AB=="}],
        )
    )
    events[-2].update(context_management={"applied_edits": []})
    events[-2]["delta"]["container"] = {"id": "c"}
    body = messages.assemble(events).body
    assert body["content"] == [{"type": "compaction", "content": "Summary.", "encrypted_content": "AB=="}]
    assert (body["context_management"], body["container"]) == ({"applied_edits": []}, {"id": "c"})


def test_an_error_in_mid_stream_keeps_what_came_before() -> None:
    error: Any = {"type": "overloaded_error", "message": "Overloaded"}
    events = streamed((text(""), [{"type": "text_delta", "text": "one"}]))[:-3]
    assembled = messages.assemble([*events, {"type": "error", "error": error}])
    assert not assembled.complete
    assert assembled.body["stream_error"] == error
    reply = messages.replies(assembled.body)[0]
    assert (reply.text, reply.stop) == ("one", "other")


def test_an_error_in_place_of_a_stream_is_the_body() -> None:
    assembled = messages.assemble([{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}])
    assert not assembled.complete
    with pytest.raises(UnreadableReply, match="Overloaded"):
        messages.replies(assembled.body)
