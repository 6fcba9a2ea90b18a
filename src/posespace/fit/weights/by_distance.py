"""Skinning weights from distances to the bones, for rigs that have none."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from posespace import check
from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.geometry.edges import edges_of
from posespace.mesh import Mesh
from posespace.skeleton import Skeleton


def distance_weights(
    mesh: Mesh,
    skeleton: Skeleton,
    influences: int = 4,
    power: float = 4.0,
    smoothing: int = 3,
    rest_world: ArrayLike | None = None,
) -> tuple[Ints, Floats]:
    """Return weights that fall off with the distance to the bones in the rest shape.

    A bone at distance d weighs ``(1/d - 1/D)^power``, where D is the distance of the nearest bone that is not used:
    weight and slope fall to zero at the edge of a bone's influence, so no seam shows where the set of bones changes.
    Rounds of averaging over the surface then smooth the kinks between bones.

    Parameters
    ----------
    mesh : the rest shape
    skeleton : its joints; a bone runs from its joint to each child, or in its parent's direction at a tip
    influences : most joints that move a vertex, 1 to 8
    power : of the falloff, above 0
    smoothing : rounds of averaging with neighbouring vertices
    rest_world : (J, 4, 4) each joint's transform to the mesh's space, e.g. `np.linalg.inv(rig.inverse_bind)`; None:
        that of the skeleton's rest pose

    Returns
    -------
    influences : (N, K) int32 joints, strongest first
    weights : (N, K) float64, each row sums to one
    """
    if not 1 <= influences <= 8:
        raise InputError(f"influences: expected 1 to 8, got {influences}")
    if not power > 0 or smoothing < 0:
        raise InputError(f"power and smoothing: expected above 0 and at least 0, got {power} and {smoothing}")
    keep = min(influences, len(skeleton))
    points = np.asarray(mesh.points, dtype=np.float64)
    joints = _joint_positions(mesh, skeleton, rest_world)
    distance = bone_distances(points, skeleton, joints)
    dense = _falling(distance, keep, power, mesh.diagonal)
    for _ in range(smoothing):
        dense = _averaged(mesh, dense)
    return _packed(dense, keep)


def _joint_positions(mesh: Mesh, skeleton: Skeleton, rest_world: ArrayLike | None) -> Floats:
    """The joints (J, 3) in the mesh's space; raises where they are outside the mesh."""
    world = skeleton.rest_world if rest_world is None else rest_world
    joints = check.transforms("rest_world", world, (len(skeleton), 4, 4), skeleton.names)[:, :3, 3]
    gap = np.maximum(mesh.box[0] - joints.max(axis=0), joints.min(axis=0) - mesh.box[1]).max()
    if gap > 0.1 * mesh.diagonal:
        raise InputError("distance_weights: the joints are outside the mesh; give rest_world, or check unit and axes")
    return joints


def _packed(dense: Floats, keep: int) -> tuple[Ints, Floats]:
    """The `keep` largest weights of each vertex, strongest first, scaled to sum to one: joints and weights (N, K)."""
    order = np.argsort(-dense, axis=1, kind="stable").astype(np.int32)
    packed = np.take_along_axis(dense, order, axis=1)
    if keep < packed.shape[1]:
        # Averaging spread the weights to more joints: the first one that is dropped becomes zero, except for ties.
        lowered = np.maximum(packed - packed[:, keep : keep + 1], 0)
        packed = np.where(lowered[:, :1] > 0, lowered, packed)
    packed = packed[:, :keep]
    return order[:, :keep], packed / packed.sum(axis=1, keepdims=True)


def bone_distances(points: Floats, skeleton: Skeleton, origins: Floats) -> Floats:
    """Return the distance (N, J) from each point (N, 3) to each joint's bone; `origins` (J, 3) are the joints."""
    distance = np.full((len(points), len(skeleton)), np.inf)
    for joint, children in enumerate(skeleton.children):
        for end in _bone_ends(origins, joint, children, int(skeleton.parents[joint])):
            distance[:, joint] = np.minimum(distance[:, joint], _segment_distance(points, origins[joint], end))
    return distance


def _bone_ends(origins: Floats, joint: int, children: tuple[int, ...], parent: int) -> list[Floats]:
    if children:
        return [origins[child] for child in children]
    if parent < 0:
        return [origins[joint]]
    return [origins[joint] + 0.6 * (origins[joint] - origins[parent])]


def _segment_distance(points: Floats, start: Floats, end: Floats) -> Floats:
    along = end - start
    length = float(along @ along)
    t = np.clip((points - start) @ along / length, 0, 1) if length > 0 else np.zeros(len(points))
    gap: Floats = np.linalg.norm(points - start - t[:, None] * along, axis=1)
    return gap


def _falling(distance: Floats, keep: int, power: float, scale: float) -> Floats:
    near = np.maximum(distance, 1e-9 * max(scale, 1e-30))
    if keep < near.shape[1]:
        edge = np.partition(near, keep, axis=1)[:, keep : keep + 1]
    else:
        edge = np.full((len(near), 1), np.inf)
    # Relative to the nearest bone, so that no power overflows; if all are tied, the nearest have equal weights.
    nearest = near.min(axis=1, keepdims=True)
    raw = np.maximum(nearest / near - nearest / edge, 0) ** power
    total = raw.sum(axis=1, keepdims=True)
    tied = (near <= nearest).astype(np.float64)
    dense: Floats = np.where(total > 0, raw, tied)
    dense /= dense.sum(axis=1, keepdims=True)
    return dense


def _averaged(mesh: Mesh, dense: Floats) -> Floats:
    """The mean of each vertex's weights and the mean of its neighbours'; vertices at a seam stay equal.

    A neighbour counts once for each triangle that the two share.
    """
    groups, count = mesh.weld.groups, len(mesh.weld.first)
    ends, _, shared = edges_of(groups[mesh.triangles])
    welded = mesh.weld.gather(dense)
    total, degree = np.zeros_like(welded), np.zeros(count)
    for here, there in (ends.T, ends[:, ::-1].T):
        np.add.at(total, here, shared[:, None] * welded[there])
        degree += np.bincount(here, shared, minlength=count)
    alone = degree == 0
    total[alone], degree[alone] = welded[alone], 1
    mixed = 0.5 * welded + 0.5 * total / degree[:, None]
    return mesh.weld.scatter(mixed)
