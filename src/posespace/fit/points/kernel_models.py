"""Kernel models of the bones' rotations: local to the points near a bone, local to the examples near a pose, or not."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from posespace.check import Floats, Ints
from posespace.geometry import rotations
from posespace.interpolate.kernel_cca import kernel_cca, leave_one_out, median_distances


class Models(NamedTuple):
    """What `LearnedBones` has of them: `widths`, `offsets`, `coefficients`, `heat` and `blended`."""

    widths: Floats
    offsets: Floats
    coefficients: Floats
    heat: Floats
    blended: int


def fit_models(squares: Floats, turns: Floats, width: float, ridge: float, neighbours: int) -> Models:
    """Fit the models of all bones.

    Parameters
    ----------
    squares : (B, S, S) squared distances between the examples, as each bone sees its points
    turns : (S, B, 4) each bone's rotation in each example
    width : of the kernels, over the median distance of a model's examples
    ridge : relative to the kernels' mean variance
    neighbours : how many examples nearest to an example its own model has besides; 0: one model of all examples
    """
    units = median_distances(squares)
    each = np.swapaxes(turns, 0, 1)
    if not neighbours:
        middle = middle_of(each)
        widths = width * units[:, None]
        relative = rotations.same_side(rotations.multiply(rotations.inverse(middle)[:, None], each))
        offsets, coefficients = kernel_cca(squares, relative, widths[:, 0], ridge)
        mean = relative.mean(axis=1)
        kept = _kept(squares, relative - mean[:, None], widths[:, 0], ridge)
        offsets, coefficients = mean + kept[:, None] * (offsets - mean), kept[:, None, None] * coefficients
        return Models(
            widths,
            rotations.multiply(middle, offsets)[:, None],
            rotations.multiply(middle[:, None], coefficients)[:, None],
            units,
            1,
        )
    return _by_example(squares, each, units, width, ridge, neighbours)


def _kept(squares: Floats, values: Floats, widths: Floats, ridge: float) -> Floats:
    """By what factor (B,), from 0 to 1, predictions of values (B, S, 4) suit best where each example is left out.

    Points that are far from a bone may say nothing of it: then it keeps its mean rotation.
    """
    guessed = values - leave_one_out(squares, values, widths, ridge)
    right = (guessed * values).sum(axis=(1, 2)) / np.maximum((guessed**2).sum(axis=(1, 2)), 1e-300)
    return np.asarray(np.clip(right, 0.0, 1.0))


def _by_example(squares: Floats, each: Floats, units: Floats, width: float, ridge: float, neighbours: int) -> Models:
    """One model per bone and example, of rotations (B, S, 4) relative to those of the example."""
    bones, count = squares.shape[:2]
    widths, offsets = np.empty((bones, count)), np.empty((bones, count, 4))
    coefficients = np.zeros((bones, count, count, 4))
    rows = np.arange(bones)[:, None]
    for example in range(count):
        hood = np.argsort(squares[:, example], axis=1, kind="stable")[:, : neighbours + 1]
        own = squares[rows[..., None], hood[:, :, None], hood[:, None]]
        widths[:, example] = width * median_distances(own)
        here = each[:, example]
        relative = rotations.same_side(rotations.multiply(each[rows, hood], rotations.inverse(here)[:, None]))
        start, weights = kernel_cca(own, relative, widths[:, example], ridge)
        offsets[:, example] = rotations.multiply(start, here)
        coefficients[rows, example, hood] = rotations.multiply(weights, here[:, None])
    return Models(widths, offsets, coefficients, units, neighbours)


def squares_of(samples: Floats, near: Ints) -> Floats:
    """Squared distances (B, S, S) between the examples, by the points that each bone listens to."""
    gaps = samples[:, None] - samples[None]
    return np.moveaxis((gaps**2).sum(axis=3)[..., near].sum(axis=3), 2, 0)


def squares_of_seen(seen: Floats) -> Floats:
    """Squared distances (B, S, S) between the examples, by points (S, B, C, 3) as each bone sees its own."""
    flat = np.swapaxes(seen.reshape(*seen.shape[:2], -1), 0, 1)
    sizes = (flat**2).sum(axis=2)
    return np.asarray(np.maximum(sizes[:, :, None] + sizes[:, None] - 2 * flat @ np.swapaxes(flat, 1, 2), 0.0))


def middle_of(turns: Floats) -> Floats:
    """The mean rotation (B, 4) of rotations (B, S, 4)."""
    return rotations.polar(rotations.matrices(turns).mean(axis=1))[0]
