"""Poses of the hand that people make: coupled random grasps, and everyday ones by name.

Angles are anatomical degrees: flexion counts from the straight hand, deviation to the thumb's side (of the thumb: away
from the palm) from the rest pose, as in the ranges of `hand_bones`.
"""

from __future__ import annotations

import numpy as np

from posespace.check import Floats
from posespace.motion import Motion
from posespace.simulation.bodies.body import Accept
from posespace.simulation.bodies.hand_bones import FINGERS, NAMES, rest_flexion, segments, skeleton
from posespace.simulation.bodies.hand_clearance import bones_clear
from posespace.simulation.poses import accepted

# Degrees each finger deviates when the hand is spread as far as it goes, and when its straight fingers lie together.
_SPREAD = {"index": 20.0, "middle": 0.0, "ring": -12.0, "little": -20.0}
_TOGETHER = {"index": -10.0, "middle": 0.0, "ring": 9.0, "little": 18.0}
_BATCH = 64

# Wrist flexion and deviation; thumb flexion and deviation at the CMC, flexion at MCP and IP; then for each finger
# flexion at MCP, PIP and DIP, and its deviation. The ten that follow fist and pinch (tip pinch) show types of Feix,
# Romero, Schmiedmayer, Dollar and Kragic, The GRASP taxonomy of human grasp types,
# IEEE Trans. Human-Machine Systems 46 (2016).
_NAMED = {
    "fist": ((-20, 0), (10, -1, 20, 75), (85, 98, 62, 0), (86, 98, 62, 0), (87, 98, 62, 0), (88, 98, 62, 0)),
    "pinch": ((-20, 0), (26, -13, 3, -8), (33, 55, 46, -12), (35, 40, 26, 0), (30, 35, 23, 0), (28, 30, 20, 0)),
    # Large diameter.
    "bottle": ((-15, 0), (10, 20, 12, 25), (32, 60, 40, 5), (34, 61, 40, 0), (36, 61, 40, -3), (38, 60, 40, -6)),
    # Medium wrap.
    "hammer": ((-25, 10), (8, 3, 25, 42), (65, 82, 52, 0), (68, 82, 52, 0), (70, 82, 52, 0), (72, 82, 52, 0)),
    # Fixed hook.
    "suitcase": ((0, 0), (0, -5, 10, 10), (25, 90, 58, 0), (25, 92, 58, 0), (25, 92, 58, 0), (28, 92, 58, 0)),
    # Writing tripod.
    "pen": ((-25, 0), (26, -2, 2, -8), (50, 45, 20, -3), (60, 58, 35, 0), (70, 70, 45, 0), (75, 72, 48, 0)),
    # Lateral.
    "key": ((-15, 0), (13, -10, 1, -13), (50, 75, 45, 0), (55, 85, 55, 0), (60, 88, 58, 0), (62, 88, 58, 0)),
    # Power sphere.
    "ball": ((-20, 0), (-5, 22, 10, 25), (40, 40, 27, 12), (40, 42, 28, 2), (42, 42, 28, -8), (45, 42, 28, -14)),
    # Power disk.
    "jar lid": ((-20, 0), (-12, 10, 15, 35), (5, 45, 30, 18), (8, 48, 32, 3), (8, 48, 32, -10), (8, 45, 30, -18)),
    # Parallel extension.
    "book": ((-30, 0), (25, 20, 8, 2), (68, 8, 5, -6), (65, 8, 5, 0), (65, 8, 5, 5), (65, 8, 5, 8)),
    # Index finger extension.
    "knife": ((-10, -10), (20, -11, 13, 10), (30, 15, 8, 0), (70, 85, 55, 0), (75, 88, 58, 0), (78, 88, 58, 0)),
    # Prismatic 4 finger.
    "cup": ((-30, 0), (32, 14, 5, 8), (58, 28, 14, -3), (60, 30, 15, 0), (62, 32, 16, 3), (66, 32, 16, 4)),
}


def named() -> Motion:
    """Return a fist, a pinch and ten everyday grasps, by name."""
    angles = np.zeros((len(_NAMED), len(NAMES), 3))
    for pose, (wrist, thumb, *fingers) in zip(angles, _NAMED.values(), strict=True):
        _put(pose[None], "wrist", *wrist)
        _put_chain(pose[None], "thumb", ("cmc", "mcp", "ip"), thumb[0], *thumb[2:], deviation=thumb[1])
        for name, (*flexion, deviation) in zip(FINGERS, fingers, strict=True):
            _put_chain(pose[None], name, ("mcp", "pip", "dip"), *flexion, deviation=deviation)
    return Motion(skeleton(segments()).rotations(angles), names=tuple(_NAMED))


def grasps(count: int, seed: int, name: str = "grasp", accept: Accept = bones_clear) -> Motion:
    """Return random poses in which the joints are coupled as in real hands.

    Drawn uniformly, both ends included, for each pose:

    - how far the hand is closed, from open to a fist. The index departs from that by up to 0.2, each next finger from
      half of what the one before it does by up to 0.1, and the little finger, which follows the ring finger, by 0.05;
    - PIP flexion is that share of 100 degrees, DIP flexion two thirds of it (Rijpkema and Girard, Computer animation
      of knowledge-based human grasping, 1991; Lin, Wu and Huang, Modeling the constraints of human hand motion, 2000);
    - MCP flexion goes with it, up to 45 to 90 degrees in a closed hand, and from 25 to 0 degrees beyond straight in
      an open one;
    - the fingers' spread, from lying together to wide; it vanishes as the MCP joints bend to 90 degrees, and the
      middle finger, about which the others spread, does not deviate (Lin, Wu and Huang again);
    - the thumb crosses the palm as the hand closes, give or take 0.3 of its range, and its MCP and IP joints bend with
      it, give or take 0.3 again; how far it is from the palm is free;
    - the wrist is flexed by 50 degrees when the hand is open and extended by 40 when it is closed, as the tendons of
      the fingers want it (tenodesis), give or take 30; its deviation is free.

    Poses in which bones or flesh meet, see `bones_clear`, are drawn again; pass `accept` for another hand.
    """
    angles = accepted(_draw, count, seed, accept)
    names = tuple(f"{name} {k}" for k in range(count))
    return Motion(skeleton(segments()).rotations(angles), names=names)


def _draw(generator: np.random.Generator) -> Floats:
    """Angles (B, J, 3) in radians from rest of a batch of grasps, some of which may cross."""

    def uniform(low: float, high: float) -> Floats:
        return generator.uniform(low, high, _BATCH)

    angles = np.zeros((_BATCH, len(NAMES), 3))
    closed, fullest, straighter, spread = uniform(0, 1), uniform(45, 90), uniform(0, 25), uniform(-1, 1)
    apart = np.zeros(_BATCH)
    for name, freedom in zip(FINGERS, (0.2, 0.1, 0.1, 0.05), strict=True):
        apart = (1.0 if name == "little" else 0.5) * apart + uniform(-freedom, freedom)
        share = np.clip(closed + apart, 0, 1)
        pip = 100 * share
        mcp = fullest * share - straighter * (1 - share)
        deviation = np.where(spread > 0, _SPREAD[name], -_TOGETHER[name]) * spread * np.clip(1 - mcp / 90, 0, 1)
        _put_chain(angles, name, ("mcp", "pip", "dip"), mcp, pip, pip * 2 / 3, deviation=deviation)
    crossed = np.clip(closed + uniform(-0.3, 0.3), 0, 1)
    bent = np.clip(crossed + uniform(-0.3, 0.3), 0, 1)
    thumb = -18 + 53 * crossed, -10 + 60 * bent, -20 + 100 * bent
    _put_chain(angles, "thumb", ("cmc", "mcp", "ip"), *thumb, deviation=uniform(-20, 22))
    _put(angles, "wrist", 50 - 90 * closed + uniform(-30, 30), uniform(-30, 20))
    return angles


def _put_chain(
    angles: Floats, finger: str, joints: tuple[str, ...], *flexion: Floats | float, deviation: Floats | float
) -> None:
    """Write the flexion of a finger's joints, and the deviation of its first, in degrees."""
    for joint, degrees in zip(joints, flexion, strict=True):
        _put(angles, f"{finger}_{joint}", degrees, deviation if joint == joints[0] else 0.0)


def _put(angles: Floats, name: str, flexion: Floats | float, deviation: Floats | float) -> None:
    """Write a joint's degrees into `angles` (P, J, 3), which are radians from rest."""
    joint = NAMES.index(name)
    angles[:, joint, 0] = np.radians(flexion - rest_flexion(name))
    angles[:, joint, 1] = np.radians(deviation)
