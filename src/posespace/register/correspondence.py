"""Correspondence of triangles between two meshes, by registering one onto the other."""

from __future__ import annotations

import numpy as np

from posespace.check import Floats, Ints
from posespace.formats.landmarks import Spots
from posespace.geometry.normals import area_vectors
from posespace.geometry.surface import Surface
from posespace.mesh import Mesh
from posespace.register.align import Alignment
from posespace.register.registration import Registrar, Registration

_FAR = 0.05
"""A triangle follows none that is farther from it than this fraction of the diagonal, once both are registered."""

_AGREE = 0.0
"""Least cosine between the normals of two triangles, one of which follows the other."""

_SAME_AXES = 0.8
"""Cosine of a rotation above which the axes are the same: landmarks of two builds differ by that much."""


def triangle_correspondence(
    source: Mesh, target: Mesh, source_landmarks: Spots, target_landmarks: Spots, force: bool = False
) -> tuple[Ints, Floats | None]:
    """Return the arguments of `transfer` for two meshes, by registering the source onto the target.

    Parameters
    ----------
    source, target : the meshes, at rest in about the same pose
    source_landmarks, target_landmarks : vertices or positions, by name; those that both have are used
    force : use landmarks that seem to be wrong too, instead of refusing them

    Returns
    -------
    follows : (T,) the source's triangle that each triangle of the target follows, -1 for none
    rotation : (3, 3) from the source's axes to the target's; None where they are the same
    """
    settings = Registration(stretch=True, force=force)
    fitted = Registrar(source, source_landmarks, settings).register(target, target_landmarks)
    moved = fitted.alignment.moved(target.points)
    return nearest_triangles(fitted.points, source.triangles, moved, target.triangles), _axes_rotation(fitted.alignment)


def nearest_triangles(source: Floats, source_triangles: Ints, target: Floats, triangles: Ints) -> Ints:
    """Return for each of `triangles` (T, 3) the nearest source triangle that faces its way, -1 where that is far off.

    Both meshes, `source` (S, 3) and `target` (N, 3), are aligned.
    """
    goal = np.asarray(target, dtype=np.float64)
    vectors = area_vectors(goal, triangles)
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    facing = vectors / np.where(length > 0, length, 1.0)
    middles = goal[triangles].mean(axis=1)
    surface = Surface(source, source_triangles)
    closest = surface.closest(middles, facing)
    size = float(np.linalg.norm(np.ptp(goal, axis=0)))
    near = ((closest.points - middles) ** 2).sum(axis=1) < (_FAR * size) ** 2
    near &= (surface.normals[closest.triangles] * facing).sum(axis=1) > _AGREE
    return np.where(near, closest.triangles, -1).astype(np.int32)


def _axes_rotation(alignment: Alignment) -> Floats | None:
    cosine = (float(np.trace(alignment.rotation)) - 1) / 2
    return None if cosine > _SAME_AXES else alignment.rotation.T
