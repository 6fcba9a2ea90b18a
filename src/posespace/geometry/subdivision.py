"""Subdivision: each triangle in four at its edges' midpoints, so that coarse and fine levels correspond."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posespace.check import Floats, Ints


@dataclass(frozen=True, eq=False)
class Subdivision:
    """One level: fine vertices are the coarse ones, then one a coarse edge.

    Parameters
    ----------
    edges : (E, 2) int32, the coarse vertices whose midpoint is fine vertex N + e
    triangles : (4T, 3) int32, the fine surface
    """

    edges: Ints
    triangles: Ints

    def refine(self, values: Floats) -> Floats:
        """Return per-vertex values (N + E, ...) of the fine level from `values` (N, ...) of the coarse one."""
        middle = (values[self.edges[:, 0]] + values[self.edges[:, 1]]) / 2
        return np.concatenate([values, middle.astype(values.dtype, copy=False)])


def subdivide(triangles: Ints, vertex_count: int) -> Subdivision:
    """Split triangles (T, 3) of a mesh of `vertex_count` vertices."""
    corners = np.asarray(triangles, dtype=np.int64)
    sides = np.stack([corners, np.roll(corners, -1, axis=1)], axis=-1).reshape(-1, 2)
    low, high = sides.min(axis=1), sides.max(axis=1)
    keys, inverse = np.unique(low * vertex_count + high, return_inverse=True)
    edges = np.stack([keys // max(1, vertex_count), keys % max(1, vertex_count)], axis=1).astype(np.int32)
    middle = (vertex_count + inverse.ravel()).reshape(-1, 3)
    a, b, c = corners.T
    ab, bc, ca = middle.T
    fine = np.stack([a, ab, ca, ab, b, bc, ca, bc, c, ab, bc, ca], axis=1).reshape(-1, 3)
    return Subdivision(edges, fine.astype(np.int32))


def levels_of(triangles: Ints, vertices: int, count: int) -> tuple[Subdivision, ...]:
    """Return `count` levels of a mesh of some `vertices`, each a subdivision of the one before."""
    levels: list[Subdivision] = []
    for _ in range(count):
        level = subdivide(triangles, vertices)
        levels.append(level)
        triangles, vertices = level.triangles, vertices + len(level.edges)
    return tuple(levels)


def fine_vertex_count(triangles: Ints, vertices: int, levels: int) -> int:
    """Return how many vertices `levels` subdivisions of a mesh give, without making them."""
    faces = len(triangles)
    edges = len(subdivide(triangles, vertices).edges) if levels else 0
    for _ in range(levels):
        vertices += edges
        # Each edge splits in two and each triangle gains three inner edges.
        edges, faces = 2 * edges + 3 * faces, 4 * faces
    return vertices
