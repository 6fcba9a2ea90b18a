"""Barycentric coordinates of points in a mesh of tetrahedra: inside one, or just outside its skin."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from posespace.check import Floats, Ints
from posespace.geometry.surface import Surface
from posespace.geometry.tetrahedra import boundary

_CANDIDATES = 24
_BEYOND = 2.0
"""Distance outside a tetrahedron, in its heights, up to which its shape functions are extrapolated."""


def embed(points: Floats, tets: Ints, targets: Floats) -> tuple[Ints, Floats, float]:
    """Embed `targets` (V, 3) in the tetrahedra `tets` (T, 4) over nodes `points` (N, 3).

    Returns
    -------
    element : (V,) int32
    coordinates : (V, 4) barycentric coordinates there, at least -2
    off : the largest distance of a target from its embedded position; 0 unless one lies far outside
    """
    centres = points[tets].mean(axis=1)
    _, near = cKDTree(centres).query(targets, k=min(_CANDIDATES, len(tets)))
    near = near.reshape(len(targets), -1)
    element, best = _roomiest(points, tets, targets, near, near[:, 0])
    outside = np.flatnonzero(best < 0)
    if len(outside):
        faces, owner = boundary(tets)
        nearest = Surface(points, faces).closest(targets[outside]).triangles
        # Neighbours of the nearest one only: another may be deeper, but across a gap between two limbs.
        home = owner[nearest]
        choice = near[outside]
        touching = (tets[choice][:, :, :, None] == tets[home][:, None, None, :]).any(axis=(2, 3))
        choice = np.where(touching, choice, home[:, None])
        element[outside], _ = _roomiest(points, tets, targets[outside], choice, home)
    coordinates = barycentric(points[tets[element]], targets)
    low = coordinates < -_BEYOND
    if low.any():
        coordinates = np.maximum(coordinates, -_BEYOND)
        # The clipped amount is subtracted from the other coordinates in proportion, which keeps the sum at one.
        above = coordinates - coordinates.min(axis=1, keepdims=True)
        coordinates -= above * ((coordinates.sum(axis=1) - 1) / above.sum(axis=1))[:, None]
    reached = np.einsum("vk,vki->vi", coordinates, points[tets[element]])
    return element, coordinates, float(np.linalg.norm(reached - targets, axis=1).max(initial=0.0))


def _roomiest(
    points: Floats, tets: Ints, targets: Floats, choices: NDArray[np.integer[Any]], start: NDArray[np.integer[Any]]
) -> tuple[Ints, Floats]:
    """Of each target's `choices` (V, C), the tetrahedron (V,) it lies deepest in, and its least coordinate there."""
    element = start.astype(np.int32)
    best = barycentric(points[tets[element]], targets).min(axis=1)
    for candidate in choices.T:
        least = barycentric(points[tets[candidate]], targets).min(axis=1)
        better = least > best
        element[better], best[better] = candidate[better], least[better]
    return element, best


def barycentric(corners: Floats, targets: Floats) -> Floats:
    """Return the barycentric coordinates (V, 4) of `targets` (V, 3) in tetrahedra with `corners` (V, 4, 3)."""
    edges = np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2)
    rest = np.linalg.solve(edges, (targets - corners[:, 0])[:, :, None])[:, :, 0]
    return np.concatenate([1 - rest.sum(axis=1, keepdims=True), rest], axis=1)
