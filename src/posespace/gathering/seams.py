"""Seams: vertices that a rig's file holds several times, for texture coordinates and normals, and that move as one."""

from __future__ import annotations

import numpy as np

from posespace.check import Floats
from posespace.geometry.normals import sides_apart
from posespace.geometry.weld import Weld
from posespace.geometry.weld_within import weld_within
from posespace.mesh import Mesh
from posespace.rig import Rig

ROUNDING = 1e-5
"""Vertices within this distance, in diagonals, share a position: rounding in a file is less."""

OPEN = 1e-4
"""A seam is open if its gap exceeds this fraction of the diagonal: two tenths of a millimetre on a person."""

_SAME_WEIGHT = 2e-3
"""Weights that differ by less are the same: files hold them in 8 bits."""


def seams_of(rig: Rig) -> Weld:
    """Return which vertices of a rig are one: at one position, of one mesh, with the same weights, on one side.

    The two sides of a sheet, an eyelid on an eye and parts with other weights stay apart, since they may come apart
    when posed or sculpted. So do corners of one triangle.
    """
    mesh = rig.mesh
    weld = weld_within(mesh.points, ROUNDING * mesh.diagonal)
    weld = sides_apart(mesh.points.astype(np.float64), mesh.triangles, weld)
    weld = weld.split_unlike(np.column_stack([_slots(rig), _mesh_numbers(mesh)]), _SAME_WEIGHT)
    return weld.without_collapse(mesh.triangles)


def tears(seams: Weld, points: Floats) -> Floats:
    """Return the distance of each vertex (N,) of a shape (N, 3) from the first one that a seam split it from."""
    shape = np.asarray(points, np.float64)
    return np.asarray(np.linalg.norm(shape - shape[seams.first[seams.groups]], axis=1))


def _slots(rig: Rig) -> Floats:
    """The joints and weights of each vertex (N, 2 K), in the order of the joints, so that they can be compared."""
    unused = rig.weights <= _SAME_WEIGHT
    joints = np.where(unused, len(rig.skeleton), rig.influences)
    order = np.argsort(joints, axis=1, kind="stable")
    weights = np.where(unused, 0.0, rig.weights)
    return np.concatenate([np.take_along_axis(values, order, axis=1) for values in (joints, weights)], axis=1)


def _mesh_numbers(mesh: Mesh) -> Floats:
    """The number of the mesh that each vertex (N,) was joined from."""
    if mesh.look is None:
        return np.zeros(len(mesh.points))
    return np.repeat(mesh.look.blocks[:, 0], mesh.look.blocks[:, 1]).astype(np.float64)
