"""Frames of one pose that show different shapes: no function of the pose can reproduce both."""

from __future__ import annotations

import warnings

import numpy as np

from posespace.check import Floats
from posespace.examples import Examples
from posespace.poses.digests import pose_digests

DIFFERENT = 1e-3
"""Fraction of the box's diagonal above which two shapes of one pose contradict each other."""


def warn_of_contradictions(examples: Examples) -> None:
    """Warn of the two frames of one pose whose shapes differ most; shapes are read only where a pose occurs twice."""
    digests = pose_digests(examples.motion, examples.rig.skeleton)
    if len(set(digests)) == len(digests):
        return
    worst, pair = DIFFERENT * examples.rig.mesh.diagonal, (0, 0)
    for first, later in repeated(digests).items():
        one = _beyond_bones(examples, first)
        for frame in later:
            off = float(np.linalg.norm(_beyond_bones(examples, frame) - one, axis=1).max(initial=0.0))
            if off > worst:
                worst, pair = off, (first, frame)
    if pair != (0, 0):
        a, b = (repr(examples.motion.names[frame]) for frame in pair)
        box = examples.rig.mesh.diagonal
        by = f"{worst / box:.2g} of the box diagonal" if box > 0 else f"{worst:.2g}"
        why = f"show one pose, but their shapes differ by {by}; their mean is taken"
        warnings.warn(f"examples: {a} and {b} {why}", stacklevel=3)


def repeated(digests: list[str]) -> dict[int, list[int]]:
    """Return the first frame of each pose that occurs more than once, and the later ones."""
    first: dict[str, int] = {}
    found: dict[int, list[int]] = {}
    for frame, digest in enumerate(digests):
        if first.setdefault(digest, frame) != frame:
            found.setdefault(first[digest], []).append(frame)
    return found


def _beyond_bones(examples: Examples, frame: int) -> Floats:
    """What a shape adds in the rest shape (N, 3): where the whole is does not change it."""
    return examples.residual(frame)[0]
