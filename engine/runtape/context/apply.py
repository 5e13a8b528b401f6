"""A recorded request with changes.

Edits of one variant are applied in this order, whatever order they were given in: `Drop`, `Clean`, `Replace` (each kind
in the order of its text), `Mark`, which change the recorded texts; then `Describe`, which changes what a tool says of
itself; then `SetSystem` and `AddSystem`, which change the system prompt as it then is; then `SetModel` and
`ReorderTools`. A text that becomes blank is sent as `PLACEHOLDER`, so that no message, no tool call and no tool result
ever loses its partner. An argument of an earlier call goes with its key, so that what was JSON stays JSON; a
description of a tool that becomes blank, and reasoning, go with their key or block.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from difflib import get_close_matches

from ..errors import BadInput, EditChangesNothing
from ..text import shorten
from ..wire.definitions import names_of, with_description
from ..wire.dialect import Dialect
from ..wire.dialects import dialect_for
from ..wire.editing import without as taken_out
from ..wire.values import JsonObject, Path, Request, Slot
from .edit_forms import in_words, order
from .edits import AddSystem, Clean, Describe, Drop, Edit, Mark, ReorderTools, Replace, SetModel, SetSystem, Variant
from .marking import marked
from .pieces import PLACEHOLDER, Context
from .spans import without
from .spelling import cleaned, nearest, replaced
from .split import split
from .tool_order import reordered

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
    """The request without some leaves, given by their positions in `Context.leaves`.

    The number `len(Context.leaves) + k` stands for the recorded order of the tools: in its place they come in the other
    order k. At most one such number means anything.
    """
    orders = [at for at in leaves if at >= len(context.leaves)]
    request = _written(context, _without(context, leaves.difference(orders)))
    for at in orders:
        request = replace(request, body=reordered(request.body, context.tool_order.others[at - len(context.leaves)]))
    return request


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
    gone: list[Path] = []
    for at, text in texts.items():
        slot = context.slots[at]
        if not text.strip() and (slot.kind == "tool_definition" or slot.form == "reasoning"):
            gone.append(slot.path)
        else:
            body = _put(dialect, body, slot, text if text.strip() else PLACEHOLDER)
    # Last, because it moves the indexes of what comes behind.
    return replace(context.request, body=taken_out(body, gone))


def _put(dialect: Dialect, body: JsonObject, slot: Slot, text: str) -> JsonObject:
    try:
        return dialect.put(body, slot, text)
    except ValueError as error:
        named = f"the arguments of the call of {slot.tool}"
        raise BadInput(
            f"With this change {named} are no JSON object any more, and the provider refuses them."
        ) from error


def _edited(context: Context, edits: list[Edit]) -> Request:
    texts = _without(context, _dropped(context, [edit for edit in edits if isinstance(edit, Drop)]))
    for edit in edits:
        match edit:
            case Clean():
                texts.update(_clean(context, texts, edit))
            case Replace():
                texts.update(_replace(context, texts, edit))
            case Mark():
                texts.update(_mark(context, texts, edit))
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


def _mark(context: Context, texts: dict[int, str], edit: Mark) -> dict[int, str]:
    """The tool results with their marks."""
    changed = {
        at: marked(texts.get(at, slot.text), edit.style)
        for at, slot in enumerate(context.slots)
        if slot.kind == "tool_result" and slot.form == "text"
    }
    if not changed:
        raise EditChangesNothing(f"This changes nothing: {_named(edit)}. The context holds no tool result.")
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
    orders = [edit for edit in edits if isinstance(edit, ReorderTools)]
    tools = [edit.tool for edit in edits if isinstance(edit, Describe)]
    twice: list[Edit] = [edit for edit in edits if isinstance(edit, Describe) and tools.count(edit.tool) > 1]
    for several in (systems, models, orders, twice):
        if len(several) > 1:
            raise BadInput(f"Two edits contradict each other: {'; '.join(map(_named, several))}. Give one of them.")
    for edit in edits:
        before = body
        match edit:
            case Describe():
                body = _with_description(body, edit)
            case SetSystem():
                body = dialect.with_system(body, edit.text if edit.text.strip() else PLACEHOLDER)
            case AddSystem():
                if edit.text.strip():
                    system = dialect.system_text(body)
                    body = dialect.with_system(body, f"{system}\n\n{edit.text}" if system else edit.text)
            case SetModel():
                body = {**body, "model": edit.name}
            case ReorderTools():
                body = _in_order(body, edit)
            case _:
                continue
        if body == before:
            raise EditChangesNothing(f"This changes nothing: {_named(edit)}. {_why_not(edit, body)}")
    return body


def _with_description(body: JsonObject, edit: Describe) -> JsonObject:
    tools = body.get("tools")
    return {**body, "tools": with_description(tools, edit.tool, edit.text)} if tools else body


def _in_order(body: JsonObject, edit: ReorderTools) -> JsonObject:
    try:
        return reordered(body, edit.order)
    except ValueError:
        tools = body.get("tools")
        count = len(tools) if isinstance(tools, list) else 0
        raise BadInput(f"{_named(edit)!r} does not name each of the {count} tools once, from 0 on.") from None


def _why_not(edit: Describe | SetSystem | AddSystem | SetModel | ReorderTools, body: JsonObject) -> str:
    match edit:
        case Describe(tool):
            offered = names_of(body.get("tools"))
            if tool in offered:
                return "The tool is described so already; give another text."
            return f"The request offers no such tool. It offers: {shorten(', '.join(offered) or 'none', _QUOTED)}."
        case ReorderTools():
            return "The tools already stand in this order; give another one."
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
