"""Simplification: a surface with fewer triangles; and Laplacian smoothing."""

from __future__ import annotations

import numpy as np

from posespace.check import Floats, Ints
from posespace.errors import require
from posespace.geometry.edges import neighbours_of

_INWARD, _OUTWARD = 0.5, -0.52
"""Steps of a pass of smoothing, of the way to the middle of the neighbours: the second undoes the first's shrinking."""


def simplified(points: Floats, triangles: Ints, most: int) -> tuple[Floats, Ints]:
    """Return points (M, 3) and at most about `most` triangles (K, 3) of a surface, by quadric error; open ones too."""
    if len(triangles) <= most:
        return np.asarray(points, dtype=np.float64), triangles
    library = require("fast_simplification", "register", "simplifying a mesh")
    # Single precision there: near the origin and of size one, whatever the unit.
    middle, size = points.mean(axis=0), float(np.ptp(points, axis=0).max())
    unit_points = np.ascontiguousarray((points - middle) / size, dtype=np.float32)
    # Copied: it takes no array that it may not write to.
    fewer, faces = library.simplify(unit_points, np.array(triangles, dtype=np.int32, order="C"), target_count=most)
    used, numbers = np.unique(faces, return_inverse=True)
    return fewer[used].astype(np.float64) * size + middle, numbers.reshape(-1, 3).astype(np.int32)


def smoothed(points: Floats, triangles: Ints, passes: int) -> Floats:
    """Return points (N, 3) smoothed by Laplacian passes that keep the volume (Taubin 1995)."""
    from scipy.sparse import csr_array

    starts, near = neighbours_of(triangles, len(points))
    around = np.diff(starts)
    rows = np.repeat(1.0 / np.maximum(around, 1), around)
    mean = csr_array((rows, near, starts), shape=(len(points), len(points)))
    free = (around > 0)[:, None]
    for step in (_INWARD, _OUTWARD) * passes:
        points = points + np.where(free, step * (mean @ points - points), 0.0)
    return points
