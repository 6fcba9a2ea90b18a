"""SkeletonBones: every joint of the rig's skeleton is a bone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from posespace.check import Floats, Ints
from posespace.pose import Pose
from posespace.rig import Rig
from posespace.skin.bones.stage import Binding, Corrections, Posed, StoredBones


@dataclass(frozen=True)
class SkeletonBones:
    """The joints of a rig's skeleton as bones: kinematics alone, without corrections."""

    points = np.zeros(0, np.int32)
    centres = np.zeros((0, 3))
    correction_count = 0
    detail_count = 0

    def joints_without_rotation(self, rig: Rig) -> tuple[str, ...]:
        """Return none: all joints may rotate."""
        del rig
        return ()

    def require_fit(self, rig: Rig) -> None:
        """Accept any rig."""

    def binding(self, rig: Rig) -> Binding:
        """Return the rig's influences and weights."""
        return Binding(rig.influences, rig.weights, len(rig.skeleton))

    def drive(self, pose: Pose, rig: Rig) -> tuple[Floats, Floats]:
        """Return the transforms (J, 3, 4) of the joints, and amounts (J, 0)."""
        return rig.transforms(pose), np.zeros((len(rig.skeleton), 0))

    def aligned(self, pose: Posed, rig: Rig) -> tuple[Posed, Floats, Floats]:
        """Return the pose unchanged: parts of joints are relative to the whole already."""
        del rig
        shape = pose.rotations.shape[:-2]
        return pose, np.broadcast_to(np.eye(3), (*shape, 3, 3)), np.zeros((*shape, 3))

    def links(self, rig: Rig) -> Ints | None:
        """Return the links of the rig's skeleton."""
        return rig.skeleton.links

    def corrections_of(self, rig: Rig) -> Corrections:
        """Return no corrections: (0, N, 3)."""
        return Corrections.none(len(rig.mesh.points))

    def packed(self, bits: int) -> Self:
        """Return the same: there is nothing to pack."""
        del bits
        return self

    def stored(self) -> StoredBones:
        """Return nothing: the rig has it all."""
        return StoredBones({}, {})

    def figures(self) -> dict[str, Any]:
        """Return nothing: the rig's figures say it all."""
        return {}
