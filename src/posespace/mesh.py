"""Mesh: points and triangles, in the vertex order of the file they came from."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posespace import check
from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.geometry.edges import edges_of, neighbours_of
from posespace.geometry.normals import sides_apart, vertex_normals
from posespace.geometry.weld import Weld, weld_points
from posespace.look import Look

UNITS = {"mm": 0.001, "cm": 0.01, "m": 1.0, "in": 0.0254, "ft": 0.3048}
"""Metres per unit of length, by the name of the unit."""


@dataclass(frozen=True, eq=False)
class Mesh:
    """A triangle mesh.

    Parameters
    ----------
    points : (N, 3) float32 or float64, the rest shape in units of `unit`
    triangles : (T, 3) int32, counter-clockwise seen from outside
    face_sizes : (F,) int32 or None, corners of each polygon of the source file. A polygon of k corners is a fan
        of k - 2 successive triangles, so the polygons can be recovered; None means all faces are triangles
    look : materials, images and attributes, or None
    unit : metres per unit of length
    """

    points: Floats
    triangles: Ints
    face_sizes: Ints | None = None
    look: Look | None = None
    unit: float = 1.0

    def __post_init__(self) -> None:
        points = check.floats("mesh points", self.points, ("N", 3), check.LARGEST)
        triangles = check.indices("mesh triangles", self.triangles, ("T", 3), below=len(points))
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "triangles", triangles)
        if self.face_sizes is not None:
            sizes = check.indices("mesh face_sizes", self.face_sizes, ("F",), below=2**31, least=3)
            if int((sizes - 2).sum(dtype=np.int64)) != len(triangles):
                raise InputError(f"mesh face_sizes: they make {(sizes - 2).sum()} triangles, got {len(triangles)}")
            object.__setattr__(self, "face_sizes", sizes)
        look = self.look
        if look is not None and (look.vertex_count, look.triangle_count) != (len(points), len(triangles)):
            made_for = f"one of {look.vertex_count} vertices and {look.triangle_count} triangles"
            raise InputError(f"mesh look: expected that of {len(points)} and {len(triangles)}, got {made_for}")
        if not 0 < check.number("mesh unit", self.unit) < math.inf:
            raise InputError(f"mesh unit: expected metres per unit, above 0, got {self.unit}")

    def __repr__(self) -> str:
        return f"Mesh({len(self.points)} vertices, {len(self.triangles)} triangles)"

    @classmethod
    def from_polygons(cls, points: ArrayLike, corners: ArrayLike, sizes: ArrayLike) -> Mesh:
        """Make a mesh from polygons: `corners` (sum of sizes,) vertex indices, `sizes` (F,) corners of each."""
        counts = check.indices("polygon sizes", sizes, ("F",), below=2**31, least=3)
        flat = check.indices("polygon corners", corners, (int(counts.sum(dtype=np.int64)),), below=2**31)
        starts = np.cumsum(counts) - counts
        fan = np.repeat(starts, counts - 2)
        step = np.arange(len(fan)) - np.repeat(np.cumsum(counts - 2) - (counts - 2), counts - 2)
        triangles = np.stack([flat[fan], flat[fan + step + 1], flat[fan + step + 2]], axis=1)
        return cls(np.asarray(points), triangles, None if (counts == 3).all() else counts)

    def polygons(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the polygons that `from_polygons` took: corners (sum of sizes,) and sizes (F,)."""
        triangles = self.triangles.astype(np.int64)
        if self.face_sizes is None:
            return triangles.ravel(), np.full(len(triangles), 3)
        sizes = self.face_sizes.astype(np.int64)
        # A fan's first triangle gives three corners, each further one its last corner.
        first = np.zeros(len(triangles), dtype=bool)
        first[np.cumsum(sizes - 2) - (sizes - 2)] = True
        keep = np.stack([first, first, np.ones_like(first)], axis=1)
        return triangles[keep], sizes

    @property
    def face_count(self) -> int:
        """Polygons of the source file; triangles where all are triangles."""
        return len(self.triangles) if self.face_sizes is None else len(self.face_sizes)

    @cached_property
    def box(self) -> Floats:
        """(2, 3) lowest and highest corner of the bounding box."""
        if not len(self.points):
            return np.zeros((2, 3))
        return np.stack([self.points.min(axis=0), self.points.max(axis=0)])

    @property
    def diagonal(self) -> float:
        """Length of the bounding box's diagonal: the scale that errors are measured against."""
        return float(np.linalg.norm(self.box[1].astype(np.float64) - self.box[0]))

    @cached_property
    def weld(self) -> Weld:
        """Which vertices share a position: a file that splits vertices at seams repeats them."""
        return weld_points(self.points)

    @cached_property
    def neighbours(self) -> tuple[Ints, Ints]:
        """The vertices that share an edge with each, those that share a position being one: see `neighbours_of`."""
        return neighbours_of(self.weld.groups[self.triangles], len(self.weld.first))

    @cached_property
    def shading(self) -> Weld:
        """Which vertices share normals and corrections: those of one position, not across the two sides of a sheet."""
        return sides_apart(self.points.astype(np.float64), self.triangles, self.weld)

    @property
    def is_watertight(self) -> bool:
        """Whether, seams welded, each edge is shared by exactly two triangles of opposite direction."""
        corners = self.weld.groups[self.triangles]
        corners = corners[(corners != np.roll(corners, 1, axis=1)).all(axis=1)]
        if not len(corners):
            return False
        _, sides, counts = edges_of(corners)
        rising = (corners < np.roll(corners, -1, axis=1)).ravel()
        return bool((counts == 2).all() and (np.bincount(sides.ravel(), rising) == 1).all())

    def with_points(self, points: ArrayLike) -> Mesh:
        """Return the same surface in another shape, `points` (N, 3)."""
        moved = check.floats("mesh points", points, (len(self.points), 3), check.LARGEST)
        return replace(self, points=moved)

    def normals(self, points: ArrayLike | None = None) -> Floats:
        """Return (N, 3) unit vertex normals, weighted by area and shared across seams, not by the two sides of a sheet.

        `points` (N, 3) is another shape of the same mesh. A vertex with no area has the normal (0, 0, 1).
        """
        shape = np.asarray(self.points if points is None else points, dtype=np.float64)
        unit = vertex_normals(shape, self.triangles, self.shading.groups)
        unit[~unit.any(axis=1)] = (0.0, 0.0, 1.0)
        return unit
