"""Symmetry of a rig: its mirror plane, and the counterpart of each joint on the other side."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from posespace import check
from posespace.check import Floats, Ints
from posespace.errors import InputError
from posespace.rig import Rig
from posespace.skeleton import Skeleton, side_of

_JOINT_TOLERANCE = 0.05
"""Of the skeleton's box: a joint that rests this near the mirror image of another may be its counterpart."""

_AXIS_ANGLE = np.cos(np.radians(10.0))
"""A normal within 10 degrees of a coordinate axis is that axis: rest poses are symmetric only roughly."""

_SAMPLES = 2000
"""Approximate number of vertices that decide the position of the plane."""


@dataclass(frozen=True, eq=False)
class MirrorPlane:
    """A plane that takes each side of a rig to the other.

    Parameters
    ----------
    normal : (3,) unit vector
    offset : of the plane from the origin along the normal
    """

    normal: Floats
    offset: float = 0.0

    @property
    def reflection(self) -> Floats:
        """(3, 3) symmetric matrix that reflects directions."""
        return np.asarray(np.eye(3) - 2 * np.outer(self.normal, self.normal))

    def image(self, points: Floats) -> Floats:
        """Return the mirror images (..., 3) of points (..., 3)."""
        return np.asarray(points @ self.reflection + 2 * self.offset * self.normal)


def skeleton_plane(skeleton: Skeleton, normal: ArrayLike | None = None) -> MirrorPlane:
    """Return the plane midway between the joints that names pair. Default `normal` (3,): from them too."""
    positions, pairs = skeleton.rest_world[:, :3, 3], _named_pairs(skeleton)
    unit = _side_axis(positions, pairs) if normal is None else _unit(normal)
    middles = 0.5 * (positions[pairs[:, 0]] + positions[pairs[:, 1]]) if len(pairs) else positions
    return MirrorPlane(unit, float(np.median(middles @ unit)))


def bind_skeleton(rig: Rig) -> Skeleton:
    """Return the rig's skeleton with the pose in which its mesh was bound as its rest.

    In many files the two differ, up to the axis that points up; the mesh is symmetric in the first.
    """
    frames = rig.skeleton.local_frames.astype(np.float64)
    translations = rig.rest.translations[..., None]
    frames[:, :3, 3:] += frames[:, :3, :3] @ translations
    return replace(rig.skeleton, local_frames=frames, rest_rotations=rig.rest.rotations)


def rig_plane(rig: Rig, normal: ArrayLike | None = None) -> MirrorPlane:
    """Return the plane across which most of the rest shape lies on itself.

    It goes through the origin, the middle of the box or midway between paired joints: hair, clothes and what a hand
    holds move the middle of the box.
    """
    from scipy.spatial import KDTree

    plane = skeleton_plane(bind_skeleton(rig), normal)
    points = rig.mesh.points[rig.mesh.weld.first].astype(np.float64)
    if not len(points):
        return plane
    middle = float(rig.mesh.box.astype(np.float64).mean(axis=0) @ plane.normal)
    planes = [plane, MirrorPlane(plane.normal, middle), MirrorPlane(plane.normal, 0.0)]
    tree, sampled = KDTree(points), points[:: 1 + len(points) // _SAMPLES]
    return min(planes, key=lambda candidate: float(np.median(tree.query(candidate.image(sampled))[0])))


def counterparts(skeleton: Skeleton, plane: MirrorPlane) -> Ints:
    """Return (J,) the joint on the other side of each joint; a joint in the middle is its own.

    The name decides where the joint of that name rests near the mirror image. Where it does not, as in files that
    number the joints of each side in an order of its own, the joint nearest the mirror image is taken, of those whose
    names tell the other side.
    """
    positions = skeleton.rest_world[:, :3, 3]
    extent = float(np.linalg.norm(np.ptp(positions, axis=0)))
    gaps = np.linalg.norm(plane.image(positions)[:, None] - positions, axis=2)
    every, named = np.arange(len(skeleton)), skeleton.counterparts
    counterpart = named.copy()
    near = _JOINT_TOLERANCE * extent
    settled = (named != every) & (gaps[every, named] <= near)
    # Joints that a name settles are no candidates for others.
    sides = np.array([{"l": 1, "r": -1}.get(side_of(name), 0) for name in skeleton.names])
    open_to = (sides[:, None] * sides < 0) & ~settled[:, None] & ~settled
    free = np.where(open_to, gaps, np.inf)
    nearest = free.argmin(axis=1)
    mutual = (nearest[nearest] == every) & (free.min(axis=1) <= near)
    counterpart[mutual] = nearest[mutual]
    # A name that another joint has taken counts no longer, so that no two joints have one counterpart.
    stray = counterpart[counterpart] != every
    counterpart[stray] = every[stray]
    return counterpart.astype(np.int32)


def _named_pairs(skeleton: Skeleton) -> Ints:
    """Joints (K, 2) that names pair, each pair once."""
    every = np.arange(len(skeleton), dtype=np.int32)
    first = every[skeleton.counterparts > every]
    return np.stack([first, skeleton.counterparts[first]], axis=1)


def _side_axis(positions: Floats, pairs: Ints) -> Floats:
    """The direction (3,) along which paired joints lie apart; x where none are."""
    apart = positions[pairs[:, 0]] - positions[pairs[:, 1]]
    if not np.abs(apart).max(initial=0.0) > 0:
        return np.array([1.0, 0.0, 0.0])
    unit = np.linalg.svd(apart, full_matrices=False)[2][0]
    axis = int(np.abs(unit).argmax())
    if abs(unit[axis]) >= _AXIS_ANGLE:
        return np.asarray(np.eye(3)[axis])
    return np.asarray(unit * np.sign(unit[axis]))


def _unit(normal: ArrayLike) -> Floats:
    direction = check.floats("mirror normal", normal, (3,)).astype(np.float64)
    length = float(np.linalg.norm(direction))
    if length == 0:
        raise InputError("mirror normal: expected a direction, got (0, 0, 0)")
    return np.asarray(direction / length)
