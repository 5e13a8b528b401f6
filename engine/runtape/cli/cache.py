"""`runtape cache`: the replies that were paid for."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from ..errors import BadInput
from ..report.document import Document, Heading, Paragraph, Recorded, Table
from ..report.phrases import number
from ..sample.cache import FILE, ReplyCache
from ..sample.kept import DAY, WANTED, Group, KeptReplies, Waiting, write_private
from . import console, options

MEGABYTE = 1_000_000

app = typer.Typer(help="Show, prune, export or import the replies that were paid for.", rich_markup_mode=None)

Folder: TypeAlias = Annotated[Path, typer.Option("--dir", metavar="DIR", help="The folder of the cache.")]
DEFAULT = Path(".runtape")


@app.callback(invoke_without_command=True)
def _bare(context: typer.Context) -> None:
    """Show, prune, export or import the replies that were paid for."""
    if context.invoked_subcommand is None:
        show()


@app.command()
def show(*, folder: Folder = DEFAULT, as_json: options.AsJson = False) -> None:
    """Show whose replies are kept, how many, and how old they are; and the batches that are on their way.

    Example: runtape cache show
    """
    path, size = folder / FILE, 0
    groups: list[Group] = []
    batches: list[Waiting] = []
    if path.is_file():
        kept = KeptReplies(folder)
        try:
            groups, batches, size = kept.groups(), kept.batches(), kept.size
        finally:
            kept.close()
    if as_json:
        console.print_json(
            {
                "path": str(path),
                "size": size,
                "groups": [asdict(group) for group in groups],
                "batches": [asdict(batch) for batch in batches],
            }
        )
    else:
        console.print_page((*_page(path, size, groups), *_waiting(batches)))


@app.command()
def prune(
    *,
    older_than: Annotated[
        float | None, typer.Option(min=0, metavar="DAYS", help="Forget replies that are older.")
    ] = None,
    keep_mb: Annotated[
        float | None, typer.Option(min=0, metavar="MB", help="Forget the oldest until at most so much is left.")
    ] = None,
    folder: Folder = DEFAULT,
    as_json: options.AsJson = False,
) -> None:
    """Forget old replies; asking for them again is paid again.

    Example: runtape cache prune --older-than 30
    """
    if older_than is None and keep_mb is None:
        raise BadInput("say what may go: --older-than DAYS, --keep-mb MB, or both.")
    kept = KeptReplies(folder)
    try:
        gone = kept.prune(
            before=None if older_than is None else time.time() - older_than * DAY,
            most=None if keep_mb is None else int(keep_mb * MEGABYTE),
        )
        size = kept.size
    finally:
        kept.close()
    if as_json:
        console.print_json({"forgotten": gone, "size": size})
    else:
        sys.stdout.write(f"{_replies(gone)} forgotten; the cache has {_size(size)} now.\n")


@app.command("export")
def export_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A new file, one reply a line.")],
    *,
    folder: Folder = DEFAULT,
    as_json: options.AsJson = False,
) -> None:
    """Write the replies to a file, so that others can score the same runs without paying.

    The replies may quote what the agent read. They hold no keys.

    Example: runtape cache export replies.jsonl
    """
    kept = KeptReplies(folder)
    try:
        count = write_private(file, kept.exported())
    finally:
        kept.close()
    if as_json:
        console.print_json({"written": count, "file": str(file)})
    else:
        sys.stdout.write(f"{_replies(count)} written to {file}.\n")


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that `runtape cache export` wrote.")],
    *,
    folder: Folder = DEFAULT,
    as_json: options.AsJson = False,
) -> int:
    """Keep the replies of an exported file; those that are there already stay as they are.

    Example: runtape cache import replies.jsonl
    """
    with ReplyCache(folder):
        pass  # made as the verbs make it: private, and kept out of version control
    kept = KeptReplies(folder)
    try:
        with file.open("rb") as lines:
            done = kept.take_in(lines)
    except OSError as error:
        raise BadInput(f"{str(file)!r} cannot be read: {error}. {WANTED}") from error
    finally:
        kept.close()
    if as_json:
        console.print_json({"added": done.added, "known": done.known, "unreadable": done.unreadable})
    else:
        sys.stdout.write(f"{_replies(done.added)} added, {done.known} known already.\n")
    if done.unreadable:
        console.complain(f"{number(done.unreadable, 'line')} of {str(file)!r} held no reply. {WANTED}")
    return console.DONE


def _replies(count: int) -> str:
    return f"{count:,} reply" if count == 1 else f"{count:,} replies"


def _size(size: int) -> str:
    return f"{size / MEGABYTE:.1f} MB"


def _page(path: Path, size: int, groups: list[Group]) -> Document:
    head = Heading((f"Replies in {path}, {_size(size)}",), level=1)
    if not groups:
        return (head, Paragraph(("It holds no reply.",)))
    rows = tuple(
        (
            (Recorded(group.asked),),
            (Recorded(group.model),),
            (f"{group.replies:,}",),
            (_size(group.size),),
            (_age(group.oldest),),
            (_age(group.newest),),
        )
        for group in groups
    )
    return (head, Table(("asked", "model", "replies", "size", "oldest", "newest"), rows))


def _waiting(batches: list[Waiting]) -> Document:
    if not batches:
        return ()
    rows = tuple(
        (
            (batch.name,),
            (Recorded(batch.remote or "not confirmed"),),
            (f"{batch.requests:,}",),
            (f"{batch.samples:,}",),
            (_age(batch.submitted),),
        )
        for batch in batches
    )
    return (
        Heading(("Batches on their way",), level=2),
        Table(("batch", "at the server", "requests", "answers to come", "age"), rows),
        Paragraph(("The command that submitted a batch takes its answers when it is run again.",)),
    )


def _age(at: float) -> str:
    days = max(0.0, time.time() - at) / DAY
    return f"{days:.0f} days" if days >= 2 else f"{days * 24:.0f} h"
