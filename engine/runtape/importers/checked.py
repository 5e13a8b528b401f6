"""What holds for a call of any format: a request without messages is none, one without a model lacks it."""

from __future__ import annotations

from dataclasses import replace

from .imported import ImportedCall

_NO_MESSAGES = "the source holds no message of the request"


def checked(call: ImportedCall) -> ImportedCall:
    """The call with the label that its body deserves; one whose body was sent as it is stays as it is."""
    if call.fidelity in ("exact", "not rebuildable"):
        return call
    if not call.body.get("messages") and not call.body.get("input"):
        why = _NO_MESSAGES if call.why is None else f"{_NO_MESSAGES}; {call.why}"
        return replace(call, fidelity="not rebuildable", missing=("messages",), why=why)
    if not call.body.get("model") and "model" not in call.missing:
        return replace(call, fidelity="partial", missing=(*call.missing, "model"))
    return call
