"""PoseSpace: the joints or controls that span a space of poses, and its metric."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posespace import check
from posespace.check import Floats
from posespace.errors import InputError
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.poses.parts import parts_of
from posespace.skeleton import Skeleton

KINDS = ("joint", "quaternions", "freedoms", "controls")
AXES = ("x", "y", "z")
TRANSLATIONS = ("tx", "ty", "tz")
"""Endings of a joint's degrees of freedom: its angles about its axes, and its translations."""


@dataclass(frozen=True)
class PoseSpace:
    """Chosen joints or controls of a pose, and a metric: how distance between poses is measured.

    A joint counts by its part, see `Parts`: its rotation and translation relative to the joint it is linked to. The
    rigid motion of the whole is in no space.

    Parameters
    ----------
    kind : what the names are and how distance is measured:
        "joint": joints; the distance is the angle of the relative rotation, several joints add as squares;
        "quaternions": joints; straight distance between quaternions of one sign, for kernels with a linear tail;
        "freedoms": degrees of freedom: JOINT.x, JOINT.y or JOINT.z, the angle in radians from rest about that axis of
        the joint; JOINT.tx, JOINT.ty or JOINT.tz, its translation; a name without such an ending is a control. Straight
        distance; an interpolator's radius per axis makes angles and lengths comparable;
        "controls": named scalars, straight distance; an interpolator's radius per axis stretches them
    names : the joints, degrees of freedom or controls
    """

    kind: str
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        check.choice("pose space kind", self.kind, KINDS)
        if not self.names:
            raise InputError("pose space: expected at least one joint or control, got none")
        object.__setattr__(self, "names", check.names("pose space names", self.names, len(self.names)))

    @property
    def metric(self) -> str:
        """The metric that an interpolator over this space is fitted with."""
        return "rotation" if self.kind == "joint" else "euclidean"

    @property
    def dimensions(self) -> int:
        """The number of coordinates of a pose in this space."""
        return len(self.names) * {"joint": 4, "quaternions": 4, "freedoms": 1, "controls": 1}[self.kind]

    def joints(self, skeleton: Skeleton) -> tuple[int, ...]:
        """Return the joints that the names refer to; raises where one should be a joint and is not."""
        if self.kind in ("joint", "quaternions"):
            return tuple(skeleton.index(name) for name in self.names)
        return tuple(degree[0] for name in self.names if (degree := self.degree_of(name, skeleton)) is not None)

    def controls(self, skeleton: Skeleton) -> tuple[str, ...]:
        """Return the names of the controls; joints and their degrees of freedom are none."""
        if self.kind == "freedoms":
            return tuple(name for name in self.names if self.degree_of(name, skeleton) is None)
        return self.names if self.kind == "controls" else ()

    def degree_of(self, name: str, skeleton: Skeleton) -> tuple[int, int] | None:
        """Return the joint and axis that a name of kind "freedoms" stands for, or None where it is a control.

        Axes 0 to 2 are angles, 3 to 5 translations.
        """
        joint, _, axis = name.rpartition(".")
        if self.kind != "freedoms" or not joint or axis not in AXES + TRANSLATIONS:
            return None
        return skeleton.index(joint), (AXES + TRANSLATIONS).index(axis)

    def coordinates(
        self, pose: Pose | Motion, skeleton: Skeleton, parts: tuple[Floats, Floats] | None = None
    ) -> Floats:
        """Return the coordinates of poses in this space: (D,) of a pose, (P, D) of a motion.

        `parts` are those of the poses, where they were computed already: see `Parts.of`.
        """
        if self.kind == "controls":
            return self._controls(pose)
        if self.kind == "freedoms":
            return self._freedoms(pose, skeleton, parts)
        joints = [skeleton.index(name) for name in self.names]
        quaternions = (parts or parts_of(skeleton).of(pose))[0][..., joints, :]
        if self.kind == "quaternions":
            # A rotation has two quaternions: take the one on the side of the rest pose.
            side = (quaternions * parts_of(skeleton).rest[joints]).sum(axis=-1, keepdims=True)
            quaternions = np.where(side < 0, -quaternions, quaternions)
        return quaternions.reshape(*quaternions.shape[:-2], -1)

    def _freedoms(self, pose: Pose | Motion, skeleton: Skeleton, parts: tuple[Floats, Floats] | None) -> Floats:
        degrees = [self.degree_of(name, skeleton) for name in self.names]
        values = self._controls(pose)
        if any(degree is not None for degree in degrees):
            rotations, translations = parts or parts_of(skeleton).of(pose)
            freedoms = np.concatenate([parts_of(skeleton).angles(rotations), translations], axis=-1)
            for column, degree in enumerate(degrees):
                if degree is not None:
                    values[..., column] = freedoms[..., degree[0], degree[1]]
        return values

    def _controls(self, pose: Pose | Motion) -> Floats:
        values = (
            pose.controls if isinstance(pose, Pose) else dict(zip(pose.control_names, pose.controls.T, strict=True))
        )
        # A control that a pose does not name rests at zero.
        if isinstance(pose, Pose):
            return np.array([values.get(name, 0.0) for name in self.names], dtype=np.float64)
        zeros = np.zeros(len(pose))
        return np.stack([values.get(name, zeros) for name in self.names], axis=1).astype(np.float64)
