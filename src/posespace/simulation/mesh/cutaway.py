"""A look inside: the tetrahedra on one side of a plane, with the bones that this lays bare."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from posespace import check
from posespace.check import Floats, Ints
from posespace.geometry.edges import distinct
from posespace.geometry.tetrahedra import boundary
from posespace.simulation.bodies import capsules
from posespace.simulation.bodies.body import Bone
from posespace.simulation.mesh.tetmesh import TetMesh

SKIN = (0.86, 0.66, 0.56)
FLESH = (0.78, 0.36, 0.33)
BONE = (0.95, 0.93, 0.84)


def cut_open(
    tetmesh: TetMesh, bones: Sequence[Bone], plane_point: ArrayLike, plane_normal: ArrayLike
) -> tuple[Floats, Ints, Floats]:
    """Return the surface of what lies behind a plane, for a picture.

    Parameters
    ----------
    tetmesh : the tetrahedra; those with their middle in front of the plane are removed whole
    bones : drawn whole and round; they hide the flat walls of their cavities
    plane_point, plane_normal : (3,) a point of the plane, and the direction that is removed

    Returns
    -------
    points : (M, 3), three for each triangle, so that each can have its own colour and normal
    triangles : (K, 3)
    colors : (M, 3) from 0 to 1: skin, cut flesh, bone
    """
    origin = check.floats("plane_point", plane_point, (3,))
    normal = check.floats("plane_normal", plane_normal, (3,))
    behind = (tetmesh.points[tetmesh.tets].mean(axis=1) - origin) @ normal <= 0
    faces, _ = boundary(tetmesh.tets[behind])
    outer, _ = boundary(tetmesh.tets)
    outer = outer[(tetmesh.bone_of[outer] < 0).any(axis=1)]
    _, which, counts = distinct(np.concatenate([faces, outer]))
    is_skin = counts[which[: len(faces)]] == 2
    corners = [tetmesh.points[faces]]
    shades = [np.where(is_skin[:, None], SKIN, FLESH)]
    for bone in bones:
        points, triangles = capsules.surface(bone, 0.3 * max(bone.start_radius, bone.end_radius))
        corners.append(points[triangles])
        shades.append(np.tile(BONE, (len(triangles), 1)))
    places = np.concatenate(corners).reshape(-1, 3)
    colors = np.repeat(np.concatenate(shades), 3, axis=0)
    return places, np.arange(len(places), dtype=np.int32).reshape(-1, 3), colors
