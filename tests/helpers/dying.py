"""A sum over poses whose first process dies. A file of its own, because workers import it by name."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace.examples import Examples
from posespace.fit import stream
from posespace.fit.stream import Mix


def dying(mark: str, mixes: list[Mix], source: Examples, run: NDArray[np.integer[Any]]) -> object:
    """Sum over a run of poses; the first process that comes beyond pose 10 leaves a mark and dies."""
    if run[0] > 10 and not Path(mark).exists():
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return stream._sums(mixes, source, run)
