"""A real Chromium with graphics in software, for the player and the page: one for all tests of a file."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from conftest import Runner
from helpers.browsing import GRAPHICS, opened_chromium

import posespace as ps

PLAYER = Path(__file__).parents[2] / "player"


@pytest.fixture(scope="module")
def chromium(browser: str) -> Iterator[Any]:
    # Not for the whole session: as long as it is open, no other test of the process may start an event loop.
    with opened_chromium(browser, *GRAPHICS) as chromium:
        yield chromium


@pytest.fixture(scope="session")
def bundled(node: Runner, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Makes one text of a script, a file or a text, and all that it imports, the player and three.js among it."""
    folder = tmp_path_factory.mktemp("bundled")
    bundler = str(shutil.which("esbuild", path=str(PLAYER / "node_modules" / ".bin")))

    def bundle(script: Path | str, *options: str) -> str:
        out, file = folder / "bundle.js", isinstance(script, Path)
        words = [bundler, "--bundle", "--format=iife", f"--outfile={out}", *options, *([str(script)] if file else [])]
        text = None if file else str(script).encode()
        subprocess.run(words, check=True, capture_output=True, cwd=PLAYER, input=text)
        return out.read_text()

    return bundle


def _answer(content: bytes, route: Any) -> None:
    route.fulfill(body=content)


@pytest.fixture(scope="module")
def opened(chromium: Any) -> Callable[..., Any]:
    """Opens a page with a script and files, at an address that may use WebGPU; what goes wrong is in `said`."""

    def open_page(script: str, files: dict[str, bytes] | None = None, kind: str = "text/javascript") -> Any:
        page = chromium.new_page()
        page.said = []
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.route("**/*", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
        for name, content in (files or {}).items():
            page.route(f"**/{name}", partial(_answer, content))
        page.goto("http://localhost/")
        # A plain script has run when it is in the page. A module runs later: whoever needs one waits for it.
        page.add_script_tag(content=script, type=kind)
        return page

    return open_page


@pytest.fixture(scope="session")
def arm() -> tuple[ps.Examples, ps.Examples]:
    return ps.datasets.bending_arm(rings=14, sides=9)
