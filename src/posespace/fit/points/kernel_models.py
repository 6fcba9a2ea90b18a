"""Kernel models that predict the rotations of bones: local in geometry, local in pose, both or neither.

A model that is local in geometry depends on the control points near its bone alone. Local in pose means one model per
example, fitted to the examples nearest to it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats, Ints
from posespace.geometry import rotations
from posespace.interpolate.kernel_cca import kernel_cca, leave_one_out, median_distances


class KernelModels(NamedTuple):
    """The fields of `LearnedBones` that hold its models: `widths`, `offsets`, `coefficients`, `heat`, `blended`."""

    widths: Floats
    offsets: Floats
    coefficients: Floats
    heat: Floats
    blended: int


def fit_models(
    squares: Floats, observed: Floats, width: float, ridge: float, neighbours: int | None = None
) -> KernelModels:
    """Fit the models of all bones.

    Parameters
    ----------
    squares : (B, S, S) squared distances between the examples, for each bone
    observed : (S, B, 4) each bone's rotation in each example
    width : of the kernels, relative to the median distance of a model's examples
    ridge : relative to the kernels' mean variance
    neighbours : number of nearest examples in the model of an example; None: one model of all examples
    """
    units = median_distances(squares)
    by_bone = np.swapaxes(observed, 0, 1)
    if neighbours is not None:
        return _models_by_example(squares, by_bone, width, ridge, neighbours)
    mean_quaternion = mean_rotation(by_bone)
    widths = width * units[:, None]
    relative = rotations.same_side(rotations.multiply(rotations.inverse(mean_quaternion)[:, None], by_bone))
    offsets, coefficients = kernel_cca(squares, relative, widths[:, 0], ridge)
    mean = relative.mean(axis=1)
    shrink = _shrink(squares, relative - mean[:, None], widths[:, 0], ridge)
    offsets, coefficients = mean + shrink[:, None] * (offsets - mean), shrink[:, None, None] * coefficients
    return KernelModels(
        widths,
        rotations.multiply(mean_quaternion, offsets)[:, None],
        rotations.multiply(mean_quaternion[:, None], coefficients)[:, None],
        units,
        1,
    )


def _shrink(squares: Floats, values: Floats, widths: Floats, ridge: float) -> Floats:
    """The factor (B,), from 0 to 1, on predictions of values (B, S, 4) that makes their leave-one-out error least.

    Points far from a bone may not predict it at all: then it keeps its mean rotation.
    """
    predicted = values - leave_one_out(squares, values, widths, ridge)
    best = (predicted * values).sum(axis=(1, 2)) / np.maximum((predicted**2).sum(axis=(1, 2)), 1e-300)
    return np.asarray(np.clip(best, 0.0, 1.0))


def _models_by_example(squares: Floats, by_bone: Floats, width: float, ridge: float, neighbours: int) -> KernelModels:
    """One model per bone and example, of rotations (B, S, 4) relative to those of the example."""
    bones, count = squares.shape[:2]
    widths, offsets = np.empty((bones, count)), np.empty((bones, count, 4))
    coefficients = np.zeros((bones, count, count, 4))
    rows = np.arange(bones)[:, None]
    for example in range(count):
        nearest, local_squares = neighbourhood(squares, example, neighbours)
        widths[:, example] = width * median_distances(local_squares)
        origin = by_bone[:, example]
        relative = rotations.same_side(rotations.multiply(by_bone[rows, nearest], rotations.inverse(origin)[:, None]))
        offset, weights = kernel_cca(local_squares, relative, widths[:, example], ridge)
        offsets[:, example] = rotations.multiply(offset, origin)
        coefficients[rows, example, nearest] = rotations.multiply(weights, origin[:, None])
    return KernelModels(widths, offsets, coefficients, median_distances(squares), neighbours)


def neighbourhood(squares: Floats, example: int, neighbours: int) -> tuple[NDArray[np.intp], Floats]:
    """Return an example and its K nearest, for each bone (B, K + 1), and their squared distances (B, K + 1, K + 1)."""
    nearest = np.argsort(squares[:, example], axis=1, kind="stable")[:, : neighbours + 1]
    rows = np.arange(len(squares))[:, None, None]
    return nearest, squares[rows, nearest[:, :, None], nearest[:, None]]


def squared_distances(samples: Floats, near: Ints) -> Floats:
    """Return the squared distances (B, S, S) between the examples, by the points (B, C) that influence each bone."""
    gaps = samples[:, None] - samples[None]
    return np.moveaxis((gaps**2).sum(axis=3)[..., near].sum(axis=3), 2, 0)


def local_squared_distances(local: Floats) -> Floats:
    """Return the squared distances (B, S, S) between the examples, by points (S, B, C, 3) in each bone's local axes."""
    flat = np.swapaxes(local.reshape(*local.shape[:2], -1), 0, 1)
    sizes = (flat**2).sum(axis=2)
    return np.asarray(np.maximum(sizes[:, :, None] + sizes[:, None] - 2 * flat @ np.swapaxes(flat, 1, 2), 0.0))


def mean_rotation(quaternions: Floats) -> Floats:
    """Return the mean (B, 4) of rotations (B, S, 4)."""
    return rotations.polar(rotations.matrices(quaternions).mean(axis=1))[0]
