"""Poses that occur more than once: merged into one before a fit that interpolates its examples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from posespace.check import Floats
from posespace.examples import Examples
from posespace.fit.contradictions import repeated_poses
from posespace.poses.digests import pose_digests


def merge_duplicate_poses(examples: Examples) -> Examples:
    """Return the examples with each pose once; a pose that occurs more often gets the mean of its shapes.

    Displacements of the rest shape are averaged, which do not depend on the rigid motion of the whole. See
    `warn_of_contradictions` for shapes that differ.
    """
    digests = pose_digests(examples.motion, examples.rig.skeleton)
    if len(set(digests)) == len(digests):
        return examples
    repeats = repeated_poses(digests)
    dropped = {frame for later in repeats.values() for frame in later}
    kept = [frame for frame in range(len(examples)) if frame not in dropped]
    means = _MeanShapes(examples, [(frame, *repeats.get(frame, ())) for frame in kept])
    return replace(examples, motion=examples.motion[kept], shapes=means)


class _MeanShapes:
    """Shapes by number, each the mean of the shapes of one pose, computed on access."""

    def __init__(self, examples: Examples, frames: list[tuple[int, ...]]) -> None:
        self._examples, self._frames = examples, frames

    def __len__(self) -> int:
        return len(self._frames)

    def __getitem__(self, index: int, /) -> Floats:
        examples, frames = self._examples, self._frames[index]
        if len(frames) == 1:
            return np.asarray(examples.shapes[frames[0]])
        residuals = [examples.residual(frame)[0] for frame in frames]
        return examples.rig.skin(examples.motion[frames[0]], np.mean(residuals, axis=0))
