"""Message content, which every API spells as one string or as a list of parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .bodies import listed, objects
from .reading import members
from .values import Json, JsonObject, Path, Slot, SlotForm, SlotKind

TEXT_KEY = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
"""Part types that hold text, and the key that it stands under."""

KIND_OF_ROLE: dict[str, SlotKind] = {
    "system": "system",
    "developer": "system",
    "assistant": "assistant",
    "tool": "tool_result",
    "function": "tool_result",
}
"""Roles whose text is not the user's."""

_MEDIA = {
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "document": "document",
    "file": "file",
    "input_file": "file",
    "container_upload": "file",
    "input_audio": "sound",
}
"""Parts without words of their own, and what they are."""

_SHOWN = 60
"""Characters of an address or a name that tell which image or file a part is."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where some content stands, and what its texts are."""

    path: Path
    kind: SlotKind
    message: int
    tool: str | None = None
    call_id: str | None = None

    def at(self, *steps: str | int) -> Place:
        """The place below this one."""
        return Place((*self.path, *steps), self.kind, self.message, self.tool, self.call_id)

    def slot(self, block: int, text: str, form: SlotForm = "text") -> Slot:
        """The text that stands here."""
        return Slot(self.path, self.kind, self.message, block, text, self.tool, self.call_id, form)


def kind_of(message: JsonObject) -> SlotKind:
    """Whose text a message holds."""
    role = message.get("role")
    return KIND_OF_ROLE.get(role, "user") if isinstance(role, str) else "user"


def texts(content: Json, place: Place, block: int | None = None) -> Iterator[Slot]:
    """The texts of a string or of a list of parts; `block` is the block they all belong to, if it is one block."""
    if isinstance(content, str):
        yield place.slot(block or 0, content)
        return
    for index, part in objects(content):
        own = index if block is None else block
        type_ = part.get("type")
        key = TEXT_KEY.get(type_) if isinstance(type_, str) else None
        text = None if key is None else part.get(key)
        if key is not None and isinstance(text, str):
            yield place.at(index, key).slot(own, text)
        elif type_ == "search_result":
            yield from texts(part.get("content"), place.at(index, "content"), own)
        elif isinstance(type_, str) and type_ in _MEDIA:
            yield from media(part, type_, place.at(index), own)


def media(part: JsonObject, type_: str, place: Place, block: int) -> Iterator[Slot]:
    """The words of a document that brings them as text; of any other file, image or sound the part as a whole."""
    source = members(part.get("source"))
    match source.get("type"), source.get("data"), source.get("content"):
        case "text", str() as data, _:
            yield place.at("source", "data").slot(block, data)
        case "content", _, content if blocks(content):
            yield from texts(content, place.at("source", "content"), block)
        case _:
            yield place.slot(block, _label(part, type_, source), "block")


def _label(part: JsonObject, type_: str, source: JsonObject) -> str:
    """What a part without words is, such as `image, image/png, 1,204 characters of data`."""
    told = [_MEDIA[type_]]
    inside = [part, source, *(members(part.get(key)) for key in ("image_url", "file", "input_audio"))]
    for holder in inside:
        for key in (
            "title",
            "filename",
            "media_type",
            "format",
            "file_id",
            "url",
            "image_url",
            "file_url",
            "file_data",
            "data",
        ):
            value = holder.get(key)
            if not isinstance(value, str) or not value:
                continue
            head, comma, data = value.partition(",")
            if comma and head.startswith("data:"):
                told += [head[len("data:") :].partition(";")[0], f"{len(data):,} characters of data"]
            elif key in {"data", "file_data"}:
                told.append(f"{len(value):,} characters of data")
            else:
                told.append(value if len(value) <= _SHOWN else f"{value[:_SHOWN]}…")
    return ", ".join(dict.fromkeys(told))


def blocks(content: Json) -> int:
    """How many blocks some content takes up."""
    return 1 if isinstance(content, str) else len(listed(content))


def joined(content: Json, separator: str = "") -> str | None:
    """All text of some content as one; None when there is none."""
    found = [slot.text for slot in texts(content, Place((), "user", -1)) if slot.form == "text"]
    return separator.join(found) if found else None


def with_text(content: Json, text: str) -> Json:
    """Content of the same form that says just `text`; a list becomes one part, which keeps a prompt-cache mark."""
    parts = [part for _, part in objects(content)]
    if not isinstance(content, list):
        return text
    first = next((part for part in parts if isinstance(part.get("text"), str)), None)
    part: JsonObject = {"type": "text", "text": text} if first is None else {**first, "text": text}
    marks = [mark for mark in (part.get("cache_control") for part in parts) if mark is not None]
    if marks:
        part["cache_control"] = marks[-1]
    return [part]


PARAGRAPH = "\n\n"
"""Stands between the blocks of a system prompt where they are read as one text."""


def system_message(messages: Json) -> tuple[int, JsonObject] | None:
    """The first message of role system or developer, with its index: the prompt. Any later one is a message."""
    return next(((index, message) for index, message in objects(messages) if kind_of(message) == "system"), None)


def with_system_message(messages: Json, text: str) -> list[Json]:
    """The messages with `text` as the first system message; put in front when there is none."""
    found = system_message(messages)
    if found is None:
        return [{"role": "system", "content": text}, *listed(messages)]
    index, message = found
    changed: JsonObject = {**message, "content": with_text(message.get("content"), text)}
    return [*listed(messages)[:index], changed, *listed(messages)[index + 1 :]]
