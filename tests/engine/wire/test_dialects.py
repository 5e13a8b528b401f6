from __future__ import annotations

from typing import Any

import pytest
from wire_bodies import API

from runtape.wire.dialect import UnreadableReply
from runtape.wire.dialects import dialect_for, dialect_of_path, logged_reply
from runtape.wire.values import Parts, Reply, ToolCall


@pytest.mark.parametrize(
    ("path", "api"),
    [
        ("/v1/chat/completions", "chat.completions"),
        ("/chat/completions", "chat.completions"),
        ("/openai/deployments/gpt-5/chat/completions?api-version=2026-06-01", "chat.completions"),
        ("/v1/responses", "responses"),
        ("/v1/responses/", "responses"),
        ("/v1/completions", "completions"),
        ("/openai/deployments/d/completions?api-version=1", "completions"),
        ("/v1/messages?beta=true", "messages"),
        ("/anthropic/v1/messages", "messages"),
    ],
)
def test_a_model_call_is_known_by_its_path(path: str, api: str) -> None:
    dialect = dialect_of_path(path)
    assert dialect is not None
    assert dialect.api == api


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/v1/models",
        "/v1/embeddings",
        "/v1/completions/cmpl_1",
        "/v1/responses/resp_1",
        "/v1/responses/resp_1/input_items",
        "/v1/messages/count_tokens",
        "/v1/messages/batches",
        "/v1/threads/thread_1/messages",
        "/v1/chat/completions/chatcmpl_1/messages",
        "/api/channels/7/messages",
    ],
)
def test_other_paths_are_no_model_calls(path: str) -> None:
    assert dialect_of_path(path) is None


@pytest.mark.parametrize("api", API)
def test_every_api_has_a_dialect_of_its_own(api: str) -> None:
    assert dialect_for(api).api == api


def test_an_unknown_api_is_read_as_chat_completions() -> None:
    assert dialect_for("converse").api == "chat.completions"


def test_a_system_prompt_logged_by_hand_becomes_the_first_chat_message() -> None:
    parts = Parts("m", "Be brief.", [{"role": "user", "content": "Hi"}], None, {"temperature": 0})
    body = dialect_for("chat.completions").join(parts)
    assert body == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}],
        "temperature": 0,
    }


def test_a_reply_logged_by_hand_is_a_reply() -> None:
    calls: list[Any] = [
        {"id": "c1", "name": "pay", "arguments": {"to": "X"}},
        {"name": "raw", "arguments": '{"p": "x'},
        {"id": None, "name": "none"},
    ]
    assert logged_reply("ok", calls, "tool-calls") == Reply(
        text="ok",
        tool_calls=(
            ToolCall("pay", '{"to":"X"}', {"to": "X"}, "c1"),
            ToolCall("raw", '{"p": "x', None, None),
            ToolCall("none", "{}", {}, None),
        ),
        stop="tool_calls",
        stop_reason="tool-calls",
    )


def test_a_logged_reply_without_a_reason_does_not_invent_one() -> None:
    assert logged_reply(None, (), None) == Reply(text=None, stop="other", stop_reason=None)


def test_a_logged_call_without_a_name_is_refused() -> None:
    with pytest.raises(UnreadableReply, match="name"):
        logged_reply(None, [{"id": "c1"}], None)
