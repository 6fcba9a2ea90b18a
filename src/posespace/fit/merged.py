"""Poses that occur more than once: merged into one before a fit that passes through its examples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from posespace.examples import Examples
from posespace.fit.contradictions import repeated
from posespace.motion import pose_digests


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
    shapes = [np.asarray(examples.shapes[frame]) for frame in kept]
    for place, frame in enumerate(kept):
        if frame in again:
            same = [examples.residual(other)[0] for other in (frame, *again[frame])]
            shapes[place] = examples.rig.skin(examples.motion[frame], np.mean(same, axis=0))
    return replace(examples, motion=examples.motion[kept], shapes=np.stack(shapes))
