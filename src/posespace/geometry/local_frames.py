"""Local frames of neighbourhoods: the common rotation of a few points that are near each other."""

from __future__ import annotations

import numpy as np

from posespace.check import Floats
from posespace.geometry import rotations

UPRIGHT = 0.01
"""Weight of the identity, as a fraction of the spread: points in a line leave the rotation undetermined."""


def local_frames(rest: Floats, positions: Floats, holds: Floats) -> tuple[Floats, Floats]:
    """Return points in local frames that move with them, and the rotations of these frames.

    Parameters
    ----------
    rest : (B, C, 3) the points of each neighbourhood at rest
    positions : (..., B, C, 3) their positions
    holds : (B, C) their weights, which sum to one

    Returns
    -------
    points : (..., B, C, 3) from the middle of their neighbourhood, in its local frame
    frames : (..., B, 4) rotations of the local frames
    """
    rest_centred = rest - np.einsum("bc,bcx->bx", holds, rest)[:, None]
    centred = positions - np.einsum("bc,...bcx->...bx", holds, positions)[..., None, :]
    spread = np.einsum("bc,...bci,bcj->...bij", holds, centred, rest_centred, optimize=True)
    size = np.einsum("bc,bcx,bcx->b", holds, rest_centred, rest_centred)
    frames = rotations.polar(spread + (UPRIGHT * size + 1e-30)[:, None, None] * np.eye(3))[0]
    return np.asarray(centred @ rotations.matrices(frames)), frames
