"""Poses by the names of joints, as a pose file gives them, before it is known which skeleton they are for."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posespace.budget import Budget
from posespace.check import Floats
from posespace.errors import FileError, quoted, suggestion
from posespace.formats import files
from posespace.geometry import rotations
from posespace.motion import Motion, matching
from posespace.skeleton import Skeleton

Indices = NDArray[np.int64]

_A_JOINT, _A_MATRIX = 30, 150
"""Numbers that a joint of a pose takes on the way, and a joint of one that is given by matrices."""

FREEDOMS = ("x", "y", "z")
"""What the angles of a joint are called, as in pose spaces."""


@dataclass(frozen=True, eq=False)
class FilePose:
    """One pose of a file, by the names of its joints. Joints that it does not name rest.

    Parameters
    ----------
    rotations : (4,) quaternions x y z w of joints
    bends : (3,) rotation vectors of joints in radians, from rest, in the joint's own axes
    angles : (3,) angles of joints in radians, from rest, about their degrees of freedom x, y and z
    translations : (3,) of joints in their local frames, from rest
    matrices : (4, 4) transforms of joints to the world; a pose has either these or rotations
    controls : named scalars
    time : seconds, or None where the file gives none
    """

    rotations: dict[str, Floats] = field(default_factory=dict)
    bends: dict[str, Floats] = field(default_factory=dict)
    angles: dict[str, Floats] = field(default_factory=dict)
    translations: dict[str, Floats] = field(default_factory=dict)
    matrices: dict[str, Floats] = field(default_factory=dict)
    controls: dict[str, float] = field(default_factory=dict)
    time: float | None = None

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints it names."""
        return tuple(dict.fromkeys([*self.rotations, *self.bends, *self.angles, *self.translations, *self.matrices]))


@dataclass(frozen=True, eq=False)
class PoseFile:
    """The poses of a file of `size` bytes, by name and in its order."""

    path: Path
    poses: dict[str, FilePose]
    size: int

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the poses."""
        return tuple(self.poses)

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints that any pose names, in the order they come."""
        return tuple(dict.fromkeys(joint for pose in self.poses.values() for joint in pose.joints))

    @property
    def counts(self) -> dict[str, int]:
        """How many joints each pose names."""
        return {name: len(pose.joints) for name, pose in self.poses.items()}

    def chosen(self, only: Sequence[str]) -> PoseFile:
        """Return the poses whose names match the patterns, see `Motion.named`."""
        with files.naming(self.path):
            kept = {self.names[k] for k in matching(self.names, only)}
        return PoseFile(self.path, {name: pose for name, pose in self.poses.items() if name in kept}, self.size)

    def of_joints(self, skeleton: Skeleton) -> PoseFile:
        """Return the poses that name only joints of the skeleton, with a warning that counts the others."""
        known = set(skeleton.names)
        kept = {name: pose for name, pose in self.poses.items() if known.issuperset(pose.joints)}
        skipped, unknown = len(self.poses) - len(kept), next((name for name in self.joints if name not in known), "")
        which = f"joints that the skeleton lacks, such as {quoted(unknown)}"
        if not kept:
            close = suggestion(unknown, skeleton.names)
            raise FileError(self.path, f"no pose is left: each names {which}{close}")
        if skipped:
            warnings.warn(f"{self.path}: {skipped} of {len(self.poses)} poses skipped: they name {which}", stacklevel=3)
        return PoseFile(self.path, kept, self.size)

    def motion(self, skeleton: Skeleton) -> Motion:
        """Return the poses as poses of this skeleton.

        A joint that a pose does not name rests, and where matrices are given it follows its parent. The poses' times
        are used if each has one.
        """
        self._check_joints(skeleton)
        controls = tuple(dict.fromkeys(name for pose in self.poses.values() for name in pose.controls))
        self._count(len(skeleton), len(controls))
        joint_rotations, translations = self._from_angles(skeleton)
        column, values = {name: k for k, name in enumerate(controls)}, np.zeros((len(self.poses), len(controls)))
        for row, pose in enumerate(self.poses.values()):
            values[row, [column[name] for name in pose.controls]] = list(pose.controls.values())
        times = [pose.time for pose in self.poses.values() if pose.time is not None]
        by_matrices = [row for row, pose in enumerate(self.poses.values()) if pose.matrices]
        with files.naming(self.path):
            if by_matrices:
                moved = self._from_matrices(skeleton)
                joint_rotations[by_matrices], translations[by_matrices] = moved.rotations, moved.translations
            return Motion(
                joint_rotations,
                translations,
                np.array(times) if len(times) == len(self.poses) else None,  # type: ignore[arg-type]
                self.names,
                values,
                controls,
            )

    def _count(self, joints: int, controls: int) -> None:
        """Raise if the poses are more than the file's size explains: a pose that names nothing takes six bytes."""
        by_matrices = sum(bool(pose.matrices) for pose in self.poses.values())
        with files.naming(self.path):
            budget = Budget(self.size)
            remedy = "choose some of its poses by name"
            budget.hold(_A_JOINT * joints * len(self.poses), f"{len(self.poses)} poses of {joints} joints", remedy)
            budget.hold(_A_MATRIX * joints * by_matrices, f"{by_matrices} poses of {joints} joints by matrices", remedy)
            budget.hold(2 * controls * len(self.poses), f"{len(self.poses)} poses of {controls} controls", remedy)

    def _check_joints(self, skeleton: Skeleton) -> None:
        """Raise if a pose names a joint that the skeleton lacks, or an angle that its joint does not have."""
        known = set(skeleton.names)
        for name, pose in self.poses.items():
            where = f"pose {quoted(name)}: joint"
            for joint in pose.joints:
                if joint not in known:
                    # Comparing takes the square of the length, and a file may hold a name of any length.
                    problem = f"is not in the skeleton{suggestion(joint, skeleton.names)}"
                    raise FileError(self.path, f"{where} {quoted(joint)} {problem}; `partial=True` skips such poses")
            for joint, angles in pose.angles.items():
                free = _freedoms(skeleton, joint)
                if angles[~free].any():
                    axis = FREEDOMS[int((~free & (angles != 0)).argmax())]
                    has = (
                        " and ".join(name for name, is_free in zip(FREEDOMS, free, strict=True) if is_free) or "nothing"
                    )
                    remedy = 'use that, or {"bend": degrees, "axis": [x, y, z]}'
                    raise FileError(self.path, f"{where} {quoted(joint)} rotates about {has}, not {axis}; {remedy}")

    def _from_angles(self, skeleton: Skeleton) -> tuple[Floats, Floats]:
        """Return the rotations (P, J, 4) and translations (P, J, 3) of poses without matrices."""
        poses, rest = list(self.poses.values()), skeleton.rest_rotations.astype(np.float64)
        joint_rotations = np.tile(rest, (len(poses), 1, 1))
        translations, angles = np.zeros((2, len(poses), len(skeleton), 3))
        where, values = _spread(skeleton, [pose.rotations for pose in poses], 4)
        joint_rotations[where] = values
        where, bends = _spread(skeleton, [pose.bends for pose in poses], 3)
        size = np.linalg.norm(bends, axis=1)
        bend_rotations = rotations.from_axis_angle(bends / np.where(size > 0, size, 1.0)[:, None], size)
        joint_rotations[where] = rotations.multiply(rest[where[1]], bend_rotations)
        where, values = _spread(skeleton, [pose.translations for pose in poses], 3)
        translations[where] = values
        where, values = _spread(skeleton, [pose.angles for pose in poses], 3)
        angles[where] = values
        joint_rotations[where] = skeleton.rotations(angles)[where]
        return joint_rotations, translations

    def _from_matrices(self, skeleton: Skeleton) -> Motion:
        """Return the poses that are given by matrices."""
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                matrices = [pose.matrices for pose in self.poses.values() if pose.matrices]
                return Motion.from_world(skeleton, _world(skeleton, matrices))
        except np.linalg.LinAlgError as error:
            raise FileError(self.path, "its matrices are too large or too small for this skeleton") from error


def _spread(
    skeleton: Skeleton, parts: Sequence[Mapping[str, Floats]], *shape: int
) -> tuple[tuple[Indices, Indices], Floats]:
    """Return the pose and the joint (n,) of each entry of a part of all poses, and the entries (n, *shape)."""
    index = {name: joint for joint, name in enumerate(skeleton.names)}
    rows_and_joints = [(row, index[joint]) for row, part in enumerate(parts) for joint in part]
    rows, joints = np.array(rows_and_joints, dtype=np.int64).reshape(-1, 2).T
    return (rows, joints), np.array([entry for part in parts for entry in part.values()]).reshape(-1, *shape)


def _world(skeleton: Skeleton, matrices_of_poses: Sequence[Mapping[str, Floats]]) -> Floats:
    """Return (P, J, 4, 4) the transforms to the world, joints without one following their parent as at rest."""
    world: Floats = np.tile(skeleton.rest_world.astype(np.float64), (len(matrices_of_poses), 1, 1, 1))
    where, matrices = _spread(skeleton, matrices_of_poses, 4, 4)
    world[where] = matrices
    follows = np.ones(world.shape[:2], dtype=bool)
    follows[where] = False
    from_rest = np.linalg.inv(skeleton.rest_world)
    for joint in skeleton.order:
        parent = skeleton.parents[joint]
        if parent >= 0:
            rows = follows[:, joint]
            world[rows, joint] = world[rows, parent] @ from_rest[parent] @ skeleton.rest_world[joint]
    return world


def _freedoms(skeleton: Skeleton, joint: str) -> NDArray[np.bool_]:
    """Return (3,) which of the angles x, y and z a joint has."""
    if skeleton.axes is None:
        return np.ones(3, dtype=bool)
    return np.asarray(np.abs(skeleton.axes[skeleton.index(joint)]).max(axis=1) > 0)
