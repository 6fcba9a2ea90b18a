"""A second hand of another shape: slimmer, with a narrower palm and longer fingers, each by a different factor.

`python -m posespace.simulation.bodies.slender_hand poses.json` writes the poses of its data set.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.formats import pose_json
from posespace.motion import Motion
from posespace.simulation.bodies.body import Body
from posespace.simulation.bodies.hand import hand
from posespace.simulation.bodies.hand_bones import segments, skeleton
from posespace.simulation.bodies.hand_clearance import bones_clear
from posespace.simulation.bodies.hand_grasps import grasps, named
from posespace.simulation.bodies.hand_poses import SPANNING, pairs
from posespace.simulation.poses import joint_ranges, random_poses
from posespace.simulation.settings import Settings

_BUILD = -0.8
_LENGTHS = (1.06, 1.10, 1.13, 1.15, 1.12)
"""Factors on the lengths of thumb, index, middle, ring and little finger."""

_RANDOM, _GRASPS = 21, 22
"""Seeds, different from those of the first hand."""


def slender_hand(level: int = 1, side: str = "right") -> Body:
    """Return a hand with the joints and triangles of `hand`, in another shape."""
    return hand(level, side, build=_BUILD, lengths=_LENGTHS)


def body(settings: Settings) -> Body:
    """Return the body that `simulate("slender-hand", ...)` simulates."""
    return slender_hand(settings.level, settings.side)


def slender_clear(angles: Floats) -> NDArray[np.bool_]:
    """Return which poses (P,) keep this hand's bones and flesh apart; `angles` (P, J, 3) are radians from rest."""
    return bones_clear(angles, _LENGTHS)


def slender_poses(count: int = 14) -> Motion:
    """Return the spanning poses, then `count` random ones of the whole range and `count` random grasps."""
    bones = skeleton(segments(_BUILD, _LENGTHS))
    everything = _joined([joint_ranges(bones), pairs(), named()])
    subsets = [
        everything.named(*SPANNING),
        random_poses(bones, count, _RANDOM, accept=slender_clear),
        grasps(count, _GRASPS, accept=slender_clear),
    ]
    return _joined(subsets)


def _joined(motions: list[Motion]) -> Motion:
    names = tuple(name for motion in motions for name in motion.names)
    return Motion(np.concatenate([motion.rotations for motion in motions]), names=names)


if __name__ == "__main__":
    pose_json.write(Path(sys.argv[1]), slender_poses(), skeleton(segments(_BUILD, _LENGTHS)))
