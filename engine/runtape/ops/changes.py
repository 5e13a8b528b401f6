"""The changes a caller asks for, in the short forms of the public functions, as edits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import TypeAlias

from ..context import edit_forms
from ..context.apply import apply
from ..context.edits import AddSystem, Clean, Describe, Drop, Edit, Mark, Replace, SetModel, SetSystem
from ..context.marking import STYLES
from ..context.pieces import Context
from ..errors import BadInput
from ..wire.dialects import dialect_for
from ..wire.values import Request

Replacement: TypeAlias = "Mapping[str, str] | tuple[str, str] | str"
"""{old: new}, (old, new) or `old=>new`."""
Edits: TypeAlias = "Edit | Sequence[Edit] | AbstractSet[Edit]"

Cleaner: TypeAlias = Callable[[str], str]
"""From the text of a tool result to the text to send."""

ARROW = "=>"


@dataclass(frozen=True, slots=True)
class Change:
    """What to change in a call before it is sent again; the fields are the arguments of `rerun`."""

    drop: str | Iterable[str] = ()
    replace: Replacement | None = None
    system: str | None = None
    add_system: str | None = None
    clean: str | Iterable[str] | Cleaner = ()
    mark: str | None = None
    describe: Mapping[str, str] | None = None
    edit: Edits | None = None
    model_name: str | None = None

    def applied(self, context: Context) -> Request:
        """The request with the change; raises as `apply` does.

        Raises:
            BadInput: the cleaning function returns no text.
        """
        edits = changes(
            drop=self.drop,
            replace=self.replace,
            system=self.system,
            add_system=self.add_system,
            clean=() if callable(self.clean) else self.clean,
            mark=self.mark,
            describe=self.describe,
            edit=self.edit,
            model_name=self.model_name,
        )
        request = apply(context, edits) if edits else context.request
        return _cleaned(request, self.clean) if callable(self.clean) else request


def changes(
    *,
    drop: str | Iterable[str] = (),
    replace: Replacement | None = None,
    system: str | None = None,
    add_system: str | None = None,
    clean: str | Iterable[str] = (),
    mark: str | None = None,
    describe: Mapping[str, str] | None = None,
    edit: Edits | None = None,
    model_name: str | None = None,
) -> frozenset[Edit]:
    """The edits that these arguments stand for; empty for none.

    Raises:
        BadInput: a replacement is not of one of its three forms, or `mark` no style of marking.
    """
    edits: set[Edit] = {Drop(ref) for ref in _texts(drop)}
    edits |= {Replace(old, new) for old, new in replacements(replace)}
    edits |= {Clean(text) for text in _texts(clean)}
    if mark is not None:
        if mark not in STYLES:
            raise BadInput(f"mark={mark!r} is no way to mark tool results. It is one of: {', '.join(STYLES)}.")
        edits.add(Mark(mark))
    edits |= {Describe(tool, text) for tool, text in (describe or {}).items()}
    if system is not None:
        edits.add(SetSystem(system))
    if add_system is not None:
        edits.add(AddSystem(add_system))
    if model_name is not None:
        edits.add(SetModel(model_name))
    if isinstance(edit, Edit):
        edits.add(edit)
    elif edit is not None:
        edits |= set(edit)
    return frozenset(edits)


def replacements(replace: Replacement | None) -> list[tuple[str, str]]:
    """The (old, new) pairs of a replacement.

    Raises:
        BadInput: it has no `=>`, or `old` is empty.
    """
    match replace:
        case None:
            pairs: list[tuple[str, str]] = []
        case str():
            old, arrow, new = replace.partition(ARROW)
            if not arrow:
                raise BadInput(f"The replacement {replace!r} has no {ARROW!r}. Write it as 'old{ARROW}new'.")
            pairs = [(old, new)]
        case tuple():
            pairs = [replace]
        case _:
            pairs = list(replace.items())
    if any(not old for old, _ in pairs):
        raise BadInput("A replacement needs the text that it replaces; it is empty.")
    return pairs


def in_words(edits: Iterable[Edit]) -> str:
    """The edits as text: the prompt text itself for one change of the prompt, otherwise one sentence each."""
    ordered = sorted(edits, key=repr)
    match ordered:
        case [AddSystem(text)] | [SetSystem(text)]:
            return text
        case _:
            return "\n".join(edit_forms.in_words(edit) for edit in ordered)


def _texts(texts: str | Iterable[str]) -> tuple[str, ...]:
    return (texts,) if isinstance(texts, str) else tuple(texts)


def _cleaned(request: Request, cleaner: Cleaner) -> Request:
    dialect = dialect_for(request.api)
    body = request.body
    for slot in dialect.slots(request.body):
        if slot.kind == "tool_result" and slot.form == "text":
            body = dialect.put(body, slot, _text(cleaner(slot.text)))
    return replace(request, body=body)


def _text(cleaned: object) -> str:
    if isinstance(cleaned, str):
        return cleaned
    raise BadInput(f"The cleaning function returned {type(cleaned).__name__}, not text.")
