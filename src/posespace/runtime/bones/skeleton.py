"""A skeleton's joints as the bones of a player: `drive` writes their transforms along with the layers' coordinates."""

from __future__ import annotations

import numpy as np

from posespace.check import Floats, Floats32
from posespace.runtime.bones.stage import DrivenBones
from posespace.runtime.drive.tables import TRANSFORM
from posespace.skeleton import Skeleton


class PlayedSkeleton:
    """The joints of a skeleton, played."""

    nbytes = 0

    def __init__(self, skeleton: Skeleton) -> None:
        self._joints = len(skeleton)
        self.joint_numbers = TRANSFORM * self._joints
        self._no_amounts = self._amounts(1)

    def on_one_core(self) -> None:
        """Change nothing: the joints of a pose are driven on one core."""

    def drive(self, poses: Floats, joint_palettes: Floats32) -> DrivenBones:
        """Return the poses as they are, the palettes still to be written, and amounts (P, J, 0)."""
        amounts = self._no_amounts if len(poses) == 1 else self._amounts(len(poses))
        return DrivenBones(poses, joint_palettes, amounts)

    def _amounts(self, poses: int) -> Floats32:
        return np.zeros((poses, self._joints, 0), np.float32)
