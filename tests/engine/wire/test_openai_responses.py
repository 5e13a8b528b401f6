from __future__ import annotations

from typing import Any

import pytest
from wire_bodies import PNG

from runtape.wire.dialect import UnreadableReply
from runtape.wire.openai_responses import OpenAIResponses
from runtape.wire.values import Reply, ToolCall, Usage

responses = OpenAIResponses()

REASONING: Any = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [],
    "encrypted_content": "AAA=",
    "status": None,
    "x_new": {"a": 1},
}
CALL: Any = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "read",
    "arguments": '{"id":1}',
    "status": "completed",
}


def answer(*output: Any, status: str = "completed", **more: Any) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "model": "gpt-5.2",
        "status": status,
        "error": None,
        "output": list(output),
        **more,
    }


def said(*parts: Any, **more: Any) -> dict[str, Any]:
    return {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": list(parts),
        **more,
    }


def text(value: str) -> dict[str, Any]:
    return {"type": "output_text", "text": value, "annotations": []}


def begun(*events: Any) -> list[Any]:
    return [{"type": "response.created", "response": answer(status="in_progress")}, *events]


def test_every_text_of_a_conversation_is_a_slot_with_its_kind_and_tool() -> None:
    body: Any = {
        "model": "gpt-5.2",
        "instructions": "Be careful.",
        "input": [
            {"role": "developer", "content": "Reminder."},
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "Look:"},
                    {"type": "input_image", "image_url": PNG},
                    {"type": "input_file", "file_data": "JVBERi0="},
                    {"type": "input_text", "text": "And?"},
                ],
            },
            REASONING,
            CALL,
            {**CALL, "id": "fc_2", "call_id": "call_2", "name": "search"},
            {
                "type": "function_call_output",
                "call_id": "call_2",
                "output": [
                    {"type": "input_text", "text": "hit 1"},
                    {"type": "input_image", "image_url": PNG},
                    {"type": "input_text", "text": "hit 2"},
                ],
            },
            {"type": "function_call_output", "call_id": "call_1", "output": "mail 1"},
            {"type": "custom_tool_call", "call_id": "call_3", "name": "grep", "input": "x.*"},
            {"type": "custom_tool_call_output", "call_id": "call_3", "output": "match"},
            {"type": "shell_call", "call_id": "call_4", "action": {"commands": ["ls"]}},
            {
                "type": "shell_call_output",
                "call_id": "call_4",
                "output": [{"stdout": "a.txt", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}],
            },
            {
                "type": "mcp_call",
                "id": "mcp_1",
                "server_label": "crm",
                "name": "lookup",
                "arguments": "{}",
                "output": "a customer",
            },
            said(text("Done."), {"type": "refusal", "refusal": "No more."}),
        ],
        "tools": [
            {"type": "function", "name": "read", "description": "Reads."},
            {
                "type": "namespace",
                "name": "crm",
                "description": "Customers.",
                "tools": [{"type": "function", "name": "lookup", "description": "Looks up."}],
            },
            {"type": "web_search"},
        ],
    }
    assert [
        (slot.kind, slot.message, slot.block, slot.text, slot.tool, slot.call_id) for slot in responses.slots(body)
    ] == [
        ("system", -1, 0, "Be careful.", None, None),
        ("system", 0, 0, "Reminder.", None, None),
        ("user", 1, 0, "Look:", None, None),
        ("user", 1, 1, "image, image/png, 96 characters of data", None, None),
        ("user", 1, 2, "file, 8 characters of data", None, None),
        ("user", 1, 3, "And?", None, None),
        ("tool_arguments", 3, 0, '{"id":1}', "read", "call_1"),
        ("tool_arguments", 4, 0, '{"id":1}', "search", "call_2"),
        ("tool_result", 5, 0, "hit 1", "search", "call_2"),
        ("tool_result", 5, 1, "image, image/png, 96 characters of data", "search", "call_2"),
        ("tool_result", 5, 2, "hit 2", "search", "call_2"),
        ("tool_result", 6, 0, "mail 1", "read", "call_1"),
        ("tool_arguments", 7, 0, "x.*", "grep", "call_3"),
        ("tool_result", 8, 0, "match", "grep", "call_3"),
        ("tool_result", 10, 0, "a.txt", "shell", "call_4"),
        ("tool_result", 10, 0, "", "shell", "call_4"),
        ("tool_arguments", 11, 0, "{}", "lookup", "mcp_1"),
        ("tool_result", 11, 1, "a customer", "lookup", "mcp_1"),
        ("assistant", 12, 0, "Done.", None, None),
        ("assistant", 12, 1, "No more.", None, None),
        ("tool_definition", -1, 0, "Reads.", "read", None),
        ("tool_definition", -1, 1, "Customers.", "crm", None),
        ("tool_definition", -1, 1, "Looks up.", "lookup", None),
    ]


def test_input_that_is_one_string_is_the_only_message_and_stays_a_string() -> None:
    body: Any = {"model": "m", "input": "Hello", "previous_response_id": "resp_0"}
    parts = responses.split(body)
    (slot,) = responses.slots(body)
    assert (parts.messages, slot.kind, slot.message, slot.text) == (["Hello"], "user", 0, "Hello")
    assert responses.join(parts) == body
    assert responses.put(body, slot, "Bye") == {**body, "input": "Bye"}


def test_items_are_sent_back_as_they_came() -> None:
    body: Any = {
        "model": "m",
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "input": [REASONING, CALL, {"type": "function_call_output", "call_id": "call_1", "output": "mail"}],
    }
    changed = responses.put(body, responses.slots(body)[-1], "other")
    again, dropped = responses.for_rerun({**changed, "stream": True, "background": False})
    assert again["input"] == [REASONING, CALL, {"type": "function_call_output", "call_id": "call_1", "output": "other"}]
    assert (again["store"], again["include"], dropped) == (
        False,
        ["reasoning.encrypted_content"],
        ("stream", "background"),
    )


def test_the_prompt_is_instructions_or_else_the_first_developer_message() -> None:
    message: Any = {"role": "developer", "content": [{"type": "input_text", "text": "In a message."}]}
    user: Any = {"role": "user", "content": "x"}
    both: Any = {"instructions": "Outside.", "input": [message, user]}
    assert responses.system_text(both) == "Outside."
    assert responses.with_system(both, "New.") == {**both, "instructions": "New."}
    inside: Any = {"instructions": None, "input": [message, user]}
    assert responses.system_text(inside) == "In a message."
    assert responses.with_system(inside, "New.") == {
        "instructions": None,
        "input": [{"role": "developer", "content": [{"type": "input_text", "text": "New."}]}, user],
    }
    none: Any = {"input": "x"}
    assert responses.system_text(none) is None
    assert responses.with_system(none, "New.") == {"input": "x", "instructions": "New."}


def test_a_response_is_one_reply_with_all_its_messages_and_calls() -> None:
    usage = {"input_tokens": 30, "input_tokens_details": {"cached_tokens": 16}, "output_tokens": 4}
    custom = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_2", "name": "grep", "input": "x.*"}
    search = {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {"type": "search", "query": "q"},
    }
    shell = {"type": "shell_call", "id": "sh_1", "call_id": "call_3", "action": {"commands": ["ls"]}}
    remote = {
        "type": "mcp_call",
        "id": "mcp_1",
        "name": "lookup",
        "arguments": "{}",
        "server_label": "crm",
        "output": "x",
    }
    output = [REASONING, search, said(text("One "), text("two ")), CALL, custom, shell, remote, said(text("three."))]
    assert responses.replies(answer(*output, usage=usage)) == [
        Reply(
            text="One two three.",
            tool_calls=(
                ToolCall("read", '{"id":1}', {"id": 1}, "call_1"),
                ToolCall("grep", "x.*", None, "call_2"),
                ToolCall("shell", '{"commands":["ls"]}', {"commands": ["ls"]}, "call_3"),
                ToolCall("lookup", "{}", {}, "mcp_1"),
            ),
            stop="tool_calls",
            stop_reason="completed",
            model="gpt-5.2",
            id="resp_1",
            usage=Usage(30, 4, 16),
        )
    ]


@pytest.mark.parametrize(
    ("body", "stop", "reason"),
    [
        (answer(said(text("x"))), "end", "completed"),
        (answer(CALL), "tool_calls", "completed"),
        (
            answer(status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
            "length",
            "max_output_tokens",
        ),
        (
            answer(CALL, status="incomplete", incomplete_details={"reason": "content_filter"}),
            "filter",
            "content_filter",
        ),
        (answer(said({"type": "refusal", "refusal": "No."})), "refusal", "completed"),
        (answer(status="in_progress"), "unfinished", "in_progress"),
        (answer(status="cancelled"), "unfinished", "cancelled"),
    ],
)
def test_why_a_response_ended_in_common_words(body: Any, stop: str, reason: str) -> None:
    reply = responses.replies(body)[0]
    assert (reply.stop, reply.stop_reason) == (stop, reason)


def test_a_refusal_part_is_the_refusal_and_no_text() -> None:
    reply = responses.replies(answer(said({"type": "refusal", "refusal": "I cannot help."})))[0]
    assert (reply.text, reply.refusal) == (None, "I cannot help.")


@pytest.mark.parametrize(
    "body",
    [
        {"id": "resp_1", "status": "completed"},
        answer() | {"output": None},
        answer() | {"output": "x"},
        answer(status="failed"),
        answer(status="failed") | {"error": {"code": "server_error", "message": "sorry"}},
        answer({"type": "function_call", "call_id": "c", "arguments": "{}"}),
    ],
)
def test_a_broken_answer_is_no_reply(body: Any) -> None:
    with pytest.raises(UnreadableReply):
        responses.replies(body)


def test_the_last_event_s_response_is_the_response() -> None:
    whole = answer(REASONING, CALL, x_new=1)
    early = {"type": "response.output_item.done", "output_index": 0, "item": {"type": "reasoning", "id": "other"}}
    for last in ("completed", "incomplete"):
        assembled = responses.assemble(begun(early, {"type": f"response.{last}", "response": whole}))
        assert (assembled.body, assembled.complete) == (whole, True)


def test_a_last_response_without_output_is_given_the_items_that_came() -> None:
    done = {"type": "response.output_item.done", "output_index": 0, "item": REASONING}
    assembled = responses.assemble(begun(done, {"type": "response.completed", "response": answer()}))
    assert (assembled.body["output"], assembled.complete) == ([REASONING], True)


def test_a_failed_response_is_complete_and_no_reply() -> None:
    failed = answer(said(text("Half")), status="failed") | {"error": {"code": "server_error", "message": "sorry"}}
    assembled = responses.assemble(begun({"type": "response.failed", "response": failed}))
    assert (assembled.body, assembled.complete) == (failed, True)
    with pytest.raises(UnreadableReply, match="sorry"):
        responses.replies(assembled.body)


def test_a_cut_stream_gives_finished_items_whole_and_open_ones_as_far_as_they_came() -> None:
    events = begun(
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {"type": "reasoning", "id": "rs_1", "summary": []},
        },
        {"type": "response.output_item.done", "output_index": 0, "item": REASONING},
        {"type": "response.output_item.added", "output_index": 1, "item": said(status="in_progress")},
        {"type": "response.content_part.added", "output_index": 1, "content_index": 0, "part": text("")},
        {"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "one "},
        {
            "type": "response.output_text.annotation.added",
            "output_index": 1,
            "content_index": 0,
            "annotation_index": 0,
            "annotation": {"type": "url_citation"},
        },
        {"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "two"},
        {
            "type": "response.output_item.added",
            "output_index": 2,
            "item": {**CALL, "arguments": "", "status": "in_progress"},
        },
        {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": '{"id'},
        {
            "type": "response.output_item.added",
            "output_index": 3,
            "item": {"type": "shell_call", "call_id": "call_9", "action": {"commands": []}},
        },
        {"type": "response.shell_call_command.delta", "output_index": 3, "command_index": 0, "delta": "rm "},
        {"type": "response.shell_call_command.delta", "output_index": 3, "command_index": 0, "delta": "-rf"},
    )
    assembled = responses.assemble(events)
    assert not assembled.complete
    assert assembled.body["output"] == [
        REASONING,
        said({**text("one two"), "annotations": [{"type": "url_citation"}]}, status="in_progress"),
        {**CALL, "arguments": '{"id', "status": "in_progress"},
        {"type": "shell_call", "call_id": "call_9", "action": {"commands": ["rm -rf"]}},
    ]
    reply = responses.replies(assembled.body)[0]
    assert (reply.text, reply.stop, reply.usage) == ("one two", "unfinished", Usage())
    assert reply.tool_calls[0] == ToolCall("read", '{"id', None, "call_1")


def test_a_streamed_refusal_that_is_cut_is_a_refusal() -> None:
    events = begun(
        {"type": "response.output_item.added", "output_index": 0, "item": said()},
        {"type": "response.refusal.delta", "output_index": 0, "content_index": 0, "delta": "I cannot "},
        {"type": "response.refusal.delta", "output_index": 0, "content_index": 0, "delta": "help."},
    )
    reply = responses.replies(responses.assemble(events).body)[0]
    assert (reply.text, reply.refusal, reply.stop) == (None, "I cannot help.", "refusal")


def test_events_without_an_index_belong_to_the_item_begun_last() -> None:
    events = begun(
        {"type": "response.output_item.added", "item": REASONING},
        {"type": "response.output_item.done", "item": REASONING},
        {"type": "response.output_item.added", "item": {**CALL, "arguments": ""}},
        {"type": "response.function_call_arguments.delta", "delta": '{"id":'},
        {"type": "response.function_call_arguments.delta", "delta": "1}"},
    )
    assert responses.assemble(events).body["output"] == [REASONING, CALL]


def test_an_error_in_mid_stream_keeps_what_came_before() -> None:
    error = {"type": "error", "code": "server_error", "message": "went away", "param": None, "sequence_number": 3}
    done = {"type": "response.output_item.done", "output_index": 0, "item": said(text("one"))}
    assembled = responses.assemble(begun(done, error))
    assert not assembled.complete
    assert assembled.body["stream_error"] == {"code": "server_error", "message": "went away", "param": None}
    assert responses.replies(assembled.body)[0].text == "one"


@pytest.mark.parametrize(
    "events",
    [
        [{"error": {"message": "went away"}}],
        begun({"type": "error", "code": "x", "message": "went away", "param": None}),
    ],
)
def test_an_error_before_any_output_is_the_answer(events: list[Any]) -> None:
    assembled = responses.assemble(events)
    assert not assembled.complete
    with pytest.raises(UnreadableReply, match="went away"):
        responses.replies(assembled.body)
