"""What it means that requests got no answer: is it those requests, or the server?"""

from __future__ import annotations

from collections.abc import Mapping

from .model import Unanswered

TRIES = 2
"""Passes in which one request, or every request, may stay unanswered. The SDK has its own tries inside each."""


class Silence:
    """Counts passes without an answer, of single requests and of all."""

    def __init__(self) -> None:
        """Nothing was sent yet."""
        self._passes = 0
        """In a row in which no request was answered."""
        self._times: dict[str, int] = {}
        """By request key, passes in which it got no answer."""
        self._alone: set[str] = set()
        """Keys of requests that got no answer in a pass in which others did: it may be them, not the server."""

    def judge(self, silent: Mapping[str, Unanswered], *, answered: bool, patient: bool) -> dict[str, str]:
        """Takes in one pass; by request key, why it is not to be sent again.

        Args:
            silent: By request key, how it stayed without an answer.
            answered: Other requests of the pass were answered.
            patient: The server has given a readable answer before, so one silent pass proves nothing.

        Raises:
            Unanswered: it is the server.
        """
        if answered:
            self._passes = 0
            self._alone.update(silent)
        elif silent:
            self._passes += 1
        given_up: dict[str, str] = {}
        for key, error in silent.items():
            self._times[key] = self._times.get(key, 0) + 1
            if key in self._alone and self._times[key] >= TRIES:
                given_up[key] = str(error)
            elif not patient or self._passes >= TRIES:
                raise error
        return given_up
