"""Built-in examples with known truth, for demos and tests."""

from posespace.datasets.bending_arm import bending_arm
from posespace.datasets.scanned.folder import write_scans
from posespace.datasets.scanned.hand import ScannedHand, scanned_hand
from posespace.datasets.scanned.scanner import Scan, Scanner
from posespace.datasets.simulated import arm, arm_clip, hand, hand_between, hand_grasps, hand_jumps, hand_together

__all__ = [
    "Scan",
    "ScannedHand",
    "Scanner",
    "arm",
    "arm_clip",
    "bending_arm",
    "hand",
    "hand_between",
    "hand_grasps",
    "hand_jumps",
    "hand_together",
    "scanned_hand",
    "write_scans",
]
