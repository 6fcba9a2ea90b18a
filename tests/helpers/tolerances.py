"""How far a player in single precision may be from the reference, vertex by vertex.

Points are within 1e-5 of the size of the shape, anywhere. A normal is only as good as what it is computed from: where
triangles are slivers, cancel one another or have no area, or where a blend is flat, moving the points by what single
precision rounds moves the normal by any amount. Detail is moved along such normals, by its height.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.geometry.normals import area_vectors, vertex_sums
from posespace.geometry.subdivision import levels_of
from posespace.mesh import Mesh
from posespace.pose import Pose
from posespace.rig import BLENDINGS
from posespace.skin.skin import Skin

POINTS, ROUNDING, NORMALS = 1e-5, 5e-6, 1e-3
"""Of points, over the size; of the points that normals are computed from, over the size; of well-defined normals."""


class Tolerances(NamedTuple):
    """The largest distance of points (N,) and of unit normals (N,) from those of the reference."""

    points: NDArray[np.float64]
    normals: NDArray[np.float64]


def tolerances(skin: Skin, pose: Pose) -> Tolerances:
    """Return how far a player of a skin may be off in a pose."""
    points, _ = skin.pose(pose)
    size = max(skin.rig.mesh.diagonal, float(np.abs(points).max(initial=0.0)), 1e-30)
    off = np.full(len(points), POINTS * size)
    if skin.detail is not None:
        flat, _ = replace(skin, detail=None).pose(pose)
        for level in levels_of(skin.rig.mesh.triangles, len(flat), skin.detail.levels):
            flat = level.refine(flat)
        heights = np.linalg.norm(points - flat, axis=1)
        off += heights * _of_surface(skin.mesh, flat, np.full(len(flat), ROUNDING * size))
        return Tolerances(off, NORMALS + _of_surface(skin.mesh, points, off))
    if skin.carries_normals:
        return Tolerances(off, NORMALS + _of_blends(skin, pose))
    return Tolerances(off, NORMALS + _of_surface(skin.mesh, points, np.full(len(points), ROUNDING * size)))


def _of_surface(mesh: Mesh, points: NDArray[np.floating], off: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far normals (N,) move if points (N, 3) move by up to `off` (N,): 2 at most, the farthest that they can."""
    triangles, groups = mesh.triangles, mesh.shading.groups
    a, b, c = (points[triangles[:, corner]] for corner in range(3))
    edges = sum(np.linalg.norm(edge, axis=1) for edge in (b - a, c - b, a - c))
    moved = off[triangles].max(axis=1)
    total, change = np.zeros((len(mesh.shading.first), 3)), np.zeros(len(mesh.shading.first))
    for corner in range(3):
        np.add.at(total, groups[triangles[:, corner]], np.cross(b - a, c - a))
        np.add.at(change, groups[triangles[:, corner]], moved * (edges + moved))
    length = np.linalg.norm(total, axis=1)
    return np.minimum(2.0, 2.0 * change / np.maximum(length, 0.5 * change + 1e-300))[groups]


def _of_blends(skin: Skin, pose: Pose) -> NDArray[np.float64]:
    """How far normals (N,) that the bones carry move where the blends of their transforms are nearly flat."""
    blend = BLENDINGS[skin.rig.blending](skin.transforms(pose), *skin.binding[:2])
    largest, middle, least = np.linalg.svd(blend[..., :3], compute_uv=False).T
    return np.minimum(2.0, 1e-6 * largest**2 / np.maximum(middle * least, 1e-30))


def has_normal(mesh: Mesh, points: Floats) -> NDArray[np.bool_]:
    """Where the areas around a vertex do not cancel: elsewhere rounding decides about its normal."""
    areas, groups = area_vectors(points, mesh.triangles), mesh.shading.groups
    corners, count = groups[mesh.triangles], int(groups.max()) + 1
    total = np.linalg.norm(vertex_sums(areas, corners, count), axis=1)
    return np.asarray(
        (total > 1e-3 * vertex_sums(np.linalg.norm(areas, axis=1)[:, None], corners, count)[:, 0])[groups]
    )
