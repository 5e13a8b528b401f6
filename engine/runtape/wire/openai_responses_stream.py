"""Events of a streamed Responses call, put together."""

from __future__ import annotations

from collections.abc import Iterable

from .bodies import listed
from .dialect import Assembled
from .reading import members
from .values import Json, JsonObject

_LAST = ("response.completed", "response.incomplete", "response.failed")
"""Events that hold the whole response and end the stream."""

_SAYS = {
    "output_text": ("content", "content_index", "text"),
    "refusal": ("content", "content_index", "refusal"),
    "reasoning_text": ("content", "content_index", "text"),
    "reasoning_summary_text": ("summary", "summary_index", "text"),
    "function_call_arguments": ("arguments",),
    "mcp_call_arguments": ("arguments",),
    "custom_tool_call_input": ("input",),
    "code_interpreter_call_code": ("code",),
    "shell_call_command": ("action", "commands", "command_index"),
}
"""What a `response.<stem>.delta` lengthens, as a path into its output item; a step `x_index` is read from the event."""

_PART_TYPE = {"reasoning_summary_text": "summary_text"}
"""Type of the part that holds the text, where it differs from the stem."""

_FINAL = {"function_call_arguments": "arguments", "mcp_call_arguments": "arguments", "custom_tool_call_input": "input"}
"""Key of the whole text in a `response.<stem>.done`, where it is not named as the last step of the path."""


def assemble(events: Iterable[Json]) -> Assembled:
    """The response that `events` add up to: the one in the last event, else what the items came to.

    An error in mid-stream is kept as `stream_error`; one that comes before any output is the body's `error`.
    """
    state = _State()
    for event in events:
        if isinstance(event, dict):
            state.add(event)
    return state.assembled()


class _State:
    """What came so far."""

    def __init__(self) -> None:
        self.response: JsonObject = {"object": "response"}
        self.items: dict[int, JsonObject] = {}
        self.error: Json = None
        self.last = False

    def add(self, event: JsonObject) -> None:
        type_ = event.get("type")
        response = event.get("response")
        if isinstance(response, dict):
            if not self.last:
                self.response = response
            self.last = self.last or type_ in _LAST
        elif type_ == "error" or (event.get("error") and type_ is None):
            told = event.get("error") or {key: event[key] for key in ("code", "message", "param") if key in event}
            self.error = told
        elif type_ in ("response.output_item.added", "response.output_item.done"):
            item = event.get("item")
            if isinstance(item, dict):
                self.items[self._index(event)] = item
        elif isinstance(type_, str) and type_.startswith("response.") and self._index(event) in self.items:
            _, _, rest = type_.partition(".")
            self._detail(rest, event)

    def _index(self, event: JsonObject) -> int:
        index = event.get("output_index")
        if isinstance(index, int):
            return index
        # Some gateways leave the index out: then events belong to the item that was begun last.
        begins = event.get("type") == "response.output_item.added"
        return len(self.items) if begins else max(self.items, default=0)

    def _detail(self, name: str, event: JsonObject) -> None:
        index = self._index(event)
        stem, _, phase = name.rpartition(".")
        item = self.items[index]
        if stem in _SAYS and phase in ("delta", "done"):
            path = tuple(_step(step, event) for step in _SAYS[stem])
            key = "delta" if phase == "delta" else _FINAL.get(stem, str(_SAYS[stem][-1]).removesuffix("_index"))
            text = event.get(key)
            if isinstance(text, str):
                part: JsonObject = {"type": _PART_TYPE.get(stem, stem)}
                self.items[index] = members(_said(item, path, text, part, longer=phase == "delta"))
        elif stem in ("content_part", "reasoning_summary_part") and phase in ("added", "done"):
            key = "content" if stem == "content_part" else "summary"
            at = _step(f"{key}_index", event)
            self.items[index] = {**item, key: _with(listed(item.get(key)), at, event.get("part"))}
        elif name == "output_text.annotation.added":
            parts = listed(item.get("content"))
            at = _step("content_index", event)
            if isinstance(at, int) and at < len(parts):
                part = members(parts[at])
                part = {**part, "annotations": [*listed(part.get("annotations")), event.get("annotation")]}
                self.items[index] = {**item, "content": _with(parts, at, part)}

    def assembled(self) -> Assembled:
        body = dict(self.response)
        output: list[Json] = [self.items[index] for index in sorted(self.items)]
        # Some gateways send a last response without the output that they have streamed.
        if not body.get("output"):
            body["output"] = output
        if self.error is not None and not self.last:
            body["stream_error" if output else "error"] = self.error
        return Assembled(body, complete=self.last)


def _step(step: str, event: JsonObject) -> str | int:
    if not step.endswith("_index"):
        return step
    index = event.get(step)
    return index if isinstance(index, int) and not isinstance(index, bool) else 0


def _said(value: Json, path: tuple[str | int, ...], text: str, part: JsonObject, *, longer: bool) -> Json:
    """`value` with `text` at `path`, behind what stands there or in its place; a missing list item starts as `part`."""
    if not path:
        return value + text if longer and isinstance(value, str) else text
    step, rest = path[0], path[1:]
    if isinstance(step, str):
        inner = members(value)
        return {**inner, step: _said(inner.get(step), rest, text, part, longer=longer)}
    items = listed(value)
    present = items[step] if step < len(items) else (part if rest else None)
    return _with(items, step, _said(present, rest, text, part, longer=longer))


def _with(items: list[Json], index: str | int, item: Json) -> list[Json]:
    """`items` with `item` at `index`, or at the end when there are fewer."""
    at = index if isinstance(index, int) and 0 <= index < len(items) else len(items)
    return [*items[:at], item, *items[at + 1 :]]
