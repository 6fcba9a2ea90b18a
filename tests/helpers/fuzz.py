"""Damaged copies of a file, each read in a process with limits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

COUNT = int(os.environ.get("POSESPACE_FUZZ", "120"))
"""Damaged files of each format; many more where there is time, as in `.ci/run`."""


def fuzz(sample: Path, folder: Path, how: str = "mutate", count: int = COUNT) -> dict[str, list[str]]:
    """Read `count` copies of a sample made bad by the module `how` of the helpers: "mutate" or "hostile".

    Returns
    -------
    found : "lines", what was said of those that were refused
    """
    command = [sys.executable, "-m", "helpers.fuzz_worker", str(sample), how, str(count), "2002", str(folder)]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, list[str]] = json.loads(done.stdout)
    assert found["failures"] == [], "\n".join(found["failures"][:3])
    return found
