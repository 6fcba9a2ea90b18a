"""A small built-in arm for commands whose subject is not the arm: it is made in a fifth of the time."""

SMALL_ARM = """
from functools import partial
from posespace.simulation.bodies import arm
arm.arm = partial(arm.arm, 400)
"""
"""What a process runs first, so that `posespace simulate arm` takes an arm of 400 vertices."""

COMMAND = f"{SMALL_ARM}from posespace.cli import main\nmain()"
"""The command line with that arm, for `python -c`."""
