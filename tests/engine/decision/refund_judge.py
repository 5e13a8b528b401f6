"""A judge function of a user."""

from __future__ import annotations

from typing import Any


def promises(reply: dict[str, Any]) -> bool | None:
    return None if not reply["text"] else "money back" in reply["text"]
