"""Detail that control points drive: heights by kernel CCA from all points, kept as a few principal components.

Each height is learned by itself from the same examples, so all heights are mixtures of those of the examples: what a
frame computes is one product of a few coordinates and the components.
"""

from __future__ import annotations

import numpy as np

from posespace.check import Floats
from posespace.examples import Examples
from posespace.interpolate.fitted import RBFInterpolant
from posespace.interpolate.kernel_cca import BACK, centred_kernels
from posespace.layer import Detail, Driver
from posespace.spaces import PoseSpace

_NONE = 1e-6
"""Components of less than this fraction of the largest are left out."""


def fit_detail(examples: Examples, space: PoseSpace, places: Floats, width: float, ridge: float) -> Detail:
    """Fit the detail of examples that have heights.

    Parameters
    ----------
    space : of the points
    places : (S, D) where the examples are in it
    width, ridge : of the kernels: over the median distance, over their mean variance
    """
    assert examples.heights is not None
    heights = np.stack([np.asarray(examples.heights[k], dtype=np.float32) for k in range(len(examples))])
    mean = heights.mean(axis=0)
    heights -= mean
    squares = ((places[:, None] - places) ** 2).sum(axis=2)
    count = len(squares)
    radius = width * max(float(np.sqrt(np.median(squares[np.triu_indices(count, 1)]))), 1e-9)
    kernels, row = centred_kernels(squares, np.asarray(radius))
    scale = float(np.trace(kernels)) / count
    # What each kernel adds to the share of each example in the heights.
    shares = np.linalg.inv(kernels + (ridge * scale + 1e-12) * np.eye(count))
    shares -= shares.mean(axis=0)
    heights *= _unshrunk(heights, kernels @ shares)
    turned, components = _principal(heights)
    weights = np.zeros((count + 1, 1 + len(components)))
    weights[:count, 1:] = shares @ turned
    weights[count, 1:] = -row @ weights[:count, 1:]
    weights[count, 0] = 1.0
    centres = np.asarray(places, dtype=np.float64)
    driven = RBFInterpolant("gaussian", "euclidean", "constant", np.full(places.shape[1], radius), centres, weights)
    return Detail(examples.levels, Driver(space, driven), np.concatenate([mean[None], components]))


def _unshrunk(heights: Floats, smoothed: Floats) -> Floats:
    """(V,) by what to multiply each vertex's heights so that kernel ridge regression becomes kernel CCA."""
    scores = smoothed.T.astype(np.float32) @ heights
    size = np.einsum("sv,sv->v", scores, scores)
    back = np.einsum("sv,sv->v", scores, heights) / np.where(size > 0, (1 + BACK) * size, 1.0)
    return np.where(size > 0, back, 1.0).astype(np.float32)


def _principal(heights: Floats) -> tuple[Floats, Floats]:
    """Heights (S, V) as coordinates (S, C) times components (C, V), each component as large as heights are."""
    gram = heights.astype(np.float64) @ heights.T
    values, vectors = np.linalg.eigh(gram)
    kept = values > _NONE**2 * max(float(values.max(initial=0.0)), 1e-300)
    size = np.sqrt(len(heights))
    return vectors[:, kept] * size, (vectors[:, kept].T / size).astype(np.float32) @ heights
