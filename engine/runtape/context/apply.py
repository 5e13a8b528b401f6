"""A recorded request with changes.

Edits of one variant are applied in this order, whatever order they were given in: `Drop`, `Clean`, `Replace` (each kind
in the order of its text), which change the recorded texts; then `SetSystem` and `AddSystem`, which change the system
prompt as it then is; then `SetModel`. A text that becomes blank is sent as `PLACEHOLDER`, so that no message, no tool
call and no tool result ever loses its partner.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from difflib import get_close_matches

from ..errors import BadInput, EditChangesNothing
from ..text import shorten
from ..wire.dialects import dialect_for
from ..wire.values import JsonObject, Request
from .edit_forms import in_words, order
from .edits import AddSystem, Clean, Drop, Edit, Replace, SetModel, SetSystem, Variant
from .pieces import Context
from .spans import without
from .spelling import cleaned, nearest, replaced
from .split import split

PLACEHOLDER = "[removed]"
"""Stands in a text that would be blank; providers refuse empty content."""

_QUOTED = 80


def apply(context: Context, variant: Variant) -> Request:
    """The request with every edit of `variant`; the request itself for no edits.

    Raises:
        EditChangesNothing: an edit leaves the request as it was, alone or because of the other edits.
        BadInput: two edits of the variant contradict each other, or name something that is not there.
    """
    if not variant:
        return context.request
    edits = sorted(variant, key=order)
    request = _edited(context, edits)
    if request.body == context.request.body:
        raise EditChangesNothing(f"These edits undo each other: {', '.join(map(_named, edits))}. Give one of them.")
    for edit in edits:
        if len(edits) > 1 and _is_covered(context, edit, edits, request):
            raise EditChangesNothing(
                f"This changes nothing beside the other edits: {_named(edit)}. They already cover it; leave it out."
            )
    return request


def _is_covered(context: Context, edit: Edit, edits: list[Edit], request: Request) -> bool:
    """True when the other edits alone give the same request."""
    try:
        others = _edited(context, [other for other in edits if other != edit])
    except EditChangesNothing:
        # One of them has an effect only because of this one.
        return False
    return others.body == request.body


def remove(context: Context, leaves: frozenset[int]) -> Request:
    """The request without some leaves, given by their positions in `Context.leaves`."""
    return _written(context, _without(context, leaves))


def _without(context: Context, leaves: frozenset[int]) -> dict[int, str]:
    """The new text of every slot that loses a leaf."""
    gone: dict[int, list[int]] = defaultdict(list)
    for leaf in sorted(leaves):
        slot = context.pieces[context.leaves[leaf]].slot
        gone[slot].append(leaf - context.first_leaf[slot])
    return {slot: without(context.trees[slot], numbers) for slot, numbers in gone.items()}


def _written(context: Context, texts: dict[int, str]) -> Request:
    dialect = dialect_for(context.request.api)
    body = context.request.body
    for slot, text in texts.items():
        body = dialect.put(body, context.slots[slot], text if text.strip() else PLACEHOLDER)
    return replace(context.request, body=body)


def _edited(context: Context, edits: list[Edit]) -> Request:
    texts = _without(context, _dropped(context, [edit for edit in edits if isinstance(edit, Drop)]))
    for edit in edits:
        match edit:
            case Clean():
                texts.update(_clean(context, texts, edit))
            case Replace():
                texts.update(_replace(context, texts, edit))
            case _:
                pass
    request = _written(context, texts)
    return replace(request, body=_with_settings(request, edits))


def _dropped(context: Context, drops: list[Drop]) -> frozenset[int]:
    """Positions of the leaves under the given refs."""
    if not drops:
        return frozenset()
    positions: set[int] = set()
    by_ref = {piece.ref: index for index, piece in enumerate(context.pieces)}
    position = {index: at for at, index in enumerate(context.leaves)}
    for drop in drops:
        if drop.ref not in by_ref:
            raise BadInput(_no_such_ref(context, drop.ref, list(by_ref)))
        below = [by_ref[drop.ref]]
        while below:
            index = below.pop()
            below.extend(context.pieces[index].children)
            if index in position:
                positions.add(position[index])
    return frozenset(positions)


def _clean(context: Context, texts: dict[int, str], edit: Clean) -> dict[int, str]:
    """The tool results that lose the text."""
    results = [at for at, slot in enumerate(context.slots) if slot.kind == "tool_result" and slot.form == "text"]
    changed: dict[int, str] = {}
    for at in results:
        tree = split(texts[at]) if at in texts else context.trees[at]
        text = cleaned(tree, edit.text)
        if text is not None:
            changed[at] = text
    if not changed:
        hint = _hint(context, edit.text, results)
        raise EditChangesNothing(f"This changes nothing: {_named(edit)}. No tool result holds that text.{hint}")
    return changed


def _replace(context: Context, texts: dict[int, str], edit: Replace) -> dict[int, str]:
    """The slots in which the text stands, with the new one."""
    if edit.old == edit.new:
        raise EditChangesNothing(f"This changes nothing: {_named(edit)}. Both texts are equal; give another new text.")
    changed: dict[int, str] = {}
    for at, slot in enumerate(context.slots):
        if slot.form not in {"text", "json"}:
            continue
        text = replaced(texts.get(at, slot.text), edit.old, edit.new)
        if text is not None:
            changed[at] = text
    if not changed:
        every = list(range(len(context.slots)))
        hint = _hint(context, edit.old, every)
        raise EditChangesNothing(f"This changes nothing: {_named(edit)}. The context does not hold that text.{hint}")
    return changed


def _with_settings(request: Request, edits: list[Edit]) -> JsonObject:
    """The body with another system prompt and model, where an edit asks for one."""
    dialect = dialect_for(request.api)
    body = request.body
    systems = [edit for edit in edits if isinstance(edit, SetSystem)]
    models = [edit for edit in edits if isinstance(edit, SetModel)]
    for several in (systems, models):
        if len(several) > 1:
            raise BadInput(f"Two edits contradict each other: {'; '.join(map(_named, several))}. Give one of them.")
    for edit in edits:
        before = body
        match edit:
            case SetSystem():
                body = dialect.with_system(body, edit.text if edit.text.strip() else PLACEHOLDER)
            case AddSystem():
                if edit.text.strip():
                    system = dialect.system_text(body)
                    body = dialect.with_system(body, f"{system}\n\n{edit.text}" if system else edit.text)
            case SetModel():
                body = {**body, "model": edit.name}
            case _:
                continue
        if body == before:
            raise EditChangesNothing(f"This changes nothing: {_named(edit)}. {_why_not(edit)}")
    return body


def _why_not(edit: SetSystem | AddSystem | SetModel) -> str:
    match edit:
        case SetSystem():
            return "The system prompt is already this text; give another text."
        case AddSystem():
            return "The text is blank; say what to add to the system prompt."
        case SetModel():
            return "The request already asks this model; name another model of the same provider."


def _hint(context: Context, text: str, slots: list[int]) -> str:
    """Where the text may have been meant, and what to do."""
    wanted = set(slots)
    leaves = (context.pieces[leaf] for leaf in context.leaves)
    close = nearest(text, [piece.text for piece in leaves if piece.slot in wanted])
    if close is None:
        return " Copy the text exactly as it stands in the context."
    return f" The nearest text is {shorten(close, _QUOTED)!r}; copy the text exactly as it stands in the context."


def _no_such_ref(context: Context, ref: str, refs: list[str]) -> str:
    close = get_close_matches(ref, refs, n=3, cutoff=0.5) or [context.pieces[leaf].ref for leaf in context.leaves[:3]]
    shown = shorten(ref, _QUOTED)
    return f"No piece of the context has the ref {shown!r}. The nearest are {', '.join(close)}. Use one of its refs."


def _named(edit: Edit) -> str:
    return in_words(edit, _QUOTED)
