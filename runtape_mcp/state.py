"""What the handlers of one server process share."""

from __future__ import annotations

from dataclasses import dataclass

from .jobs import Jobs
from .library import Library
from .settings import Settings
from .verbs import Verbs


@dataclass(frozen=True, slots=True)
class State:
    """Lives as long as the connection."""

    settings: Settings
    library: Library
    jobs: Jobs
    verbs: Verbs
