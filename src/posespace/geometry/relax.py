"""Relaxation: vertices slide along a surface until its triangles are even."""

from __future__ import annotations

import numpy as np

from posespace.check import Floats, Ints
from posespace.geometry.normals import vertex_sums

_STEP = 0.7
"""Fraction of the distance to the centre that a vertex moves in one step."""


def relaxed(points: Floats, triangles: Ints, normals: Floats, weights: Floats) -> Floats:
    """Return points (N, 3) moved across their unit `normals` (N, 3) towards the centre of the triangles around them.

    `weights` (T,) are those of the triangles (T, 3).
    """
    corners = points[triangles]
    total = vertex_sums(weights[:, None], triangles, len(points))
    centres = vertex_sums(weights[:, None] * corners.mean(axis=1), triangles, len(points))
    step = centres / np.where(total > 0, total, 1.0) - points
    step -= (step * normals).sum(axis=1, keepdims=True) * normals
    moved: Floats = points + _STEP * step
    return moved
