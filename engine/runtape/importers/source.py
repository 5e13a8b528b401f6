"""Files, folders, standard input, gzip and zip as streams of bytes with a name and a head."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Collection, Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, Final, cast

from ..errors import BadInput
from ..wire.values import Json
from .imported import Skipped
from .json_cut import Record
from .json_stream import records
from .streams import Packing, Stream, Watch, opened_stream

HEAD: Final = 1 << 16
"""Bytes that a format is recognised by."""
LONGER: Final = (1 << 20, 1 << 23)
"""Bytes that it is looked for in where the first ones do not tell: a long text may stand before what would."""
_BOM: Final = b"\xef\xbb\xbf"
_MEMBERS: Final = 200_000
"""Files of one archive."""


@dataclass(frozen=True)
class Sample:
    """What a format may look at to recognise a file as its own."""

    name: str
    """The file's name; of a member of an archive `archive.zip!folder/member.json`."""
    head: bytes
    """The first bytes, uncompressed, without a byte-order mark."""

    @cached_property
    def values(self) -> list[Json]:
        """The first values of the file, or of the list that it is; the last one as far as it is in the head."""
        found: list[Json] = []
        stream = cast("BinaryIO", _Bytes(self.head))
        for record in records(stream):
            if record.value is not None:
                found.append(record.value)
            if len(found) == _SAMPLED:
                break
        return found

    @property
    def objects(self) -> list[dict[str, Json]]:
        """Those of the first values that are objects."""
        return [value for value in self.values if isinstance(value, dict)]

    @property
    def is_list(self) -> bool:
        """True when the file is one JSON list."""
        return self.head.lstrip()[:1] == b"["


_SAMPLED: Final = 50
DAMAGED: Final = "the packed file is damaged from here on"


class _Bytes:
    """The head, as a stream."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def read(self, _size: int) -> bytes:
        data, self._data = self._data, b""
        return data


@dataclass(frozen=True, eq=False)
class Source:
    """One file, compressed or not, or one member of an archive."""

    name: str
    """For a person: the path as given, `archive.zip!member.json`, or `standard input`."""
    path: Path
    """The file on the disk."""
    packing: Packing = "plain"
    member: str | None = None
    """The member of a zip archive."""
    size: int | None = None
    """Bytes uncompressed; None where only reading tells."""
    watch: Watch = field(default=lambda _read: None, repr=False)
    """Told of every number of bytes that was read."""

    @contextmanager
    def open(self) -> Generator[BinaryIO]:
        """The bytes, uncompressed; those of a damaged archive as far as they can be unpacked.

        Raises:
            BadInput: they cannot be read, or become too many when they are unpacked.
        """
        with self._stream() as stream:
            yield cast("BinaryIO", stream)

    @contextmanager
    def _stream(self) -> Generator[Stream]:
        with opened_stream(self.path, self.name, self.packing, self.member, self.watch) as stream:
            yield stream

    @cached_property
    def sample(self) -> Sample:
        """What a format may look at.

        Raises:
            BadInput: as `open`.
        """
        return self._head(HEAD)

    def samples(self) -> Iterator[Sample]:
        """What a format may look at, then more of it as long as there is more.

        Raises:
            BadInput: as `open`.
        """
        yield self.sample
        seen = HEAD
        for size in LONGER:
            if len(self.sample.head) < HEAD - len(_BOM):
                return
            head = self._head(size)
            if len(head.head) > seen:
                yield head
            seen = len(head.head)

    def _head(self, size: int) -> Sample:
        with self.open() as stream:
            return Sample(self.name, stream.read(size).removeprefix(_BOM))

    def records(self, opened: Collection[str] = ()) -> Iterator[Record]:
        """The JSON values of the file; see `json_stream.records`. Damage to an archive is told of behind them.

        Raises:
            BadInput: as `open`.
        """
        with self._stream() as stream:
            yield from records(cast("BinaryIO", stream), opened)
            if stream.damage is not None:
                yield Record("the end of what can be unpacked", None, problem=f"{DAMAGED}: {stream.damage}")

    def text(self, most: int = 1 << 27) -> str:
        """The whole file as text, for formats that are not JSON.

        Raises:
            BadInput: as `open`, or it is longer than `most` bytes.
        """
        with self._stream() as stream:
            parts: list[bytes] = []
            size = 0
            while data := stream.read(1 << 20):
                parts.append(data)
                size += len(data)
                if size > most:
                    raise BadInput(f"{self.name!r} is longer than {most >> 20} MB, too long for this format")
            if stream.damage is not None:
                raise BadInput(f"{self.name!r} is damaged: {stream.damage}. Fetch it again.")
            return b"".join(parts).decode("utf-8-sig", "replace")

    def unpack_into(self, path: Path) -> str | None:
        """Write the bytes into a file; what is damaged of them, if anything is.

        Raises:
            BadInput: as `open`.
        """
        with self._stream() as stream, path.open("wb") as file:
            while data := stream.read(1 << 20):
                file.write(data)
            return stream.damage


@contextmanager
def sources(paths: list[str], watch: Watch = lambda _read: None) -> Generator[list[Source | Skipped]]:
    """Every file that the paths name, in the order given and by name within a folder; `-` is standard input.

    Raises:
        BadInput: a path is not there.
    """
    with ExitStack() as stack:
        found: list[Source | Skipped] = []
        for path in paths:
            if path == "-":
                kept = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="runtape-import-"))) / "stdin"
                with kept.open("wb") as file:
                    shutil.copyfileobj(sys.stdin.buffer, file)
                found += _of_file(kept, "standard input", watch)
            else:
                found += _of_path(Path(path), watch, alone=len(paths) == 1)
        yield found


def _of_path(path: Path, watch: Watch, *, alone: bool) -> Iterator[Source | Skipped]:
    if path.is_dir():
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                file = Path(folder) / name
                if not name.startswith(".") and file.is_file():
                    yield from _of_one_of_many(file, watch)
    elif path.is_file():
        yield from _of_file(path, str(path), watch) if alone else _of_one_of_many(path, watch)
    else:
        raise BadInput(f"there is no file {str(path)!r}")


def _of_one_of_many(path: Path, watch: Watch) -> list[Source | Skipped]:
    """One that cannot be read keeps no other from being read."""
    try:
        return list(_of_file(path, str(path), watch))
    except BadInput as error:
        return [Skipped(str(path), str(error))]


def _of_file(path: Path, name: str, watch: Watch) -> Iterator[Source | Skipped]:
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise BadInput(f"cannot read {name!r}: {error}") from error
    if not magic:
        yield Skipped(name, "the file is empty")
    elif magic[:2] == b"\x1f\x8b":
        yield Source(name, path, "gzip", watch=watch)
    elif magic == b"PK\x03\x04":
        yield from _of_zip(path, name, watch)
    else:
        yield Source(name, path, size=path.stat().st_size, watch=watch)


def _of_zip(path: Path, name: str, watch: Watch) -> Iterator[Source | Skipped]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
    except (OSError, zipfile.BadZipFile) as error:
        raise BadInput(
            f"cannot read the archive {name!r}: {error}. Fetch it again; if it was cut short, "
            "`zip -FF FILE --out MENDED.zip` keeps what is whole of it."
        ) from error
    if len(members) > _MEMBERS:
        raise BadInput(f"the archive {name!r} holds {len(members):,} files, more than {_MEMBERS:,}")
    for member in sorted(members, key=lambda member: member.filename):
        place = f"{name}!{member.filename}"
        if member.file_size == 0:
            yield Skipped(place, "the file is empty", notable=False)
        else:
            yield Source(place, path, "zip", member.filename, member.file_size, watch)
