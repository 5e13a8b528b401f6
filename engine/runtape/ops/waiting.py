"""The verbs for ordinary code: each waits for the coroutine of the same name."""

from __future__ import annotations

from . import verbs
from .sync import blocking

why = blocking(verbs.why)
fix = blocking(verbs.fix)
rerun = blocking(verbs.rerun)
