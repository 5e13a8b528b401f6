"""The lines of a Claude Code session."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from ..wire.bodies import listed
from ..wire.reading import id_of, members
from ..wire.values import Json, JsonObject
from .imported import Skipped
from .json_stream import Record
from .moments import seconds

_SAID: Final = ("user", "assistant")
_IN_CHAIN: Final = ("attachment", "progress", "system")
"""Types of line that others name as their parent."""
_FACTS: Final = ("version", "cwd", "gitBranch")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a session, with the fields that both spellings have."""

    place: str
    number: int
    """Position in the file, from 0."""
    value: JsonObject
    uuid: str
    parent: str | None
    chained: bool
    """True where lines follow one another without naming their parent, as in stream-json."""
    session: str
    thread: str
    """Of which sub-agent it is; empty for the main conversation."""
    at: float | None

    @property
    def kind(self) -> str:
        """`user`, `assistant`, or another type that stands between them."""
        return str(self.value.get("type"))

    @property
    def message(self) -> JsonObject:
        """What was said, as the API spells it."""
        return members(self.value.get("message"))

    @property
    def blocks(self) -> list[Json]:
        """The content blocks; a text is one."""
        content = self.message.get("content")
        if isinstance(content, str):
            return [{"type": "text", "text": content}] if content else []
        return listed(content)

    @property
    def reply_id(self) -> str:
        """What the lines of one reply share; a line without it is a reply of its own."""
        return id_of(self.message.get("id")) or f"line:{self.uuid}"

    @property
    def said(self) -> bool:
        """False for what is shown to the person only."""
        return self.value.get("isVisibleInTranscriptOnly") is not True or self.starts_over

    @property
    def starts_over(self) -> bool:
        """True where the model saw a summary in place of everything above."""
        return self.value.get("isCompactSummary") is True or self.value.get("subtype") == "compact_boundary"


@dataclass(slots=True)
class Session:
    """What the lines read so far tell."""

    by_uuid: dict[str, Line] = field(default_factory=dict[str, Line])
    models: dict[str, str] = field(default_factory=dict[str, str])
    """Per session, where its heading names the model."""
    facts: dict[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    _number: int = 0

    def line(self, record: Record) -> Line | Skipped:
        """The line of a record, or why it is none of a conversation."""
        self._number += 1
        value = members(record.value)
        kind = str(value.get("type"))
        session = id_of(value.get("sessionId")) or id_of(value.get("session_id")) or ""
        if kind == "system" and value.get("subtype") == "init":
            if isinstance(model := value.get("model"), str):
                self.models[session] = model
            return Skipped(record.place, "the heading of the session", notable=False)
        if not (kind in _SAID and isinstance(value.get("message"), dict)) and not (
            kind in _IN_CHAIN and "uuid" in value
        ):
            return Skipped(record.place, f"a line of type {kind!r}, no part of a conversation", notable=False)
        uuid = id_of(value.get("uuid")) or f"#{self._number}"
        if uuid in self.by_uuid:
            return Skipped(record.place, "a second line with the same uuid")
        found = self.facts.setdefault(session, {})
        found.update((key, value[key]) for key in _FACTS if key in value and key not in found)
        line = Line(
            place=record.place,
            number=self._number,
            value=value,
            uuid=uuid,
            parent=id_of(value.get("parentUuid")),
            chained="parentUuid" not in value,
            session=session,
            thread=self._thread(value),
            at=seconds(value.get("timestamp")),
        )
        self.by_uuid[uuid] = line
        return line

    def _thread(self, value: JsonObject) -> str:
        if agent := id_of(value.get("agentId")) or id_of(value.get("parent_tool_use_id")):
            return agent
        if value.get("isSidechain") is not True:
            return ""
        above = self.by_uuid.get(str(value.get("parentUuid")))
        return above.thread if above is not None and above.thread else str(value.get("uuid"))[:8]


def sorted_lines(lines: list[Line]) -> list[Line]:
    """In the order of time, parents first, then of the file."""
    depth: dict[str, int] = {}
    known = {line.uuid: line for line in lines}

    def deep(line: Line) -> int:
        path: list[str] = []
        at: Line | None = line
        while at is not None and at.uuid not in depth and at.uuid not in path:
            path.append(at.uuid)
            at = known.get(at.parent or "")
        below = depth.get(at.uuid, 0) if at is not None else 0
        for step, uuid in enumerate(reversed(path), 1):
            depth[uuid] = below + step
        return depth[line.uuid]

    return sorted(lines, key=lambda line: (line.at if line.at is not None else 0.0, deep(line), line.number))
