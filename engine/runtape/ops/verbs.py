"""The verbs for ordinary code: each waits for the coroutine of the same name."""

from __future__ import annotations

from .explain import why as _why
from .repair import fix as _fix
from .rerunning import rerun as _rerun
from .sync import blocking

why = blocking(_why)
fix = blocking(_fix)
rerun = blocking(_rerun)
