"""Normals of triangles and of their vertices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats, Ints
from posespace.geometry.weld import Weld

_CANCELLED = 1e-3
"""Areas around a position cancel where their sum is below this share of them: two sides of a sheet, not an edge."""


def area_vectors(points: Floats, triangles: NDArray[np.integer[Any]]) -> Floats:
    """Return the normals (T, 3) of triangles (T, 3) of points (N, 3), each twice as long as its triangle's area."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    vectors: Floats = np.cross(b - a, c - a)
    return vectors


def vertex_sums(values: Floats, triangles: NDArray[np.integer[Any]], count: int) -> Floats:
    """Return the sums (count, C) at each vertex of the values (T, C) of the triangles around it."""
    corners = triangles.ravel()
    return np.stack([np.bincount(corners, np.repeat(column, 3), minlength=count) for column in values.T], axis=1)


def vertex_normals(points: Floats, triangles: NDArray[np.integer[Any]], groups: Ints | None = None) -> Floats:
    """Return unit normals (N, 3), weighted by area; zero where a vertex has no area around it.

    Parameters
    ----------
    points : (N, 3)
    triangles : (T, 3), counter-clockwise seen from outside
    groups : (N,) or None; vertices of one group share their normal, as those of a seam do
    """
    corners = triangles if groups is None else groups[triangles]
    count = len(points) if groups is None else int(groups.max(initial=-1)) + 1
    total = vertex_sums(area_vectors(points, triangles), corners, count)
    length = np.linalg.norm(total, axis=1, keepdims=True)
    unit: Floats = total / np.where(length > 0, length, 1.0)
    return unit if groups is None else unit[groups]


def sides_apart(points: Floats, triangles: NDArray[np.integer[Any]], weld: Weld) -> Weld:
    """Return which vertices share a normal: those of one position, except on the two sides of a sheet.

    Hair, leaves and cloth are often sheets with a second side at the same positions, facing the other way. The
    normals of the two sides cancel, and only rounding is left.

    Parameters
    ----------
    points : (N, 3)
    triangles : (T, 3)
    weld : which vertices share a position
    """
    areas = area_vectors(points, triangles)
    vertex_areas = vertex_sums(areas, triangles, len(points))
    around = vertex_sums(areas, weld.groups[triangles], len(weld.first))
    size = vertex_sums(np.linalg.norm(areas, axis=1)[:, None], weld.groups[triangles], len(weld.first))[:, 0]
    cancelled = np.linalg.norm(around, axis=1) < _CANCELLED * size
    facing = (vertex_areas * vertex_areas[weld.first][weld.groups]).sum(axis=1)
    other = cancelled[weld.groups] & (facing < 0)
    if not other.any():
        return weld
    return Weld.of(2 * weld.groups.astype(np.int64) + other)
