"""What every test may ask for: the real assets, a browser, a Vulkan driver.

A test whose component is missing skips with a reason, unless POSESPACE_REQUIRE names the component: then it fails.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("steady", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("steady")

ROOT = Path(__file__).parents[1]
REQUIRED = set(os.environ.get("POSESPACE_REQUIRE", "").split())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the long tests, so that no worker is left alone with one at the end."""
    items.sort(key=lambda item: "fuzz" not in item.nodeid)


def absent(component: str, reason: str) -> None:
    """Skip this test because a component is absent; fail it where the component is required."""
    if component in REQUIRED:
        pytest.fail(f"{component} is required here, but {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real assets."""
    folder = Path(os.environ.get("POSESPACE_DATA", ROOT.parent / "shared" / "data"))
    if not (folder / "README.md").is_file():
        absent("data", f"no real assets at {folder}; set POSESPACE_DATA to their folder")
    return folder


@pytest.fixture(scope="session")
def browser() -> str:
    """The path of a Chromium."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    absent("browser", "no Chromium on the path")
    raise AssertionError
