"""The rig of a surface with control points: a root, a joint for each point, and simple weights for plain skinning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from posespace.check import Floats
from posespace.mesh import Mesh
from posespace.rig import Rig
from posespace.skeleton import Skeleton
from posespace.skin.bones.learned import ROOT

_SHARED = 4
"""Most points that move a vertex in plain skinning."""


def control_rig(mesh: Mesh, points: Sequence[int], distances: Floats) -> Rig:
    """Return the rig of a mesh with control points on vertices, `distances` (M, N) from them over the surface.

    In plain skinning a vertex moves with its nearest points. A point at distance d has the weight (1/d - 1/D)², where D
    is the distance of the nearest point that is not used.
    """
    count = len(points)
    world = np.tile(np.eye(4), (count + 1, 1, 1))
    world[1:, :3, 3] = mesh.points[list(points)]
    names = [ROOT, *(f"point{k}" for k in range(1, count + 1))]
    skeleton = Skeleton.from_world(names, [-1, *([0] * count)], world)
    kept = min(_SHARED, count)
    # A part of the surface without points is far from all of them, so that all have about the same weight.
    far = np.where(np.isfinite(distances), distances, 10 * mesh.diagonal + 1e-30).T + 1e-6 * mesh.diagonal + 1e-30
    order = np.argsort(far, axis=1, kind="stable")[:, : kept + 1]
    near = np.take_along_axis(far, order, axis=1)
    end = near[:, -1:] * (1 + 1e-3) if near.shape[1] > kept else np.inf
    weights = (1 / near[:, :kept] - 1 / end) ** 2
    return Rig(mesh, skeleton, order[:, :kept].astype(np.int32) + 1, weights / weights.sum(axis=1, keepdims=True))
