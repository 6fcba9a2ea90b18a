"""Contradictions: frames of one pose that show different shapes, which no function of the pose can reproduce."""

from __future__ import annotations

import warnings

import numpy as np

from posespace.examples import Examples
from posespace.poses.digests import pose_digests

DIFFERENT = 1e-3
"""Fraction of the box's diagonal above which two shapes of one pose contradict each other."""


def warn_of_contradictions(examples: Examples) -> None:
    """Warn of the two frames of one pose whose shapes differ most; only shapes of repeated poses are read."""
    digests = pose_digests(examples.motion, examples.rig.skeleton)
    if len(set(digests)) == len(digests):
        return
    worst, pair = DIFFERENT * examples.rig.mesh.diagonal, (0, 0)
    for first, later in repeated_poses(digests).items():
        # Residuals, unlike shapes, do not depend on the rigid motion of the whole.
        residual = examples.residual(first)[0]
        for frame in later:
            gap = float(np.linalg.norm(examples.residual(frame)[0] - residual, axis=1).max(initial=0.0))
            if gap > worst:
                worst, pair = gap, (first, frame)
    if pair != (0, 0):
        a, b = (repr(examples.motion.names[frame]) for frame in pair)
        box = examples.rig.mesh.diagonal
        by = f"{worst / box:.2g} of the box diagonal" if box > 0 else f"{worst:.2g}"
        why = f"show one pose, but their shapes differ by {by}; their mean is taken"
        warnings.warn(f"examples: {a} and {b} {why}", stacklevel=3)


def repeated_poses(digests: list[str]) -> dict[int, list[int]]:
    """Return the first frame of each pose that occurs more than once, with its later frames."""
    first: dict[str, int] = {}
    repeats: dict[int, list[int]] = {}
    for frame, digest in enumerate(digests):
        if first.setdefault(digest, frame) != frame:
            repeats.setdefault(first[digest], []).append(frame)
    return repeats
