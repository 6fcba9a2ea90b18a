"""Distances over a surface, along its edges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from posespace.check import Floats, Ints
from posespace.geometry.edges import edges_of


class Geodesics:
    """Distances from vertices along the edges of a surface; infinite where no edges lead.

    Parameters
    ----------
    points : (N, 3)
    triangles : (T, 3)
    """

    def __init__(self, points: Floats, triangles: Ints) -> None:
        ends = edges_of(triangles).ends
        ends = ends[ends[:, 0] != ends[:, 1]]
        # An edge of no length would count as none.
        lengths = np.maximum(np.linalg.norm(points[ends[:, 0]] - points[ends[:, 1]], axis=1), 1e-30)
        self._graph = csr_array((lengths, (ends[:, 0], ends[:, 1])), shape=(len(points), len(points)))

    def __call__(self, vertices: Sequence[int] | NDArray[np.integer]) -> Floats:
        """Return the distances (V, N) of all vertices from each of some."""
        return np.asarray(dijkstra(self._graph, directed=False, indices=np.asarray(vertices)))
