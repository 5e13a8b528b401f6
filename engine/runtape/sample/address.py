"""The parts of a base URL: what is asked, what is shown, and what tells one server from another.

User name, password and query of an address may be secrets: they are sent, and neither shown nor kept.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlsplit

from ..canon import digest
from ..text import shorten, visible

LOGIN = re.compile(r"//[^/?#]*@")
ANY_LOGIN = re.compile(r"//.*@", re.DOTALL)
"""In what is no address: a password may hold any character."""

LONGEST = 200
"""Characters of an address in a message."""


def shown(url: str) -> str:
    """The address without what may be secret in it."""
    return re.split(r"[?#]", LOGIN.sub("//", url))[0].rstrip("/")


def spelled(url: str) -> str:
    """What was given in place of an address, for a message."""
    return repr(visible(shorten(re.split(r"[?#]", ANY_LOGIN.sub("//", url))[0], LONGEST)))


def name_of(url: str) -> str:
    """The same for addresses that lead to the same server, and nothing secret."""
    query = urlsplit(url).query
    return f"{shown(url)} ?{digest(query)[:8]}" if query else shown(url)


def base_of(url: str) -> str:
    """The address in front of a path of the API; what follows the path is `query_of`."""
    return re.split(r"[?#]", url)[0].rstrip("/")


def query_of(url: str) -> dict[str, object]:
    """The parameters that every request to the address carries."""
    return dict(parse_qsl(urlsplit(url).query, keep_blank_values=True))
