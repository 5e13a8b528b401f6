"""A page in a real browser that notes what it asks for and what it says while it is open."""

from __future__ import annotations

from typing import Any


class WatchedPage:
    """One page of a browser; `close` makes sure that it asked for nothing elsewhere and had nothing to say."""

    def __init__(self, browser: Any, **options: Any) -> None:
        self.page = browser.new_page(**options)
        self.asked: list[str] = []
        self.said: list[str] = []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: self.said.append(dialog.message))
        self.page.on("popup", lambda page: self.said.append(page.url))

    def close(self, *own: str) -> None:
        self.page.close()
        assert [url for url in self.asked if not url.startswith(own)] == []
        assert self.said == []
