"""Tetrahedra of 4 or 10 nodes: their edges, and the faces that only one of them has."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace.geometry.edges import distinct

EDGES = ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))
"""Corners of the edge that each of a 10-node tetrahedron's nodes 4 … 9 lies on; the order of CalculiX's C3D10."""

_FACES = ((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1))
"""Corners of the face opposite each corner, counter-clockwise seen from outside."""


def boundary(tets: NDArray[np.integer[Any]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find the faces that belong to one of the tetrahedra (T, 4) or (T, 10) only.

    Returns
    -------
    triangles : (F, 3) counter-clockwise seen from outside. A face of a 10-node tetrahedron is four of them, in a row,
        so that its middle nodes are corners too
    owner : (F,) the tetrahedron of each
    """
    nodes = np.asarray(tets, dtype=np.int64)
    _, inverse, counts = distinct(np.concatenate([nodes[:, face] for face in _FACES]))
    single = np.flatnonzero(counts[inverse] == 1)
    pieces = np.concatenate([nodes[:, _pieces(face, nodes.shape[1])] for face in _FACES])[single]
    return pieces.reshape(-1, 3), np.repeat(single % len(nodes), pieces.shape[1])


def _pieces(face: tuple[int, int, int], nodes: int) -> list[tuple[int, int, int]]:
    """The triangles that a face is drawn with."""
    a, b, c = face
    if nodes == 4:
        return [(a, b, c)]
    middle = {frozenset(edge): 4 + k for k, edge in enumerate(EDGES)}
    ab, bc, ca = (middle[frozenset(pair)] for pair in ((a, b), (b, c), (c, a)))
    return [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
