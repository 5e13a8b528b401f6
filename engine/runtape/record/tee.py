"""Response streams that pass every chunk on and let a watcher see it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import suppress
from functools import cache
from typing import Any, Literal, Protocol

Ending = Literal["end", "closed", "failed", "cancelled", "collected", "run closed"]
"""How the program's reading of a response came to its end.

`end`: nothing was left to read. `closed`: the program closed it. `failed`: the connection broke. `cancelled`: the
task was. `collected`: the program dropped it without closing it. `run closed`: it was open when the recording ended.
"""


class Watcher(Protocol):
    """Sees what the program reads. None of these raises."""

    def chunk(self, data: bytes) -> None:
        """The next bytes, just before the program gets them."""
        ...

    def ended(self, how: Ending, error: BaseException | None = None) -> None:
        """The end; only the first one counts."""
        ...

    def collected(self) -> None:
        """The garbage collector runs, maybe in the middle of the recorder's own work: nothing may be done now."""
        ...


def cancelled(error: BaseException) -> bool:
    """Whether this is an event loop's cancellation, told by name: no event loop is imported for it."""
    return any(base.__name__ in ("CancelledError", "Cancelled") for base in type(error).__mro__)


def ending_of(error: BaseException) -> Ending:
    """The ending that an exception out of the connection stands for."""
    return "cancelled" if cancelled(error) else "failed"


class _Tee:
    """What both kinds share. Whatever else the library reads off its stream (`elapsed`) comes from the inner one."""

    def __init__(self, inner: Any, watcher: Watcher) -> None:
        self._inner = inner
        self._watcher = watcher

    def __getattr__(self, name: str) -> Any:
        if name in ("_inner", "_watcher"):  # not set yet, as in a copy: looking it up again would never end
            raise AttributeError(name)
        return getattr(self._inner, name)

    def __del__(self) -> None:
        with suppress(Exception):  # at interpreter exit anything may be gone, and nobody could be told
            self._watcher.collected()


class _SyncTee(_Tee):
    def __iter__(self) -> Iterator[bytes]:
        try:
            for chunk in self._inner:
                self._watcher.chunk(chunk)
                yield chunk
        except GeneratorExit:  # the program stopped reading; closing the stream, or dropping it, tells the end
            raise
        except BaseException as error:
            self._watcher.ended(ending_of(error), error)
            raise
        self._watcher.ended("end")

    def close(self) -> None:
        try:
            self._inner.close()
        finally:
            self._watcher.ended("closed")


class _AsyncTee(_Tee):
    async def __aiter__(self) -> AsyncIterator[bytes]:
        chunks = self._inner.__aiter__()
        try:
            async for chunk in chunks:
                self._watcher.chunk(chunk)
                yield chunk
        except GeneratorExit:  # as above
            raise
        except BaseException as error:
            self._watcher.ended(ending_of(error), error)
            raise
        finally:
            # The library closes a stream's generator early, where it can; hidden behind this one it could not.
            if isinstance(chunks, AsyncGenerator):
                await chunks.aclose()
        self._watcher.ended("end")

    async def aclose(self) -> None:
        try:
            await self._inner.aclose()
        finally:
            self._watcher.ended("closed")


@cache
def _class_of(tee: type[_Tee], base: type) -> type:
    return type(tee.__name__.lstrip("_"), (tee, base), {})


def tee(inner: Any, watcher: Watcher, library: Any) -> Any:
    """A stream that the library takes for one of its own, with the bytes of `inner` in its order and at its pace.

    `library` is the module (`httpx`, `httpx2`) whose stream classes `inner` is an instance of.

    Raises:
        TypeError: `inner` is no stream of that library.
    """
    if isinstance(inner, library.AsyncByteStream):
        return _class_of(_AsyncTee, library.AsyncByteStream)(inner, watcher)
    if isinstance(inner, library.SyncByteStream):
        return _class_of(_SyncTee, library.SyncByteStream)(inner, watcher)
    raise TypeError(f"the response holds a {type(inner).__name__}, which is no byte stream of {library.__name__}")
