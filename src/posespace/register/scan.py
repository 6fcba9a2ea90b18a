"""The surface of a scan as a target: its smooth low-resolution version, and its valid closest points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats, Ints
from posespace.geometry.edges import edges_of
from posespace.geometry.normals import vertex_normals
from posespace.geometry.simplify import simplified, smoothed
from posespace.geometry.surface import Closest, Surface

_ON = 1e-6
"""A share of a corner below this is none: the point is on the opposite edge."""

_AGREE = 0.35
"""Least cosine between the normals of a vertex and of its valid closest point: 70 degrees."""


@dataclass(frozen=True, eq=False)
class Target:
    """A surface with its border known.

    Parameters
    ----------
    surface : the triangles
    open_sides : (T, 3) whether the side opposite each corner has no other triangle
    open_corners : (T, 3) whether each corner is on such a side
    normals : (N, 3) of its vertices
    """

    surface: Surface
    open_sides: NDArray[np.bool_]
    open_corners: NDArray[np.bool_]
    normals: Floats

    @classmethod
    def of(cls, points: Floats, triangles: Ints) -> Target:
        """The surface of triangles, at least one."""
        edges = edges_of(triangles)
        alone = edges.counts == 1
        border = np.zeros(len(points), dtype=bool)
        border[edges.ends[alone].ravel()] = True
        # Sides are from corner 0 to 1, 1 to 2 and 2 to 0: opposite corners 2, 0 and 1.
        opposite = alone[edges.sides][:, [1, 2, 0]]
        return cls(Surface(points, triangles), opposite, border[triangles], vertex_normals(points, triangles))

    @classmethod
    def smooth(cls, points: Floats, triangles: Ints, most: int, passes: int) -> Target:
        """The smooth surface of a scan, of at most about `most` triangles."""
        fewer, faces = simplified(points, triangles, most)
        return cls.of(smoothed(fewer, faces, passes), faces)

    def closest(self, queries: Floats, normals: Floats, reach: float) -> tuple[Closest, NDArray[np.bool_]]:
        """Return the points closest to `queries` (Q, 3), facing as `normals` (Q, 3), and which (Q,) are valid.

        Valid: within `reach`, of a normal that agrees, and not on the border of the scan.
        """
        closest = self.surface.closest(queries, normals)
        corners = self.surface.triangles[closest.triangles]
        facing = np.einsum("qk,qki->qi", closest.shares, self.normals[corners])
        agree = (facing * normals).sum(axis=1) > _AGREE * np.linalg.norm(facing, axis=1)
        absent = closest.shares < _ON
        border = (absent & self.open_sides[closest.triangles]).any(axis=1)
        border |= ((closest.shares > 1 - _ON) & self.open_corners[closest.triangles]).any(axis=1)
        near = ((closest.points - queries) ** 2).sum(axis=1) < reach**2
        return closest, agree & near & ~border
