"""Bad copies of a file, each used in a process with limits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

COUNT = int(os.environ.get("POSESPACE_FUZZ", "120"))
"""Damaged files of each format, and as many hostile ones; 500 where readers change."""

TAMPERED = 6 * COUNT if "POSESPACE_FUZZ" in os.environ else 150
"""Tampered skins, of all samples together: 3,000 where there are 500 files of each format."""


def fuzz(sample: Path, folder: Path, how: str = "mutate") -> dict[str, Any]:
    """Read `COUNT` copies of a sample made bad by the module `how` of the helpers: "mutate" or "hostile".

    Returns
    -------
    found : "used", how many were read, and "lines", what was said of those that were refused
    """
    return _work("fuzz_worker", sample, COUNT, folder, how)


def tamper(sample: Path, folder: Path, count: int, how: str = "tamper") -> dict[str, Any]:
    """Load, pose, compile and play `count` copies of a skin that someone tampered with; returns what `fuzz` does.

    The module `how` of the helpers says with what: "tamper" a skin file, "driver_grammar" the drivers of a GLB.
    """
    return _work("tamper_worker", sample, count, folder, how)


def flood(sample: Path, folder: Path, count: int) -> dict[str, Any]:
    """Use the first `count` files of floods.py, after a good sample; returns what `fuzz` does."""
    return _work("flood_worker", sample, count, folder)


def _work(worker: str, sample: Path, count: int, folder: Path, *more: str) -> dict[str, Any]:
    command = [sys.executable, "-m", f"helpers.{worker}", str(sample), str(count), str(folder), *more]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, f"file {done.stderr[-2000:]} ended the process: {done.returncode}"
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["failures"] == [], f"{len(found['failures'])} of {count} failed\n" + "\n".join(found["failures"][:3])
    return found
