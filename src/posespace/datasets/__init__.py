"""Built-in examples with known truth, for demos and tests."""

from posespace.datasets.bending_arm import bending_arm
from posespace.datasets.simulated import arm, arm_clip, hand, hand_between, hand_grasps, hand_jumps, hand_together

__all__ = ["arm", "arm_clip", "bending_arm", "hand", "hand_between", "hand_grasps", "hand_jumps", "hand_together"]
