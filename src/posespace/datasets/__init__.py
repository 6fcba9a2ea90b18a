"""Built-in examples with known truth, for demos and tests."""

from posespace.datasets.bending_arm import bending_arm
from posespace.datasets.simulated import hand

__all__ = ["bending_arm", "hand"]
