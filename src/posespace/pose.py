"""Pose: joint rotations, joint translations and named controls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from posespace import check
from posespace.check import Floats
from posespace.errors import InputError
from posespace.geometry import rotations
from posespace.skeleton import Skeleton


@dataclass(frozen=True, eq=False)
class Pose:
    """One pose of a skeleton and its controls.

    Parameters
    ----------
    rotations : (J, 4) unit quaternions x y z w: each joint's local rotation (glTF's node rotation)
    translations : (J, 3) of each joint in its local frame, from rest; on most rigs only the root's is not zero.
        None for none
    controls : named scalars that are not joints: smile, load, ...
    """

    rotations: Floats
    translations: Floats = None  # type: ignore[assignment]  # None becomes zeros
    controls: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        quaternions = check.floats("pose rotations", self.rotations, ("J", 4))
        object.__setattr__(self, "rotations", rotations.normalize(quaternions, "pose rotations"))
        shape = (len(quaternions), 3)
        translations = np.zeros(shape) if self.translations is None else self.translations
        translations = check.floats("pose translations", translations, shape, check.LARGEST)
        object.__setattr__(self, "translations", translations)
        check.kind("pose controls", self.controls, Mapping)
        for name, value in self.controls.items():
            if not abs(value) <= check.LARGEST:
                wanted = f"a finite number from {-check.LARGEST:g} to {check.LARGEST:g}"
                raise InputError(f"pose control {name!r}: expected {wanted}, got {value}")
        object.__setattr__(self, "controls", {str(k): float(v) for k, v in self.controls.items()})

    def __repr__(self) -> str:
        return f"Pose({len(self.rotations)} joints, controls {self.controls})"

    @classmethod
    def rest(cls, skeleton: Skeleton) -> Pose:
        """The skeleton's rest pose, as its file has it; `Rig.rest` is the pose the mesh was bound in."""
        return cls(skeleton.rest_rotations)

    @classmethod
    def from_joints(
        cls, skeleton: Skeleton, joints: Mapping[str, ArrayLike], controls: Mapping[str, float] | None = None
    ) -> Pose:
        """A pose from the rotations (4,) of some joints, by name; the others are at rest."""
        check.kind("skeleton", skeleton, Skeleton)
        check.kind("rotations by joint", joints, Mapping)
        quaternions = skeleton.rest_rotations.astype(np.float64)
        for name, quaternion in joints.items():
            quaternions[skeleton.index(name)] = check.floats(f"rotation of joint {name!r}", quaternion, (4,))
        return cls(quaternions, controls={} if controls is None else controls)


def require_pose(caller: str, value: object) -> None:
    """Raise unless `value` is one Pose; `caller` is named in the message."""
    if not isinstance(value, Pose):
        remedy = "; pass one pose, e.g. motion[0]" if hasattr(value, "rotations") else ""
        raise InputError(f"{caller}: expected one Pose, got {type(value).__name__}{remedy}")
