"""Files, folders, standard input, gzip and zip as streams of bytes with a name and a head."""

from __future__ import annotations

import gzip
import os
import shutil
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, BinaryIO, Final, Literal, TypeAlias, cast

from ..errors import BadInput
from ..wire.values import Json
from .imported import Skipped
from .json_cut import Record
from .json_stream import records

HEAD: Final = 1 << 16
"""Bytes that a format is recognised by."""
MOST: Final = 1 << 34
"""Bytes that one compressed file may become."""
RATIO: Final = 300
"""How many times its size a compressed file may become; repetitive logs reach about 100."""
SMALL: Final = 1 << 26
"""Bytes up to which the ratio does not matter."""
_BOM: Final = b"\xef\xbb\xbf"
_MEMBERS: Final = 200_000
"""Files of one archive."""

Packing: TypeAlias = Literal["plain", "gzip", "zip"]
Watch: TypeAlias = Callable[[int], None]


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
        """The bytes, uncompressed.

        Raises:
            BadInput: they cannot be read, or become too many when they are unpacked.
        """
        try:
            with self.path.open("rb") as file, _unpacked(self, file) as unpacked:
                packed = self.path.stat().st_size
                yield cast("BinaryIO", _Limited(unpacked, self, None if self.packing == "plain" else packed))
        except (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            raise BadInput(f"cannot read {self.name!r}: {error or type(error).__name__}{_advice(error)}") from error

    @cached_property
    def sample(self) -> Sample:
        """What a format may look at.

        Raises:
            BadInput: as `open`.
        """
        with self.open() as stream:
            return Sample(self.name, stream.read(HEAD).removeprefix(_BOM))

    def records(self, opened: Collection[str] = ()) -> Iterator[Record]:
        """The JSON values of the file; see `json_stream.records`.

        Raises:
            BadInput: as `open`.
        """
        with self.open() as stream:
            yield from records(stream, opened)

    def text(self, most: int = 1 << 27) -> str:
        """The whole file as text, for formats that are not JSON.

        Raises:
            BadInput: as `open`, or it is longer than `most` bytes.
        """
        with self.open() as stream:
            parts: list[bytes] = []
            size = 0
            while data := stream.read(1 << 20):
                parts.append(data)
                size += len(data)
                if size > most:
                    raise BadInput(f"{self.name!r} is longer than {most >> 20} MB, too long for this format")
            return b"".join(parts).decode("utf-8-sig", "replace")


@contextmanager
def _unpacked(source: Source, file: BinaryIO) -> Generator[IO[bytes]]:
    if source.packing == "gzip":
        with gzip.GzipFile(fileobj=file) as stream:
            yield cast("IO[bytes]", stream)
    elif source.packing == "zip" and source.member is not None:
        with zipfile.ZipFile(file) as archive, archive.open(source.member) as stream:
            yield stream
    else:
        yield file


def _advice(error: BaseException) -> str:
    if isinstance(error, NotImplementedError):
        return (
            "; it is packed in a way that this Python cannot read. Unpack it first (`unzip`, or `inspect log convert` "
            "for an Inspect log), or use Python 3.14 or later"
        )
    return ""


class _Limited:
    """A stream that tells how far it was read, and stops a file that unpacks into far more than it is."""

    def __init__(self, stream: IO[bytes], source: Source, packed: int | None) -> None:
        self._stream = stream
        self._source = source
        self._packed = packed
        self._read = 0

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self._read += len(data)
        self._source.watch(len(data))
        packed = self._packed
        if packed is not None and (self._read > MOST or (self._read > SMALL and self._read > RATIO * packed)):
            raise BadInput(
                f"{self._source.name!r} unpacks into more than {self._read >> 20} MB from {packed:,} bytes; it is not "
                "read further. Unpack it yourself if you trust it."
            )
        return data


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
                found += _of_path(Path(path), watch)
        yield found


def _of_path(path: Path, watch: Watch) -> Iterator[Source | Skipped]:
    if path.is_dir():
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                file = Path(folder) / name
                if not name.startswith(".") and file.is_file():
                    yield from _of_file(file, str(file), watch)
    elif path.is_file():
        yield from _of_file(path, str(path), watch)
    else:
        raise BadInput(f"there is no file {str(path)!r}")


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
        raise BadInput(f"cannot read the archive {name!r}: {error}. Fetch it again.") from error
    if len(members) > _MEMBERS:
        raise BadInput(f"the archive {name!r} holds {len(members):,} files, more than {_MEMBERS:,}")
    for member in sorted(members, key=lambda member: member.filename):
        place = f"{name}!{member.filename}"
        if member.file_size == 0:
            yield Skipped(place, "the file is empty", notable=False)
        else:
            yield Source(place, path, "zip", member.filename, member.file_size, watch)
