"""What every test may ask for: the real assets, a browser, a Vulkan driver, Node, Blender.

A test whose component is missing skips with a reason, unless POSESPACE_REQUIRE names the component: then it fails.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Protocol

import pytest
from hypothesis import settings

settings.register_profile("steady", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("steady")

# Tests start many processes: without bytecode on the disk each compiles all that it imports, and takes 3.5 s, not 1.3.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

ROOT = Path(__file__).parents[1]
REQUIRED = set(os.environ.get("POSESPACE_REQUIRE", "").split())


class Runner(Protocol):
    """Runs a script with arguments."""

    def __call__(self, script: str, *arguments: str | Path) -> str: ...


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the long tests, so that no worker is left alone with one at the end."""
    items.sort(key=lambda item: not (item.get_closest_marker("slow") or "fuzz" in item.nodeid))


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


@pytest.fixture(scope="session")
def node() -> Runner:
    """Runs a script of `player/tests`; returns what it prints."""
    player = ROOT / "player"
    if not shutil.which("node") or not (player / "node_modules" / "three").is_dir():
        absent("node", "no Node, or no packages for it; run npm ci --ignore-scripts in the folder player")

    def run(script: str, *arguments: str | Path) -> str:
        command = ["node", player / "tests" / script, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    return run


@pytest.fixture(scope="session")
def blender() -> Runner:
    """Runs a script of `tests/helpers` in Blender; returns what it prints.

    Blender wants a Python of its own and 300 MB, so it is only downloaded where it is required.
    """
    if not shutil.which("uv"):
        absent("blender", "no uv on the path to run it with")
    offline = [] if "blender" in REQUIRED else ["--offline"]
    start = ["uv", "run", "--no-project", *offline, "--python", "3.11", "--with", "bpy==4.2.*", "python"]

    def run(script: str, *arguments: str | Path) -> str:
        command = [*start, ROOT / "tests" / "helpers" / script, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode and offline and "bpy" in done.stderr and "Traceback" not in done.stderr:
            absent("blender", "no Blender in uv's cache; set POSESPACE_REQUIRE=blender to download it")
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    return run
