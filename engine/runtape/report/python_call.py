"""Next steps as calls of the library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

from .step import LARGER, Step

_SELECTING: Final = ("tool", "match", "exact_args", "args", "where", "judge")
_ASKING: Final = (*_SELECTING, "model", "base_url", "cache_dir", "budget_tokens", "budget_usd", "prices", "batch")
_TAKES: Final[Mapping[str, tuple[str, ...]]] = {
    "why": (*_ASKING, "concurrency"),
    "fix": (*_ASKING, "concurrency"),
    "rerun": _ASKING,
    "write_test": (*_SELECTING, "base_url", "cache_dir"),
}
"""Arguments that a verb takes over from another."""

_LIMITS: Final = ("budget", "budget_tokens", "budget_usd")
_USUAL: Final = {"why": 400, "fix": 600}
"""Most model calls where no limit is given."""


@dataclass(frozen=True, slots=True)
class PythonCall:
    """How a verb was called; spells the steps behind it."""

    verb: str
    given: Mapping[str, str] = field(default_factory=dict[str, str])
    """The arguments that were not left out, as source code, without the run and the decision."""

    def of(self, step: Step, trace: str, event: int) -> str:
        """The call that does a step about a decision of a run."""
        kept = {name: code for name, code in self.given.items() if step.verb == self.verb or self._is_for(step, name)}
        changed = {name: repr(value) for name, value in step.changed.items() if name not in {"out", "budget"}}
        if step.changed.get("budget") == LARGER:
            changed |= self._doubled()
        out = [repr(step.changed["out"])] if "out" in step.changed else []
        rest = [f"{name}={code}" for name, code in {**kept, **changed}.items()]
        return f"runtape.{step.verb}({', '.join([repr(trace), str(event), *out, *rest])})"

    def _is_for(self, step: Step, name: str) -> bool:
        return name in _TAKES[step.verb or ""]

    def _doubled(self) -> dict[str, str]:
        limits = {name: float(self.given[name]) for name in _LIMITS if name in self.given}
        return {name: f"{2 * most:g}" for name, most in (limits or {"budget": float(_USUAL[self.verb])}).items()}


_CODE = (str, int, float, list, tuple, dict, type(None))
"""Types of values whose representation is source code."""


def source_of(name: str, value: object) -> str:
    """An argument as source code; what no code can say gets a name that the reader knows to replace."""
    if isinstance(value, Path):
        return repr(str(value))
    if isinstance(value, _CODE):
        return repr(cast("object", value))
    called = str(getattr(value, "__name__", ""))
    return called if called.isidentifier() else f"your_{name}"
