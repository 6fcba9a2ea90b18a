"""Alignment of the control points: weights of the points in the rigid motion that is removed from each example.

With the best weights the rotations of the bones are most predictable from the aligned points. Points that keep their
distances from each other are a good start; from there each weight is raised or lowered as long as the leave-one-out
error of the rotations falls. That error has a closed form, so a trial is cheap.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from posespace.check import Floats, Ints
from posespace.fit.points.bone_rotations import BoneRotations
from posespace.fit.points.kernel_models import mean_rotation, squared_distances
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
_BONES = 100
"""Most bones, spread evenly, that the error is measured on."""


def best_anchors(
    rest: Floats, positions: Floats, near: Ints, bones: BoneRotations, width: float, ridge: float
) -> Floats:
    """Return the weight of each point (M,) in the rigid motion of the whole; they sum to one.

    Parameters
    ----------
    rest, positions : (M, 3) and (S, M, 3), the points at rest and in each example
    near : (B, C) the points that influence each bone
    bones : the rotations of the bones in each example
    width, ridge : of the kernels
    """
    sampled = np.unique(np.linspace(0, len(near) - 1, min(len(near), _BONES)).astype(int))
    near, observed, sizes = near[sampled], bones.rotations[:, sampled], bones.sizes[sampled]

    def error(anchors: Floats) -> float:
        whole = rotations.from_matrices(rigid(rest, positions, anchors)[0])
        relative = rotations.multiply(rotations.inverse(whole)[:, None], observed)
        errors = leave_one_out_errors(without_rigid_motion(rest, positions, anchors), near, relative, width, ridge)
        return float(errors @ sizes)

    return _descend(find_anchors(rest, positions)[0], error)


def leave_one_out_errors(samples: Floats, near: Ints, observed: Floats, width: float, ridge: float) -> Floats:
    """Return (B,) the mean squared leave-one-out error of rotations (S, B, 4), as quaternions."""
    squares = squared_distances(samples, near)
    by_bone = np.swapaxes(observed, 0, 1)
    mean = mean_rotation(by_bone)
    values = rotations.same_side(rotations.multiply(rotations.inverse(mean)[:, None], by_bone))
    errors = leave_one_out(squares, values, width * median_distances(squares), ridge)
    return np.asarray((errors**2).sum(axis=(1, 2)) / errors.shape[1])


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
                tried_error = error(tried)
                if tried_error < _BETTER * least:
                    anchors, least = tried, tried_error
                    break
        if least > _ENDING * before:
            break
    return anchors
