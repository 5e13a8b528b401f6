"""How many model calls may still be paid for."""

from __future__ import annotations


class Purse:
    """The model calls one server process may cost, over all of its jobs."""

    def __init__(self, calls: int) -> None:
        self.total = calls
        self._left = calls

    @property
    def left(self) -> int:
        """Calls that no job holds or has spent."""
        return self._left

    def take(self, wanted: int) -> int:
        """Sets calls aside for one job: as many as wanted, or what is left."""
        taken = max(0, min(wanted, self._left))
        self._left -= taken
        return taken

    def give_back(self, unspent: int) -> None:
        """Returns calls that were set aside and not spent."""
        self._left += max(0, unspent)
