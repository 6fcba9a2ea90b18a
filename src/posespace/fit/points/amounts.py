"""How much each bone has of what is not a rotation, learned from the same kernels: of corrections, of relief.

What is learned of the examples is a few components and each example's coordinates; a bone predicts these coordinates
from the points it listens to, so that a component, too, follows near points alone.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from posespace.check import Floats
from posespace.interpolate.kernel_cca import centred_kernels, leave_one_out, ridge_weights
from posespace.skin.bones.learned import LearnedBones

RIDGE = 0.1
"""Of the kernels' mean variance: what is left beside rotations is noisier than they are."""

_TRIED = 20_000
"""Vertices that are looked at, spread evenly over all."""

_NONE = 1e-4
"""Components of less than this fraction of the largest are left out."""


def principal(values: Floats, count: int) -> tuple[Floats, Floats]:
    """Return values (S, X) as coordinates (S, K) times components (K, X), at most `count`, the largest first."""
    exact = values.astype(np.float64)
    sizes, vectors = np.linalg.eigh(exact @ exact.T)
    order = np.argsort(-sizes)[:count]
    order = order[sizes[order] > _NONE**2 * max(float(sizes.max(initial=0.0)), 1e-300)]
    size = np.sqrt(len(values))
    return vectors[:, order] * size, (vectors[:, order].T / size).astype(values.dtype) @ values


def with_amounts(bones: LearnedBones, squares: Floats, coordinates: Floats, components: Floats) -> LearnedBones:
    """Return bones whose models also give the coordinates (S, K) of the examples.

    Each bone's are shrunk by one factor, so that they predict best what each example has when it is left out.

    Parameters
    ----------
    bones : what they have so far
    squares : (B, S, S) between the examples, as each bone sees its points
    coordinates : of the examples
    components : (K, N, X) what one unit of each does to each vertex
    """
    kept = _kept(squares, bones, coordinates, components)
    offsets, weights = (_one_model if bones.widths.shape[1] == 1 else _by_example)(squares, bones, coordinates)
    offsets, weights = kept[:, None, None] * offsets, kept[:, None, None, None] * weights
    return replace(
        bones,
        offsets=np.concatenate([bones.offsets, offsets.astype(np.float32)], axis=2),
        coefficients=np.concatenate([bones.coefficients, weights.astype(np.float32)], axis=3),
    )


def _one_model(squares: Floats, bones: LearnedBones, values: Floats) -> tuple[Floats, Floats]:
    """Offsets (B, 1, K) and coefficients (B, 1, S, K) from all examples."""
    offsets, weights = _ridge(squares, bones.widths[:, 0], np.broadcast_to(values, (len(bones), *values.shape)))
    return offsets[:, None], weights[:, None]


def _by_example(squares: Floats, bones: LearnedBones, values: Floats) -> tuple[Floats, Floats]:
    """Offsets (B, S, K) and coefficients (B, S, S, K), a model from the neighbours of each example."""
    count, size = values.shape
    offsets, weights = np.empty((len(bones), count, size)), np.zeros((len(bones), count, count, size))
    rows = np.arange(len(bones))[:, None]
    for example in range(count):
        hood = np.argsort(squares[:, example], axis=1, kind="stable")[:, : bones.blended + 1]
        own = squares[rows[..., None], hood[:, :, None], hood[:, None]]
        offsets[:, example], found = _ridge(own, bones.widths[:, example], values[hood])
        weights[rows, example, hood] = found
    return offsets, weights


def _ridge(squares: Floats, widths: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Offsets (B, K) and coefficients (B, S, K) of kernel ridge regression."""
    kernels, row = centred_kernels(squares, widths.astype(np.float64))
    mean = values.mean(axis=1, keepdims=True)
    weights = ridge_weights(kernels, values - mean, RIDGE)
    return mean[:, 0] - np.einsum("bs,bsk->bk", row, weights), weights


def _kept(squares: Floats, bones: LearnedBones, coordinates: Floats, components: Floats) -> Floats:
    """By what factor (B,), from 0 to 1, each bone's predictions suit best what its skin has where each is left out."""
    every = np.broadcast_to(coordinates, (len(bones), *coordinates.shape))
    amounts = every - leave_one_out(squares, every, bones.widths[:, 0].astype(np.float64), RIDGE)
    some = np.unique(np.linspace(0, len(bones.weights) - 1, min(len(bones.weights), _TRIED)).astype(int))
    influences, weights = bones.influences[some], bones.weights[some]
    own = np.einsum("nj,njsk->nsk", weights, amounts[influences])
    found = np.einsum("nsk,knx->nsx", own, components[:, some], optimize=True)
    true = np.einsum("sk,knx->nsx", coordinates, components[:, some], optimize=True)

    def of_bones(products: Floats) -> Floats:
        each = weights * products.sum(axis=(1, 2))[:, None]
        return np.bincount(influences.ravel(), each.ravel(), minlength=len(bones)).astype(np.float64)

    return np.asarray(np.clip(of_bones(found * true) / np.maximum(of_bones(found**2), 1e-300), 0.0, 1.0))
