"""Detail that learned bones drive: the heights of the examples as a mean and a few principal components."""

from __future__ import annotations

import numpy as np

from posespace.check import Floats
from posespace.examples import Examples
from posespace.fit.points.amounts import principal, with_amounts
from posespace.skin.bones.learned import LearnedBones
from posespace.skin.detail import Detail

COMPONENTS = 8
"""Most components, besides the mean."""


def with_detail(bones: LearnedBones, examples: Examples, squares: Floats) -> tuple[LearnedBones, Detail]:
    """Return the detail of examples that have heights, and the bones that drive it.

    Parameters
    ----------
    bones : give rotations, and corrections if they have any
    squares : (B, S, S) squared distances between the examples, for each bone
    """
    assert examples.heights is not None
    heights = np.stack([np.asarray(examples.heights[k], dtype=np.float32) for k in range(len(examples))])
    mean = heights.mean(axis=0)
    coordinates, components = principal(heights - mean, COMPONENTS)
    # The first of the fine vertices are those of the rig.
    coarse = components[:, : len(bones.weights), None]
    driving = with_amounts(bones.with_constant(), squares, coordinates, coarse)
    return driving, Detail(examples.levels, None, np.concatenate([mean[None], components]))
