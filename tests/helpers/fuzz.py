"""Bad copies of a file, each used in a process with limits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def counts(thorough: int, few: int = 30) -> pytest.MarkDecorator:
    """Return a decorator that runs a test with `count` few bad copies, and, marked as slow, with a thorough number.

    The environment variable POSESPACE_FUZZ sets the number of an ordinary run.
    """
    usual = int(os.environ.get("POSESPACE_FUZZ", few))
    return pytest.mark.parametrize(
        "count", [pytest.param(usual, id="few"), pytest.param(thorough, marks=pytest.mark.slow, id="thorough")]
    )


def fuzz(sample: Path, folder: Path, count: int, how: str = "mutate") -> dict[str, Any]:
    """Read `count` copies of a sample made bad by the module `how` of the helpers: "mutate" or "hostile".

    Returns
    -------
    outcome : "used", the number that were read, and "lines", the errors of those that were refused
    """
    return _work("fuzz_worker", sample, count, folder, how)


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
    outcome: dict[str, Any] = json.loads(done.stdout)
    failures = outcome["failures"]
    assert failures == [], f"{len(failures)} of {count} failed\n" + "\n".join(failures[:3])
    return outcome
