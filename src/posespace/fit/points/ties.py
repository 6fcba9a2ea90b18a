"""Ties: pieces of the surface without a control point are held by the pieces with one that they rest beside."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial import cKDTree

from posespace.check import Floats, Ints
from posespace.geometry.pieces import pieces_of
from posespace.mesh import Mesh


def ties_of(mesh: Mesh, points: Sequence[int], influences: Ints, weights: Floats) -> Ints | None:
    """Return pairs (E, 2) of vertices, of pieces without a control point and of those with one; None: none is needed.

    Each bone that moves vertices of such a piece more than other bones do is tied, at the one of these that is nearest
    to a piece with a control point: a large piece does not hang by one of its ends.

    Parameters
    ----------
    mesh : the rest shape
    points : (M,) the vertices of the control points
    influences, weights : (N, K) the bones of each vertex and their weights
    """
    pieces = pieces_of(mesh.triangles, len(mesh.points))
    loose, held = _loose_and_held(pieces, mesh, points)
    if not len(loose):
        return None
    gaps, nearest = map(np.asarray, cKDTree(mesh.points[held]).query(mesh.points[loose]))
    parts = np.stack([pieces[loose], influences[loose, weights[loose].argmax(axis=1)]], axis=1)
    order = np.lexsort((gaps, parts[:, 1], parts[:, 0]))
    chosen = order[np.unique(parts[order], axis=0, return_index=True)[1]]
    return np.stack([loose[chosen], held[nearest[chosen]]], axis=1).astype(np.int32)


def loose_pieces(mesh: Mesh, points: Sequence[int]) -> int:
    """Return how many pieces of a surface have none of the control points on vertices `points`."""
    pieces = pieces_of(mesh.triangles, len(mesh.points))
    return len(np.unique(pieces[_loose_and_held(pieces, mesh, points)[0]]))


def _loose_and_held(pieces: Ints, mesh: Mesh, points: Sequence[int]) -> tuple[Ints, Ints]:
    """The vertices of triangles whose piece has no control point, and the vertices whose piece has one."""
    is_held = np.isin(pieces, pieces[list(points)])
    held = np.flatnonzero(is_held)
    return np.setdiff1d(mesh.triangles, held), held.astype(np.int32)
