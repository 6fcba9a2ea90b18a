"""Loop's subdivision: each level a smooth average of the one before, so that facets of a coarse surface vanish."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from posespace.check import Ints
from posespace.geometry.edges import edges_of
from posespace.geometry.subdivision import Subdivision, subdivide


def loop_subdivide(triangles: Ints, vertex_count: int) -> tuple[Subdivision, sparse.csr_array]:
    """Split the triangles (T, 3) of a closed surface as `subdivide` does, and return the weights of Loop's rules.

    Returns
    -------
    level : the fine surface
    weights : (N + E, N) whose product with the coarse positions gives the fine ones
    """
    level = subdivide(triangles, vertex_count)
    ends, sides, _ = edges_of(triangles)
    edges, old = np.arange(len(ends)), np.arange(vertex_count)
    opposite = np.roll(triangles, 1, axis=1)
    # On an edge: 3/8 of its ends and 1/8 of what is opposite.
    rows = np.concatenate([edges, edges, sides.ravel()])
    columns = np.concatenate([ends[:, 0], ends[:, 1], opposite.ravel()])
    shares = np.concatenate([np.full(2 * len(edges), 3 / 8), np.full(3 * len(triangles), 1 / 8)])
    on_edges = sparse.csr_array((shares, (rows, columns)), shape=(len(edges), vertex_count))
    degree = np.maximum(np.bincount(ends.ravel(), minlength=vertex_count), 1)
    # Warren's weights of the neighbours.
    beta = np.where(degree == 3, 3 / 16, 3 / (8 * degree))
    vertex, neighbour = np.concatenate([ends, ends[:, ::-1]]).T
    shape = (vertex_count, vertex_count)
    around = sparse.csr_array((beta[vertex], (vertex, neighbour)), shape=shape)
    on_vertices = sparse.csr_array((1 - degree * beta, (old, old)), shape=shape)
    return level, sparse.csr_array(sparse.vstack([on_vertices + around, on_edges]))
