"""Amounts: coordinates of corrections and of detail, which each bone predicts with the kernels of its rotation.

The examples are decomposed into a few components, with coordinates for each example. A bone predicts these coordinates
from the points that influence it, so that a component, too, depends on near points alone.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from posespace.check import Floats
from posespace.fit.points.kernel_models import neighbourhood
from posespace.interpolate.kernel_cca import centred_kernels, leave_one_out, ridge_weights
from posespace.skin.bones.learned import LearnedBones

RIDGE = 0.1
"""Relative to the kernels' mean variance, and larger than for rotations because residuals are noisier."""

_VERTICES = 20_000
"""Most vertices, spread evenly, that predictions are compared on."""

_LEAST = 1e-4
"""Components smaller than this fraction of the largest are dropped."""


def principal(values: Floats, count: int) -> tuple[Floats, Floats]:
    """Factor values (S, X) into coordinates (S, K) times components (K, X), at most `count`, the largest first."""
    exact = values.astype(np.float64)
    sizes, vectors = np.linalg.eigh(exact @ exact.T)
    order = np.argsort(-sizes)[:count]
    order = order[sizes[order] > _LEAST**2 * max(float(sizes.max(initial=0.0)), 1e-300)]
    size = np.sqrt(len(values))
    return vectors[:, order] * size, (vectors[:, order].T / size).astype(values.dtype) @ values


def with_amounts(bones: LearnedBones, squares: Floats, coordinates: Floats, components: Floats) -> LearnedBones:
    """Return bones whose models also predict the coordinates (S, K) of the examples.

    The predictions of each bone are shrunk by the factor that makes their leave-one-out error least.

    Parameters
    ----------
    bones : give rotations, and perhaps other amounts
    squares : (B, S, S) squared distances between the examples, for each bone
    coordinates : of the examples
    components : (K, N, X) what one unit of each adds to each vertex
    """
    shrink = _shrink(squares, bones, coordinates, components)
    offsets, weights = (_one_model if bones.widths.shape[1] == 1 else _models_by_example)(squares, bones, coordinates)
    offsets, weights = shrink[:, None, None] * offsets, shrink[:, None, None, None] * weights
    return replace(
        bones,
        offsets=np.concatenate([bones.offsets, offsets.astype(np.float32)], axis=2),
        coefficients=np.concatenate([bones.coefficients, weights.astype(np.float32)], axis=3),
    )


def _one_model(squares: Floats, bones: LearnedBones, values: Floats) -> tuple[Floats, Floats]:
    """Offsets (B, 1, K) and coefficients (B, 1, S, K) from all examples."""
    offsets, weights = _ridge(squares, bones.widths[:, 0], np.broadcast_to(values, (len(bones), *values.shape)))
    return offsets[:, None], weights[:, None]


def _models_by_example(squares: Floats, bones: LearnedBones, values: Floats) -> tuple[Floats, Floats]:
    """Offsets (B, S, K) and coefficients (B, S, S, K), a model from the neighbours of each example."""
    count, size = values.shape
    offsets, weights = np.empty((len(bones), count, size)), np.zeros((len(bones), count, count, size))
    rows = np.arange(len(bones))[:, None]
    for example in range(count):
        nearest, local_squares = neighbourhood(squares, example, bones.blended)
        offsets[:, example], coefficients = _ridge(local_squares, bones.widths[:, example], values[nearest])
        weights[rows, example, nearest] = coefficients
    return offsets, weights


def _ridge(squares: Floats, widths: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Offsets (B, K) and coefficients (B, S, K) of kernel ridge regression."""
    kernels, row = centred_kernels(squares, widths.astype(np.float64))
    mean = values.mean(axis=1, keepdims=True)
    weights = ridge_weights(kernels, values - mean, RIDGE)
    return mean[:, 0] - np.einsum("bs,bsk->bk", row, weights), weights


def _shrink(squares: Floats, bones: LearnedBones, coordinates: Floats, components: Floats) -> Floats:
    """The factor (B,), from 0 to 1, on each bone's predictions that makes the leave-one-out error of its skin least."""
    truth = np.broadcast_to(coordinates, (len(bones), *coordinates.shape))
    amounts = truth - leave_one_out(squares, truth, bones.widths[:, 0].astype(np.float64), RIDGE)
    count = len(bones.weights)
    sampled = np.unique(np.linspace(0, count - 1, min(count, _VERTICES)).astype(int))
    influences, weights = bones.influences[sampled], bones.weights[sampled]
    blended = np.einsum("nj,njsk->nsk", weights, amounts[influences])
    predicted = np.einsum("nsk,knx->nsx", blended, components[:, sampled], optimize=True)
    observed = np.einsum("sk,knx->nsx", coordinates, components[:, sampled], optimize=True)

    def by_bone(products: Floats) -> Floats:
        weighted = weights * products.sum(axis=(1, 2))[:, None]
        return np.bincount(influences.ravel(), weighted.ravel(), minlength=len(bones)).astype(np.float64)

    best = by_bone(predicted * observed) / np.maximum(by_bone(predicted**2), 1e-300)
    return np.asarray(np.clip(best, 0.0, 1.0))
