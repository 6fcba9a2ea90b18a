"""Weld within a tolerance: files round positions, and exporters split vertices."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from posespace.check import Floats
from posespace.geometry.weld import Weld, weld_points

_COPIES = 8
"""Neighbours that a vertex is compared with: a seam seldom splits a vertex into more."""


def weld_within(points: Floats, tolerance: float) -> Weld:
    """Group the vertices of `points` (N, 3) that lie within a tolerance of one another, or are joined by such."""
    exact = weld_points(points)
    sites = np.asarray(points[exact.first], np.float64)
    count = len(sites)
    if count < 2 or not tolerance > 0:
        return exact
    # Few neighbours of each: pairs of all that are near one another could be as many as the square of the vertices.
    near = np.asarray(KDTree(sites).query(sites, k=min(_COPIES, count), distance_upper_bound=tolerance)[1])
    rows, columns = np.nonzero(near < count)
    graph = coo_array((np.ones(len(rows), np.int8), (rows, near[rows, columns])), shape=(count, count))
    return Weld.of(connected_components(graph, directed=False)[1][exact.groups])
