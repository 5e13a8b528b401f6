"""Claude Code sessions: the JSON Lines that it keeps per project, and what `--output-format stream-json` prints.

Seen in files of Claude Code 2.0.14 to 2.0.29. One reply of the model is spread over lines with one `message.id`, one
line per content block; what a reply was asked with are the lines above it, by `parentUuid`, up to the root or to the
point where the conversation was compacted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ...wire.bodies import objects
from ...wire.reading import members, text_or_none
from ...wire.values import Json, JsonObject
from ..claude_lines import Line, Session, sorted_lines
from ..each_file import each_file
from ..imported import ImportedCall, ImportedEvent, ImportedRun, ImportedTool, Skipped
from ..json_stream import Record
from ..lost import lost_in
from ..registry import Format
from ..source import Sample

_MISSING = ("system", "tools", "params")
_CUT_OFF = "earlier messages"
_SYNTHETIC = "<synthetic>"


def recognise(sample: Sample) -> str | None:
    """Why the values look like this format; None when they do not."""
    for value in sample.values:
        line = members(value)
        if "sessionId" in line and "uuid" in line and line.get("type") in ("user", "assistant", "system"):
            return "`sessionId` and `uuid` on lines of type user and assistant"
        if "session_id" in line and (line.get("type"), line.get("subtype")) == ("system", "init"):
            return "a first line of type system, subtype init, as stream-json begins"
        if "session_id" in line and line.get("type") in ("user", "assistant") and "message" in line:
            return "`session_id` and `message` on lines of type user and assistant, as in stream-json"
    return None


def runs(records: Iterator[Record], name: str) -> Iterator[ImportedRun | Skipped]:
    """One run per session, and one per sub-agent in it."""
    threads: dict[tuple[str, str], list[Line]] = {}
    session = Session()
    for record in records:
        line = session.line(record)
        if isinstance(line, Skipped):
            yield line
        else:
            threads.setdefault((line.session, line.thread), []).append(line)
    lines_of = session.by_uuid
    for (session_id, thread), lines in threads.items():
        conversation = _Conversation(sorted_lines(lines), lines_of, session.models.get(session_id))
        found = list(conversation.events())
        yield from conversation.skipped
        if not found:
            yield Skipped(f"session {session_id}", "a session without a reply of the model")
            continue
        label = name if len(threads) == 1 else f"{name} {session_id[:8]}"
        yield ImportedRun(
            f"{label} sub-agent {thread}" if thread else label,
            found,
            next((line.at for line in lines if line.at is not None), None),
            {"session": session_id, **({"sub_agent": thread} if thread else {}), **session.facts.get(session_id, {})},
        )


@dataclass(slots=True)
class _Reply:
    """All lines of one reply."""

    id: str
    lines: list[Line]

    @property
    def blocks(self) -> list[Json]:
        return [block for line in self.lines for block in line.blocks]

    def message(self) -> JsonObject:
        return {"role": "assistant", "content": self.blocks}


@dataclass(slots=True)
class _Conversation:
    lines: list[Line]
    by_uuid: dict[str, Line]
    model: str | None
    skipped: list[Skipped] = field(default_factory=list[Skipped])
    _replies: dict[str, _Reply] = field(default_factory=dict[str, _Reply])
    _results: dict[str, list[Line]] = field(default_factory=dict[str, list[Line]])
    """Lines with the result of a tool call, by its id."""

    def events(self) -> Iterator[ImportedEvent]:
        for line in self.lines:
            if line.kind == "assistant" and not self._is_made_up(line):
                self._replies.setdefault(line.reply_id, _Reply(line.reply_id, [])).lines.append(line)
            for block in line.blocks:
                if members(block).get("type") == "tool_result":
                    self._results.setdefault(str(members(block).get("tool_use_id")), []).append(line)
        told: set[str] = set()
        for line in self.lines:
            if line.kind == "assistant" and not self._is_made_up(line) and line.reply_id not in told:
                told.add(line.reply_id)
                reply = self._replies[line.reply_id]
                yield self._call(reply)
            elif line.kind == "user":
                yield from self._tools(line)

    def _is_made_up(self, line: Line) -> bool:
        made_up = line.value.get("isApiErrorMessage") is True or line.message.get("model") == _SYNTHETIC
        if made_up and not any(skip.place == line.place for skip in self.skipped):
            self.skipped.append(Skipped(line.place, "an error text of Claude Code's own, no reply of the model"))
        return made_up

    def _call(self, reply: _Reply) -> ImportedCall:
        before, whole = self._before(reply)
        missing = [*_MISSING, *([] if whole else [_CUT_OFF])]
        if any(line.kind == "attachment" for line in before):
            missing.append("attachments")
        messages = self._messages(before)
        if whole and (not messages or messages[0].get("role") == "assistant"):
            missing.append(_CUT_OFF)
        missing += [name for name in lost_in([*messages]) if name not in missing]
        first, last = reply.lines[0], reply.lines[-1]
        model = text_or_none(first.message.get("model")) or self.model
        answered = {key: value for key, value in last.message.items() if key != "content"}
        body: JsonObject = {} if model is None else {"model": model}
        return ImportedCall(
            place=first.place if first is last else f"{first.place} to {last.place}",
            api="messages",
            provider="anthropic",
            endpoint=None,
            body={**body, "messages": [*messages]},
            reply={**answered, "type": "message", "role": "assistant", "content": reply.blocks},
            fidelity="partial",
            missing=tuple(missing),
            why="put together from the session's lines",
            started=first.at,
        )

    def _before(self, reply: _Reply) -> tuple[list[Line], bool]:
        """The lines that a reply was asked with, oldest first; and whether they go back to a beginning."""
        own = {line.uuid for line in reply.lines}
        path: list[Line] = []
        seen: set[str] = set()
        at = self._above(reply.lines[0])
        while at is not None and at.uuid not in seen:
            seen.add(at.uuid)
            if at.uuid not in own:
                path.append(at)
            if at.starts_over:
                break
            parent = self._above(at)
            if parent is None and at.parent is not None:
                return path[::-1], False
            at = parent
        cut = not path and reply.lines[0].parent is not None
        return path[::-1], not cut

    def _above(self, line: Line) -> Line | None:
        if line.parent is not None:
            return self.by_uuid.get(line.parent)
        return self._line_before(line) if line.chained else None

    def _line_before(self, line: Line) -> Line | None:
        position = next((index for index, one in enumerate(self.lines) if one is line), 0)
        return self.lines[position - 1] if position else None

    def _messages(self, path: list[Line]) -> list[JsonObject]:
        """The messages of a request: replies whole, and the results of all their calls behind them."""
        messages: list[JsonObject] = []
        used: set[str] = set()
        for line in path:
            if line.kind == "assistant" and line.reply_id in self._replies:
                if line.reply_id in used:
                    continue
                used.add(line.reply_id)
                messages.append(self._replies[line.reply_id].message())
                _add_user(messages, self._answers(self._replies[line.reply_id]))
            elif line.kind == "user" and line.said:
                rest = [block for block in line.blocks if members(block).get("type") != "tool_result"]
                strays = [block for block in line.blocks if block not in rest and not self._known(block)]
                if isinstance(line.message.get("content"), str):
                    _add_user(messages, line.message["content"])
                else:
                    _add_user(messages, [*strays, *rest])
        return messages

    def _known(self, block: Json) -> bool:
        asked = members(block).get("tool_use_id")
        return any(_uses(reply.blocks, asked) for reply in self._replies.values())

    def _answers(self, reply: _Reply) -> list[Json]:
        asked = [members(block).get("id") for block in reply.blocks if members(block).get("type") == "tool_use"]
        return [
            block
            for id_ in dict.fromkeys(str(one) for one in asked)
            for line in self._results.get(id_, [])[:1]
            for block in line.blocks
            if str(members(block).get("tool_use_id")) == id_
        ]

    def _tools(self, line: Line) -> Iterator[ImportedTool]:
        for block in line.blocks:
            result = members(block)
            if result.get("type") != "tool_result":
                continue
            id_ = text_or_none(result.get("tool_use_id"))
            use = next((use for reply in self._replies.values() if (use := _uses(reply.blocks, id_))), _NONE)
            content = result.get("content")
            failed = result.get("is_error") is True
            yield ImportedTool(
                place=line.place,
                name=text_or_none(use.get("name")) or "unknown",
                arguments=use.get("input"),
                result=content,
                error={"type": "tool error", "message": _text(content)} if failed else None,
                call_id=id_,
                started=line.at,
            )


def _uses(blocks: list[Json], id_: Json) -> JsonObject:
    """The tool use of an id among the blocks."""
    return next((use for _, use in objects(blocks) if use.get("type") == "tool_use" and use.get("id") == id_), _NONE)


def _text(content: Json) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(text for _, part in objects(content) if isinstance(text := part.get("text"), str))


def _add_user(messages: list[JsonObject], content: Json) -> None:
    """One more user turn; turns of the user in a row are sent as one message."""
    if not content:
        return
    last = messages[-1] if messages else {}
    if last.get("role") != "user":
        messages.append({"role": "user", "content": content})
        return
    messages[-1] = {"role": "user", "content": [*_as_blocks(last["content"]), *_as_blocks(content)]}


def _as_blocks(content: Json) -> list[Json]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else []


_NONE: Final[JsonObject] = {}

FORMAT: Final = Format(
    "claude-code", "Claude Code sessions", "lines with `sessionId` and `uuid`", recognise, each_file(runs)
)
