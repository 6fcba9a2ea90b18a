"""Subdivision: each triangle in four at its edges' midpoints, so that coarse and fine levels correspond."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.geometry.edges import edges_of

MOST_LEVELS = 6
"""How often a surface is subdivided at most: each level has four times the triangles."""


_MOST_A_VERTEX = 64
"""Most fine triangles per fine vertex or coarse triangle: triangles that are there once have about six at most."""


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
    """Return how many vertices a mesh has after `levels` subdivisions, without making them.

    Raises where these would have far more triangles than vertices: a file could ask for any number of them.
    """
    if not levels:
        return vertices
    ends = edges_of(triangles).ends
    loops = int((ends[:, 0] == ends[:, 1]).sum())
    edges = len(ends) - loops
    # Triangles of the same corners have the same edges on all levels. `flat` name a vertex twice, `points` three times.
    a, b, c = _distinct_corners(triangles)
    is_point, is_flat = a == c, ((a == b) | (b == c)) & (a != c)
    points, flat = int(is_point.sum()), int(is_flat.sum())
    faces = len(a) - points - flat
    pairs = len(np.unique(np.stack([a, c], axis=1)[is_flat], axis=0))
    for _ in range(levels):
        vertices += edges + loops
        # Each edge splits in two, but one from a vertex to itself stays one. A triangle gains three inner edges, a flat
        # a a b, with n in the middle of a and b, two, of which n n is also that of b b a.
        edges, loops = 2 * edges + loops + 3 * faces + flat, pairs + points
        faces, flat = 4 * faces + flat, 2 * flat + points
        pairs = flat
    if len(triangles) * 4**levels > _MOST_A_VERTEX * (vertices + len(triangles)):
        raise InputError(f"mesh: expected most triangles once where it is subdivided {levels} times; merge equal ones")
    return vertices


def _distinct_corners(triangles: Ints) -> tuple[Ints, Ints, Ints]:
    """The corners of triangles (T, 3) of different corners, the lowest first; of the same ones once."""
    corners = np.sort(triangles, axis=1)
    corners = corners[np.lexsort((corners[:, 2], corners[:, 1], corners[:, 0]))]
    is_new = np.append(True, (corners[1:] != corners[:-1]).any(axis=1))[: len(corners)]
    a, b, c = corners[is_new].T
    return a, b, c
