"""The frame that control points are seen from: the one in which what the bones do is most predictable.

The rigid motion of the whole is taken from the points themselves, each counted by its anchor weight. Points that keep
their places relative to each other are a good start; from there each weight is raised or lowered as long as rotations
that are left out in turn are predicted better. Leaving out has a closed form, so a trial costs little.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from posespace.check import Floats, Ints
from posespace.fit.points.kernel_models import middle_of, squares_of
from posespace.geometry import rotations
from posespace.geometry.anchors import find_anchors, without_rigid_motion
from posespace.geometry.rigid import rigid
from posespace.interpolate.kernel_cca import leave_one_out, median_distances

_FACTORS = (0.0, 0.25, 4.0)
_ROUNDS = 4
_BETTER = 0.999
_ENDING = 0.98
"""The rounds end when one lowers the error by less than this factor."""

_LEAST, _COUNTED = 3, 1e-6
_TRIED = 100
"""Bones that are looked at, spread evenly over all."""


def best_anchors(
    rest: Floats, places: Floats, near: Ints, turns: Floats, sizes: Floats, width: float, ridge: float
) -> Floats:
    """Return how much each point counts (M,) in the rigid motion of the whole; they sum to one.

    Parameters
    ----------
    rest, places : (M, 3) and (S, M, 3), the points at rest and in each example
    near : (B, C) the points that each bone listens to
    turns : (S, B, 4) each bone's rotation in each example
    sizes : (B,) how much skin each bone moves
    width, ridge : of the kernels
    """
    tried = np.unique(np.linspace(0, len(near) - 1, min(len(near), _TRIED)).astype(int))
    near, turns, sizes = near[tried], turns[:, tried], sizes[tried]

    def error(anchors: Floats) -> float:
        whole = rotations.from_matrices(rigid(rest, places, anchors)[0])
        seen = rotations.multiply(rotations.inverse(whole)[:, None], turns)
        left = left_out_errors(without_rigid_motion(rest, places, anchors), near, seen, width, ridge)
        return float(left @ sizes)

    return _descend(find_anchors(rest, places)[0], error)


def left_out_errors(samples: Floats, near: Ints, turns: Floats, width: float, ridge: float) -> Floats:
    """Return (B,) the mean squared error of rotations, as quaternions, when each example is left out in turn."""
    squares = squares_of(samples, near)
    each = np.swapaxes(turns, 0, 1)
    values = rotations.same_side(rotations.multiply(rotations.inverse(middle_of(each))[:, None], each))
    left = leave_one_out(squares, values, width * median_distances(squares), ridge)
    return np.asarray((left**2).sum(axis=(1, 2)) / left.shape[1])


def _descend(anchors: Floats, error: Callable[[Floats], float]) -> Floats:
    """Change one weight after the other as long as the error falls."""
    least = error(anchors)
    for _ in range(_ROUNDS):
        before = least
        for point in np.argsort(-anchors):
            for factor in _FACTORS:
                tried = anchors.copy()
                tried[point] *= factor
                if (tried > _COUNTED * tried.sum()).sum() < _LEAST:
                    continue
                tried /= tried.sum()
                found = error(tried)
                if found < _BETTER * least:
                    anchors, least = tried, found
                    break
        if least > _ENDING * before:
            break
    return anchors
