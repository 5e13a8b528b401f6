"""Replies that a server sent before.

A caching gateway answers an equal or a similar request with a stored reply. It is no second sample, and counting it
would make one draw look like many. A header of the gateway's tells, or the reply's id: one that this run, the recorded
call or a kept reply has. But some local servers put one constant id on everything; theirs means nothing. An id is taken
at its word when it is long enough to be random, or once the server has used more than one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from .. import canon
from ..said import Said
from ..wire.values import Reply, Request

PREFIX = re.compile(r"^[a-z]+[-_]")
"""Such as `chatcmpl-`, `msg_`, `resp_`."""

RANDOM_ID = 16
"""Characters after the prefix from which on an id is no constant that somebody wrote by hand."""

OF_REPLIES = re.compile(r"^(?!.*(?:prompt|prefix|kv|control)).*cache")
"""Headers about a cache of replies, such as `x-cache`, `cache-status` (RFC 9211), `cf-aig-cache-status`,
`helicone-cache`, `x-portkey-cache-status`; not those about a cache of prompts."""

HIT = re.compile(r"\bhit\b", re.IGNORECASE)

ONLY_ON_HITS = "x-litellm-cache-key"

REPEATED = Said("the server repeats stored replies: a repeat counts as no sample. Turn its cache off")


def is_stored(headers: Mapping[str, str]) -> bool:
    """Whether response headers (lower-case names) say that a cache of replies answered."""
    return ONLY_ON_HITS in headers or any(OF_REPLIES.match(name) and HIT.search(headers[name]) for name in headers)


class Repeats:
    """The reply ids of one server."""

    def __init__(self) -> None:
        self._asked: dict[str, str] = {}
        """By id, the digest of the request that it answered first."""
        self._recorded: set[str] = set()

    def recorded(self, reply: Reply) -> None:
        """Take in a reply of before, maybe of another server."""
        if reply.id is not None and _looks_random(reply.id):
            self._recorded.add(reply.id)

    def kept(self, request: Request, replies: list[Reply]) -> None:
        """Take in replies of this server to a request that an earlier run kept.

        Numbers that begin anew with the server tell nothing.
        """
        asked = canon.digest(request.body)
        for reply in replies:
            if reply.id is not None and _looks_random(reply.id):
                self._asked.setdefault(reply.id, asked)

    def seen(self, request: Request, reply: Reply) -> bool:
        """True when `reply` is a repeat and no new sample."""
        if reply.id is None:
            return False
        if reply.id in self._recorded:
            return True
        asked = canon.digest(request.body)
        if reply.id not in self._asked:
            self._asked[reply.id] = asked
            return False
        several = len(self._asked) > 1
        if self._asked[reply.id] == asked:
            return several or _looks_random(reply.id)
        return several and _looks_random(reply.id)


def _looks_random(reply_id: str) -> bool:
    tail = PREFIX.sub("", reply_id)
    return len(tail) >= RANDOM_ID and any(c.isdigit() for c in tail) and any(c.isalpha() for c in tail)
