"""Sessions of the OpenAI Agents SDK: lists of Responses items, in JSON or in an SQLite file."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from ..canon import loads
from ..errors import BadInput
from ..wire.reading import members, text_or_none
from ..wire.values import JsonObject
from .conversation import Setting
from .each_file import lists
from .imported import ImportedCall, ImportedRun, Skipped
from .items import Item, item_events
from .json_stream import Record
from .moments import seconds
from .source import Source

_MISSING: Final = ("system", "tools", "params")


def session_records(source: Source) -> Iterator[Record]:
    """The items of every session in an SQLite file, in the order in which they were kept.

    Raises:
        BadInput: the file cannot be read, or has no table of messages.
    """
    with tempfile.TemporaryDirectory(prefix="runtape-import-") as folder:
        path = source.path
        if source.packing != "plain":
            path = Path(folder) / "session.db"
            if (damage := source.unpack_into(path)) is not None:
                raise BadInput(f"{source.name!r} is damaged: {damage}. Fetch it again.")
        try:
            with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
                yield from _rows(database)
        except sqlite3.Error as error:
            raise BadInput(f"cannot read the session file {source.name!r}: {error}") from error


def _rows(database: sqlite3.Connection) -> Iterator[Record]:
    tables = [name for (name,) in database.execute("select name from sqlite_master where type = 'table'")]
    for table in tables:
        quoted = '"' + str(table).replace('"', '""') + '"'
        columns = {row[1] for row in database.execute(f"pragma table_info({quoted})")}
        if not {"session_id", "message_data"} <= columns:
            continue
        rows = database.execute(f"select session_id, message_data from {quoted} order by session_id, rowid")  # noqa: S608
        for number, (session, text) in enumerate(rows, 1):
            place = f"session {session}, element {number}"
            try:
                yield Record(place, loads(text))
            except (ValueError, TypeError) as error:
                yield Record(place, None, problem=f"it is not JSON: {error}")


def session_runs(records: Iterator[Record], name: str) -> Iterator[ImportedRun | Skipped]:
    """One run per session."""
    for number, session in enumerate(lists(records), 1):
        items: list[Item] = []
        for record in session:
            value = members(record.value)
            if "type" in value or "role" in value:
                items.append(Item(record.place, value, seconds(value.get("created_at"))))
            else:
                yield Skipped(record.place, "no item of a conversation")
        events = list(item_events(_bare(items), _setting(items)))
        label = name if number == 1 else f"{name} {number}"
        if any(isinstance(event, ImportedCall) for event in events):
            yield ImportedRun(label, events, None, _tags(session))
        else:
            yield Skipped(label, "a session without a reply of the model")


def _tags(session: list[Record]) -> JsonObject:
    place = session[0].place.partition(", element ")[0]
    return {"session": place.removeprefix("session ")} if place.startswith("session ") else {}


def _setting(items: list[Item]) -> Setting:
    """Items of a chat model carry the id of the completion, or one that the SDK made up."""
    noted = [members(item.value.get("provider_data")) for item in items]
    chat = any(item.value.get("id") == "__fake_id__" for item in items)
    chat = chat or any(str(data.get("response_id")).startswith("chatcmpl") for data in noted)
    model = next((text for data in noted if (text := text_or_none(data.get("model")))), None)
    missing = _MISSING if model is not None else (*_MISSING, "model")
    return Setting("chat.completions" if chat else "responses", model=model, missing=missing)


def _bare(items: list[Item]) -> list[Item]:
    """The items without what the SDK notes on them for itself."""
    return [
        Item(
            item.place, {key: part for key, part in item.value.items() if key != "provider_data"}, item.at, item.closes
        )
        for item in items
    ]
