"""The icon that hosts show beside the server's name; it holds its drawing, so that no host has to fetch one."""

from __future__ import annotations

from base64 import b64encode
from typing import Final

from mcp.types import Icon

_DRAWING: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#3b82f6" stroke-width="2">'
    '<circle cx="7" cy="12" r="4"/><circle cx="17" cy="12" r="4"/><path d="M7 16h10"/></svg>'
)
"""A tape: two reels and what runs between them."""

ICON: Final = Icon(
    src=f"data:image/svg+xml;base64,{b64encode(_DRAWING.encode()).decode()}", mime_type="image/svg+xml", sizes=["any"]
)
