"""Rotations of virtual bones in each example, each from the vertices it moves, independently of the other bones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from posespace.check import Floats, Ints
from posespace.geometry import rotations


class BoneRotations(NamedTuple):
    """Rotations (S, B, 4) of bones in the examples, their centres (B, 3) at rest, and their total weights (B,)."""

    rotations: Floats
    centres: Floats
    sizes: Floats


def bone_rotations(rest: Floats, shapes: Floats, influences: Ints, weights: Floats, count: int) -> BoneRotations:
    """Return the rotations of bones in shapes.

    Neighbouring bones rotated jointly against each other may fit the examples more closely, but such rotations cannot
    be predicted.

    Parameters
    ----------
    rest : (N, 3)
    shapes : (S, N, 3)
    influences, weights : (N, K) the bones of each vertex and their weights
    count : B
    """
    rows = np.repeat(np.arange(len(rest)), influences.shape[1])
    moved = csr_array((weights.ravel().astype(np.float64), (influences.ravel(), rows)), shape=(count, len(rest)))
    total: Floats = np.asarray(moved.sum(axis=1)).ravel()
    share = 1 / np.where(total > 0, total, 1.0)
    centres = (moved @ rest) * share[:, None]
    centres[total <= 0] = rest.mean(axis=0)
    quaternions = np.empty((len(shapes), count, 4))
    for row, shape in enumerate(shapes):
        middles = (moved @ shape) * share[:, None]
        products = (shape[:, :, None] * rest[:, None, :]).reshape(len(rest), 9)
        covariance = (moved @ products).reshape(count, 3, 3) * share[:, None, None]
        covariance -= middles[:, :, None] * centres[:, None, :]
        quaternions[row] = rotations.polar(covariance)[0]
    return BoneRotations(quaternions, centres, total)
