"""Work that tells about its process, or kills it. A file of its own, because workers import it by name."""

from __future__ import annotations

import os
import signal


def killed(_: None, __: int, piece: str) -> str:
    """Return the piece, unless it says that the process dies."""
    if piece == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    return piece


def process_and_threads() -> tuple[int, str]:
    """Return the number of this process, and how many threads its loops may have."""
    return os.getpid(), os.environ["NUMBA_NUM_THREADS"]
