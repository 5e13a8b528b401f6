"""The bytes of a file as formats read them: unpacked, in UTF-8, counted, and bounded."""

from __future__ import annotations

import codecs
import gzip
import zipfile
import zlib
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO, Final, Literal, Protocol, TypeAlias, cast

from ..errors import BadInput

MOST: Final = 1 << 34
"""Bytes that one compressed file may become."""
RATIO: Final = 300
"""How many times its size a compressed file may become; repetitive logs reach about 100."""
SMALL: Final = 1 << 26
"""Bytes up to which the ratio does not matter."""

Packing: TypeAlias = Literal["plain", "gzip", "zip"]
Watch: TypeAlias = Callable[[int], None]

UNREADABLE: Final = (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError)
"""What a file that is damaged, or packed in an unknown way, raises."""
_DAMAGED: Final = (gzip.BadGzipFile, EOFError, zlib.error, zipfile.BadZipFile)
_WIDE: Final = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
"""How PowerShell writes what is redirected into a file."""


class _Packed(Protocol):
    def read1(self, size: int, /) -> bytes: ...


class Stream:
    """A stream that tells how far it was read, and stops a file that unpacks into far more than it is.

    One that is packed and damaged ends where the damage begins; `damage` tells of it.
    """

    def __init__(self, file: IO[bytes], name: str, watch: Watch, packed: int | None) -> None:
        self.damage: str | None = None
        self._file = file
        self._name = name
        self._watch = watch
        self._packed = packed
        self._read = 0
        head = self._fetch(2)
        wide = _WIDE.get(head)
        self._decoder = None if wide is None else codecs.getincrementaldecoder(wide)("surrogatepass")
        self._head = b"" if wide is not None else head

    def read(self, size: int = -1) -> bytes:
        """Up to `size` bytes; fewer only at the end of the file.

        Raises:
            BadInput: they become too many.
        """
        wanted = -1 if size < 0 else max(size - len(self._head), 0)
        data, self._head = self._head + self._fetch(wanted), b""
        if self._decoder is None:
            return data
        return self._decoder.decode(data, final=not data).encode("utf-8", "surrogatepass")

    def _fetch(self, size: int) -> bytes:
        data = self._file.read(size) if self._packed is None else self._pieces(size)
        self._read += len(data)
        self._watch(len(data))
        packed = self._packed
        if packed is not None and (self._read > MOST or (self._read > SMALL and self._read > RATIO * packed)):
            raise BadInput(
                f"{self._name!r} unpacks into more than {self._read >> 20} MB from {packed:,} bytes; it is not "
                "read further. Unpack it yourself if you trust it."
            )
        return data

    def _pieces(self, size: int) -> bytes:
        """Read piece by piece: a single read loses all of its pieces when the last one is damaged."""
        pieces: list[bytes] = []
        left = size
        while left and self.damage is None:
            try:
                piece = cast("_Packed", self._file).read1(_PIECE if left < 0 else min(left, _PIECE))
            except _DAMAGED as error:
                self.damage = str(error) or type(error).__name__
                break
            if not piece:
                break
            pieces.append(piece)
            left -= len(piece) if left > 0 else 0
        return b"".join(pieces)


_PIECE: Final = 1 << 18


@contextmanager
def opened_stream(path: Path, name: str, packing: Packing, member: str | None, watch: Watch) -> Generator[Stream]:
    """The bytes of a file, or of one member of an archive.

    Raises:
        BadInput: they cannot be read, or become too many when they are unpacked.
    """
    try:
        with path.open("rb") as file, _unpacked(file, packing, member) as unpacked:
            yield Stream(unpacked, name, watch, None if packing == "plain" else path.stat().st_size)
    except UNREADABLE as error:
        raise BadInput(f"cannot read {name!r}: {error or type(error).__name__}{_advice(error)}") from error


@contextmanager
def _unpacked(file: BinaryIO, packing: Packing, member: str | None) -> Generator[IO[bytes]]:
    if packing == "gzip":
        with gzip.GzipFile(fileobj=file) as stream:
            yield cast("IO[bytes]", stream)
    elif packing == "zip" and member is not None:
        with zipfile.ZipFile(file) as archive, archive.open(member) as stream:
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
