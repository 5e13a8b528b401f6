"""Replies that a server sent before.

A caching gateway answers an equal request with a stored reply. It is no second sample, and counting it would make one
draw look like many. The reply's id tells. But some local servers put one constant id on everything; theirs means
nothing. An id is taken at its word when it is long enough to be random, or once the server has used more than one.
"""

from __future__ import annotations

import re

from .. import canon
from ..wire.values import Reply, Request

PREFIX = re.compile(r"^[a-z]+[-_]")
"""Such as `chatcmpl-`, `msg_`, `resp_`."""

RANDOM_ID = 16
"""Characters after the prefix from which on an id is no constant that somebody wrote by hand."""

REPEATED = "the server repeats stored replies (same reply id twice): a repeat counts as no sample. Turn its cache off"


class Repeats:
    """The reply ids of one server."""

    def __init__(self) -> None:
        self._asked: dict[str, str] = {}
        """By id, the digest of the request that it answered first."""

    def seen(self, request: Request, reply: Reply) -> bool:
        """True when `reply` is a repeat and no new sample."""
        if reply.id is None:
            return False
        asked = canon.digest(request.body)
        if reply.id not in self._asked:
            self._asked[reply.id] = asked
            return False
        return self._asked[reply.id] == asked and self._tells(reply.id)

    def _tells(self, reply_id: str) -> bool:
        tail = PREFIX.sub("", reply_id)
        looks_random = len(tail) >= RANDOM_ID and any(c.isdigit() for c in tail) and any(c.isalpha() for c in tail)
        return looks_random or len(self._asked) > 1
