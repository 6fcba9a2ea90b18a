"""Pieces of a surface: the connected components of its edges."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from posespace.check import Floats, Ints
from posespace.geometry.edges import edges_of


def pieces_of(triangles: Ints, count: int) -> Ints:
    """Return (count,) the piece of each vertex, from 0; a vertex without triangles (T, 3) is one by itself."""
    a, b = edges_of(triangles).ends.T
    graph = csr_array((np.ones(len(a), np.int8), (a, b)), shape=(count, count))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int32)


def piece_areas(pieces: Ints, points: Floats, triangles: Ints) -> Floats:
    """Return the area of each piece, of points (N, 3) and triangles (T, 3)."""
    a, b, c = points[triangles].astype(np.float64).swapaxes(0, 1)
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2
    return np.bincount(pieces[triangles[:, 0]], areas, minlength=int(pieces.max(initial=-1)) + 1).astype(np.float64)
