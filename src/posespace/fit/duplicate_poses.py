"""Poses that occur more than once: merged into one before a fit that reads its examples one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from posespace.check import Floats
from posespace.examples import Examples
from posespace.fit.contradictions import repeated
from posespace.poses.digests import pose_digests


def merged(examples: Examples) -> Examples:
    """Return the examples with each pose once: where it occurs more often, with the mean of its shapes.

    Shapes are averaged in the rest shape, where the motion of the whole is not in them. Frames of a loop that closes
    have equal shapes; how far others differ is `warn_of_contradictions`' to say.
    """
    digests = pose_digests(examples.motion, examples.rig.skeleton)
    if len(set(digests)) == len(digests):
        return examples
    again = repeated(digests)
    dropped = {frame for later in again.values() for frame in later}
    kept = [frame for frame in range(len(examples)) if frame not in dropped]
    means = _Means(examples, [(frame, *again.get(frame, ())) for frame in kept])
    return replace(examples, motion=examples.motion[kept], shapes=means)


class _Means:
    """Shapes by number, each the mean of those of one pose, made when it is asked for."""

    def __init__(self, examples: Examples, frames: list[tuple[int, ...]]) -> None:
        self._examples, self._frames = examples, frames

    def __len__(self) -> int:
        return len(self._frames)

    def __getitem__(self, index: int, /) -> Floats:
        examples, frames = self._examples, self._frames[index]
        if len(frames) == 1:
            return np.asarray(examples.shapes[frames[0]])
        same = [examples.residual(frame)[0] for frame in frames]
        return examples.rig.skin(examples.motion[frames[0]], np.mean(same, axis=0))
