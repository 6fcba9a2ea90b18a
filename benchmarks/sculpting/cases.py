"""The poses at which a fit of a few sculpts is judged."""

from __future__ import annotations

import numpy as np

import posespace as ps
from posespace.check import Floats
from sculpting.scripted import BEND, FULL, OTHERS, Script

OFF = (5.0, 20.0, 60.0)
"""Degrees about another axis."""

FAR = (1.5, 2.0)
"""How many times as far as the last sculpt."""

RANDOM = 24
"""How many random poses."""


def known(script: Script) -> dict[str, ps.Examples]:
    """Return the cases with a truth by name: a rough script has none but at its own sculpts."""
    if script.rough:
        return {"own": script.examples(script.own)}
    return {
        "own": script.examples(script.own),
        "between": script.examples(script.own - FULL / script.count / 2),
        "far": script.examples(FULL * np.array(FAR)),
    }


def unknown(script: Script) -> dict[str, ps.Motion]:
    """Return the cases without a truth by name."""
    clip = script.subject.clip
    return {
        "off axis": ps.Motion.from_poses(_off_axis(script)),
        "random": ps.Motion.from_poses(_random(script)),
        **({} if clip is None else {"clip": clip}),
    }


def _off_axis(script: Script) -> list[ps.Pose]:
    """Rotations about other axes, alone and before or after each sculpt's bend; of two joints, one bent alone."""
    poses = []
    for axis in OTHERS:
        for degrees in (*OFF, *(-angle for angle in OFF)):
            poses.append(script.posed(degrees * axis))
            for bend in script.own:
                poses.append(script.posed(bend * BEND, degrees * axis))
                poses.append(script.posed(degrees * axis, bend * BEND))
    if script.joints > 1:
        for bend in script.own:
            poses += [script.posed(np.outer(alone, bend * BEND)) for alone in np.eye(script.joints)]
    return poses


def _random(script: Script) -> list[ps.Pose]:
    """Rotations of each joint about any axis by up to 180 degrees."""
    random = np.random.default_rng(0)
    axes: Floats = random.normal(size=(RANDOM, script.joints, 3))
    axes /= np.linalg.norm(axes, axis=2, keepdims=True)
    return [script.posed(steps) for steps in axes * random.uniform(0, 2 * FULL, (RANDOM, script.joints, 1))]
