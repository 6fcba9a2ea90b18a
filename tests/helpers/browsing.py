"""Chromium for tests, with patience: a machine under load is slow, and no test may fail by the clock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

PATIENCE = 1_800_000
"""Milliseconds that a page waits before it gives up. Playwright's own half a minute is too little under load."""

GRAPHICS = (
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--enable-unsafe-webgpu",
    "--use-webgpu-adapter=swiftshader",
)
"""Flags with which it draws in software."""


@contextmanager
def opened_chromium(path: str, *flags: str) -> Iterator[Any]:
    """Yield the Chromium at a path, started with these flags; it closes at the end."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium: Any = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", *flags], timeout=PATIENCE
        )
        plain = chromium.new_page

        def new_page(**options: Any) -> Any:
            page = plain(**options)
            page.set_default_timeout(PATIENCE)
            return page

        chromium.new_page = new_page
        yield chromium
        chromium.close()
