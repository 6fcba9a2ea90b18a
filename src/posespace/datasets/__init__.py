"""Built-in examples with known truth, for demos and tests."""

from posespace.datasets.bending_arm import bending_arm

__all__ = ["bending_arm"]
