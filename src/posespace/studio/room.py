"""Room: the pages that are connected. The first one edits; others see what it does until it leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Protocol

from numpy.typing import NDArray

from posespace.errors import InputError
from posespace.studio.frames import encode

MOST_PAGES = 16
_PATIENCE = 10.0
"""Seconds in which a page takes what it is sent."""


class Connection(Protocol):
    """A connected page."""

    async def send(self, frame: str | bytes) -> None:
        """Send a frame; a page that is gone swallows it."""

    def drop(self) -> None:
        """End the connection at once."""


class Room:
    """Connected pages, in the order in which they came."""

    def __init__(self) -> None:
        self._pages: list[Connection] = []

    def __len__(self) -> int:
        return len(self._pages)

    def join(self, page: Connection) -> None:
        """Let a page in; raise where there are too many."""
        if len(self._pages) >= MOST_PAGES:
            raise InputError(f"studio: expected at most {MOST_PAGES} pages at once; close one")
        self._pages.append(page)

    def leave(self, page: Connection) -> None:
        """Let a page go."""
        if page in self._pages:
            self._pages.remove(page)

    def role(self, page: Connection) -> str:
        """Return whether a page is the "editor" or a "viewer"."""
        return "editor" if self._pages[:1] == [page] else "viewer"

    def require_editor(self, page: Connection, what: str) -> None:
        """Raise unless a page may change the project."""
        if self.role(page) != "editor":
            raise InputError(f"{what}: another page edits this project; close it to edit here")

    async def tell(self, event: str, says: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]] | None = None) -> None:
        """Send an event to every page, each with its role. One that does not take it is dropped: none waits for it."""

        async def send(page: Connection) -> None:
            try:
                async with asyncio.timeout(_PATIENCE):
                    await page.send(encode({"event": event, "role": self.role(page), **says}, arrays))
            except TimeoutError:
                self.leave(page)
                page.drop()

        await asyncio.gather(*map(send, tuple(self._pages)))
