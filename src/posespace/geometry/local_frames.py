"""Frames of neighbourhoods: how a few points near each other are turned together."""

from __future__ import annotations

import numpy as np

from posespace.check import Floats
from posespace.geometry import rotations

UPRIGHT = 0.01
"""How strongly a neighbourhood keeps to no turn, as a fraction of its spread: points on a line leave that open."""


def local_frames(rest: Floats, places: Floats, holds: Floats) -> tuple[Floats, Floats]:
    """Return points as seen from frames that move with them, and how these are turned.

    Parameters
    ----------
    rest : (B, C, 3) the points of each neighbourhood at rest
    places : (..., B, C, 3) where they are
    holds : (B, C) how much each counts, summing to one

    Returns
    -------
    seen : (..., B, C, 3) the points from the middle of their neighbourhood, turned back
    turns : (..., B, 4) by how much
    """
    still = rest - np.einsum("bc,bcx->bx", holds, rest)[:, None]
    apart = places - np.einsum("bc,...bcx->...bx", holds, places)[..., None, :]
    spread = np.einsum("bc,...bci,bcj->...bij", holds, apart, still, optimize=True)
    size = np.einsum("bc,bcx,bcx->b", holds, still, still)
    turns = rotations.polar(spread + (UPRIGHT * size + 1e-30)[:, None, None] * np.eye(3))[0]
    return np.asarray(apart @ rotations.matrices(turns)), turns
