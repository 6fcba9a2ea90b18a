"""Affine bones as joints that only translate: four corners around what a bone moves represent any affine motion.

A point inside a tetrahedron is a weighted mean of its corners, and stays so under an affine transform. So affine bones
need nothing new in poses, files and exporters.
"""

from __future__ import annotations

import numpy as np

from posespace.check import Floats, Ints

DIRECTIONS = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) / np.sqrt(3.0)
"""(4, 3) from the centre of a regular tetrahedron to its corners."""


def corners_around(points: Floats, influences: Ints, weights: Floats, centres: Floats) -> Floats:
    """Return (B, 4, 3) the corners of a tetrahedron around all that each bone moves.

    Parameters
    ----------
    points : (N, 3) the rest shape
    influences, weights : (N, K) the bones of each vertex and their weights
    centres : (B, 3) of the bones
    """
    reach = np.zeros(len(centres))
    moved = weights > 0
    distance = np.linalg.norm(points[:, None] - centres[influences], axis=2)
    np.maximum.at(reach, influences[moved], distance[moved])
    # A bone of one vertex, or of none, gets corners of some size too; and rounding leaves nothing outside.
    reach = np.maximum(1.001 * reach, 1e-3 * float(np.ptp(points, axis=0).max()))
    # The enclosing sphere touches the faces; the corners are three times as far.
    return np.asarray(centres[:, None] + 3 * reach[:, None, None] * DIRECTIONS)


def corner_weights(points: Floats, influences: Ints, weights: Floats, corners: Floats) -> tuple[Ints, Floats]:
    """Return the weights of bones as those of their corners: joints (N, 4 K), joint 4 b + k the corner k of bone b."""
    centres = corners.mean(axis=1)
    size = np.linalg.norm(corners[:, 0] - centres, axis=1) / 3
    along = (points[:, None] - centres[influences]) @ DIRECTIONS.T / size[influences][..., None]
    shares = np.maximum(0.25 * (1 + along), 0.0) * weights[..., None]
    joints = 4 * influences[..., None] + np.arange(4, dtype=np.int32)
    return joints.reshape(len(points), -1).astype(np.int32), shares.reshape(len(points), -1)
