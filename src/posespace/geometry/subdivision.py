"""Subdivision: each triangle in four at its edges' midpoints, so that coarse and fine levels correspond."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posespace.check import Floats, Ints
from posespace.geometry.edges import edges_of

MOST_LEVELS = 6
"""How often a surface is subdivided at most: each level has four times the triangles."""


@dataclass(frozen=True, eq=False)
class Subdivision:
    """One level: the fine vertices are the coarse ones, then one per coarse edge.

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
    ends, sides, _ = edges_of(triangles)
    middle = vertex_count + sides.astype(np.int64)
    a, b, c = triangles.T
    ab, bc, ca = middle.T
    fine = np.stack([a, ab, ca, ab, b, bc, ca, bc, c, ab, bc, ca], axis=1).reshape(-1, 3)
    return Subdivision(ends, fine.astype(np.int32))


def levels_of(triangles: Ints, vertices: int, count: int) -> tuple[Subdivision, ...]:
    """Return `count` levels of a mesh of `vertices` vertices, each a subdivision of the one before."""
    levels: list[Subdivision] = []
    for _ in range(count):
        level = subdivide(triangles, vertices)
        levels.append(level)
        triangles, vertices = level.triangles, vertices + len(level.edges)
    return tuple(levels)


def fine_vertex_count(triangles: Ints, vertices: int, levels: int) -> int:
    """Return how many vertices a mesh has after `levels` subdivisions, without making them."""
    faces = len(triangles)
    edges = len(subdivide(triangles, vertices).edges) if levels else 0
    for _ in range(levels):
        vertices += edges
        # Each edge splits in two and each triangle gains three inner edges.
        edges, faces = 2 * edges + 3 * faces, 4 * faces
    return vertices
