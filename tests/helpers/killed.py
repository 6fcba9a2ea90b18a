"""Work that kills its process. A file of its own, because workers import it by name."""

from __future__ import annotations

import os
import signal


def killed(_: None, __: int, piece: str) -> str:
    """Return the piece, unless it says that the process dies."""
    if piece == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    return piece
