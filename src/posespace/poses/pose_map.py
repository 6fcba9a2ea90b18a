"""PoseMap: the poses of sculpts on a plane through the rest pose, and the pose at any point of the plane."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posespace import check
from posespace.check import Floats
from posespace.errors import InputError, suggestion
from posespace.motion import LEAST_CONTROL, Motion
from posespace.pose import Pose
from posespace.poses.active import (
    Active,
    active_in_poses,
    rotated_from_rest,
    translated_from_rest,
    translation_axes,
)
from posespace.poses.map_axis import Freedom, MapAxis, axis_of
from posespace.poses.parts import parts_of
from posespace.poses.spaces import PoseSpace
from posespace.rig import Rig
from posespace.skeleton import Skeleton

_FLAT = 1e-3
"""Poses spread along a second axis if they do by more than this fraction of the first: less is noise."""

_FIRST = 1e-3
"""Earlier poses count more by up to this fraction, so that of spreads that are equal noise does not choose the axes."""


@dataclass(frozen=True, eq=False)
class PoseMap:
    """The two principal axes of poses in a pose space; the rest pose is at (0, 0).

    A pose is a list of A numbers: the rotation vectors of the joints, in radians about their axes from rest; their
    translations, over the largest of all; and the controls, each over its largest value. Its point on the map is
    ``axes · (numbers - rest) / extents``.

    Parameters
    ----------
    skeleton : with links for pose spaces
    freedoms : what each of the A numbers is: a joint, by number, and its axis, or a control
    rest : (A,) of the rest pose
    extents : (A,)
    basis : (2, A) the axes: orthonormal rows; a row is zero where the poses have only one axis
    names : of the P poses that are shown
    dots : (P, 2) their points
    residuals : (P,) their distances from the plane
    axes : what the two axes are
    """

    skeleton: Skeleton
    freedoms: tuple[Freedom, ...]
    rest: Floats
    extents: Floats
    basis: Floats
    names: tuple[str, ...]
    dots: Floats
    residuals: Floats
    axes: tuple[MapAxis, MapAxis]

    @classmethod
    def of(cls, rig: Rig, motion: Motion, layer: Collection[str] | None = None) -> PoseMap:
        """Return the map of named poses.

        Parameters
        ----------
        rig : with links for pose spaces
        motion : the poses
        layer : the joints and controls that span it; poses that move others are not shown. None: all that any moves
        """
        movers = active_in_poses(rig, motion, shown=True)
        spanned: Active = frozenset().union(*movers) if layer is None else _members(rig, motion, layer)
        shown = [k for k, moved in enumerate(movers) if layer is None or (moved and moved <= spanned)]
        if not any(movers[k] for k in shown):
            which = "" if layer is None else f" in the layer {' + '.join(layer)}"
            raise InputError(f"map of poses: expected at least one pose away from rest{which}, got none")
        poses = motion[shown]
        freedoms = _freedoms(rig, poses, spanned)
        values, rest = _numbers(rig.skeleton, freedoms, poses), _numbers(rig.skeleton, freedoms, rig.rest)
        offsets = values - rest
        extents = _extents(freedoms, offsets)
        offsets = offsets / extents
        basis = _principal(rig.skeleton, freedoms, offsets)
        dots = offsets @ basis.T
        residuals = np.linalg.norm(offsets - dots @ basis, axis=1)
        axes = axis_of(rig.skeleton, freedoms, basis[0]), axis_of(rig.skeleton, freedoms, basis[1])
        return cls(rig.skeleton, freedoms, rest, extents, basis, poses.names, dots, residuals, axes)

    def point(self, pose: Pose | Motion) -> Floats:
        """Return the point (2,) of a pose, or (P, 2) of a motion: the nearest one of the map."""
        offsets = _numbers(self.skeleton, self.freedoms, pose) - self.rest
        return np.asarray(offsets / self.extents @ self.basis.T)

    def pose(self, point: ArrayLike, current: Pose) -> Pose:
        """Return the pose at a point (2,), within the limits of its joints.

        Joints and controls that are not of the map are as in the pose `current`, and so is the whole.
        """
        x = np.asarray(check.floats("point of the map", point, (2,), check.LARGEST), dtype=np.float64)
        values = self.rest + self.extents * (x @ self.basis)
        parts = parts_of(self.skeleton)
        quaternions, translations = parts.of(current)
        controls, angles = dict(current.controls), np.zeros((len(self.skeleton), 3))
        rotated: set[int] = set()
        for (owner, axis), value in zip(self.freedoms, values.tolist(), strict=True):
            if isinstance(owner, str):
                controls[owner] = value
            elif axis < 3:
                rotated.add(owner)
                angles[owner, axis] = value
            else:
                translations[owner, axis - 3] = value
        joints = sorted(rotated)
        quaternions[joints] = parts.rotated(self._within_limits(angles))[joints]
        return Pose(*parts.to_pose(quaternions, translations, current), controls)

    def _within_limits(self, angles: Floats) -> Floats:
        """Angles (J, 3) from rest brought within the limits, and within half a turn."""
        if self.skeleton.limits is not None:
            # Limits are from the parent, which is not what a joint of a flat skeleton is linked to.
            own = parts_of(self.skeleton).links == self.skeleton.parents
            limited = np.clip(angles, self.skeleton.limits[..., 0], self.skeleton.limits[..., 1])
            angles = np.where(own[:, None], limited, angles)
        size = np.linalg.norm(angles, axis=1, keepdims=True)
        return np.asarray(angles * np.minimum(1.0, np.pi / np.maximum(size, np.pi)))


def _members(rig: Rig, motion: Motion, layer: Collection[str]) -> Active:
    """The joints and controls that a layer's names stand for."""
    joints = {name: joint for joint, name in enumerate(rig.skeleton.names)}
    for name in layer:
        if name not in joints and name not in motion.control_names:
            known = (*joints, *motion.control_names)
            raise InputError(f"map of poses: no joint or control is called {name!r}{suggestion(name, known)}")
    return frozenset(name if name in motion.control_names else joints[name] for name in layer)


def _freedoms(rig: Rig, motion: Motion, spanned: Active) -> tuple[Freedom, ...]:
    """The numbers of a map: all axes of joints that rotate, the axes along which joints move, and the controls."""
    skeleton = rig.skeleton
    has_axis = np.ones((len(skeleton), 3), dtype=bool)
    if skeleton.axes is not None:
        has_axis = np.abs(skeleton.axes).max(axis=2) > 0
    rotates = np.asarray(rotated_from_rest(rig, motion).any(axis=0))
    moves = np.asarray(translated_from_rest(rig, motion).any(axis=0))
    along = translation_axes(rig, motion) & moves[:, None]
    freedoms: list[Freedom] = []
    for joint in sorted(owner for owner in spanned if isinstance(owner, int)):
        if rotates[joint] or not moves[joint]:
            freedoms += [(joint, axis) for axis in np.flatnonzero(has_axis[joint]).tolist()]
        freedoms += [(joint, 3 + axis) for axis in np.flatnonzero(along[joint]).tolist()]
    return (*freedoms, *((owner, 0) for owner in sorted(owner for owner in spanned if isinstance(owner, str))))


def _numbers(skeleton: Skeleton, freedoms: tuple[Freedom, ...], pose: Pose | Motion) -> Floats:
    """The numbers (A,) of a pose, or (P, A) of a motion."""
    rotations, translations = parts_of(skeleton).of(pose)
    by_joint = np.concatenate([parts_of(skeleton).angles(rotations), translations], axis=-1)
    columns = [by_joint[..., owner, axis] for owner, axis in freedoms if isinstance(owner, int)]
    controls = tuple(owner for owner, _ in freedoms if isinstance(owner, str))
    if controls:
        columns += list(np.moveaxis(PoseSpace("controls", controls).coordinates(pose, skeleton), -1, 0))
    return np.stack(columns, axis=-1)


def _extents(freedoms: tuple[Freedom, ...], offsets: Floats) -> Floats:
    """(A,) what each number is divided by: 1 for angles, the largest for all translations, and for each control."""
    largest = np.abs(offsets).max(axis=0)
    moves = np.array([isinstance(owner, int) and axis >= 3 for owner, axis in freedoms])
    controls = np.array([isinstance(owner, str) for owner, _ in freedoms])
    extents = np.where(controls & (largest > LEAST_CONTROL), largest, 1.0)
    return np.where(moves, float(largest[moves].max(initial=0.0)) or 1.0, extents)


def _principal(skeleton: Skeleton, freedoms: tuple[Freedom, ...], offsets: Floats) -> Floats:
    """(2, A) the principal axes of offsets (P, A) from rest, each towards the first of its farthest poses."""
    counts = 1.0 + _FIRST * 0.5 ** np.arange(len(offsets))
    _, sizes, rows = np.linalg.svd(counts[:, None] * offsets, full_matrices=False)
    if len(sizes) < 2 or sizes[1] <= _FLAT * sizes[0]:
        basis = np.stack([rows[0], _across(skeleton, freedoms, rows[0])])
    else:
        basis = rows[:2].copy()
    scores = offsets @ basis.T
    for axis, along in enumerate(scores.T):
        far = along[np.abs(along) >= 0.9 * np.abs(along).max()]
        basis[axis] *= -1.0 if far[0] < 0 else 1.0
    return basis


def _across(skeleton: Skeleton, freedoms: tuple[Freedom, ...], direction: Floats) -> Floats:
    """A second axis (A,) for poses along one: of the same joint; of any, where that has no other; or zero."""
    owners = np.array([repr(owner) for owner, _ in freedoms])
    shares = {owner: float(np.square(direction[owners == owner]).sum()) for owner in dict.fromkeys(owners.tolist())}
    same = owners == max(shares, key=lambda owner: shares[owner])
    free = ~_fixed(skeleton, freedoms)
    for among in (same & free, free, np.ones(len(owners), dtype=bool)):
        # Not what is nearly the first axis: of the others, the one that it has least of.
        chosen = np.flatnonzero(among & (np.abs(direction) < 0.9))
        if len(chosen):
            unit = np.zeros(len(owners))
            unit[chosen[np.abs(direction[chosen]).argmin()]] = 1.0
            unit -= (unit @ direction) * direction
            return np.asarray(unit / np.linalg.norm(unit))
    return np.zeros(len(owners))


def _fixed(skeleton: Skeleton, freedoms: tuple[Freedom, ...]) -> NDArray[np.bool_]:
    """(A,) the angles whose limits leave them no range."""
    if skeleton.limits is None:
        return np.zeros(len(freedoms), dtype=bool)
    ranges = np.ptp(skeleton.limits, axis=2)
    return np.array([isinstance(owner, int) and axis < 3 and ranges[owner, axis] <= 0 for owner, axis in freedoms])
