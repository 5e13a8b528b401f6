"""The dialect of an API, of a URL path, and of replies logged by hand."""

from __future__ import annotations

from collections.abc import Iterable

from .anthropic_messages import AnthropicMessages
from .dialect import Dialect
from .openai_chat import OpenAIChat
from .openai_completions import OpenAICompletions
from .openai_responses import OpenAIResponses
from .reading import call_of, id_of, members, stop_of
from .values import Json, Reply, ToolCall

_CHAT = OpenAIChat()
_DIALECTS: tuple[Dialect, ...] = (_CHAT, OpenAIResponses(), AnthropicMessages(), OpenAICompletions())
"""In the order in which a path is tried: every call to chat completions ends like one to completions."""
_BY_API = {dialect.api: dialect for dialect in _DIALECTS}


def dialect_for(api: str) -> Dialect:
    """The dialect of an API by the name that traces use; an unknown one is read in the shape of chat completions."""
    return _BY_API.get(api, _CHAT)


def dialect_of_path(path: str) -> Dialect | None:
    """The dialect of a call to a URL path, with or without its query; None when the path is no model call's."""
    bare = path.partition("?")[0].partition("#")[0].rstrip("/")
    return next((dialect for dialect in _DIALECTS if bare.endswith(dialect.path)), None)


def logged_reply(text: str | None, tool_calls: Iterable[Json], stop_reason: str | None) -> Reply:
    """The reply that a program described itself; `tool_calls` are objects of `id`, `name` and `arguments`.

    Arguments that are text are taken as the text that the model sent.

    Raises:
        UnreadableReply: a tool call has no name.
    """
    return Reply(
        text=text,
        tool_calls=tuple(_logged_call(call) for call in tool_calls),
        stop=stop_of(stop_reason),
        stop_reason=stop_reason,
    )


def _logged_call(call: Json) -> ToolCall:
    described = members(call)
    return call_of(described.get("name"), described.get("arguments", {}), id_of(described.get("id")))
