"""Independent signals of a clip: FastICA in the span of its first principal components, in canonical order and sign."""

from __future__ import annotations

import numpy as np

from posespace.check import Floats
from posespace.fit.gram import principal

_STEPS, _TOLERANCE = 2000, 1e-10

_STEADY = 0.1
"""A direction whose deviation is below this fraction of its size becomes a separate signal. Scaled to unit variance it
would have a huge mean, which all signals would share: they would be nearly equal, and their displacements huge."""


def independent_signals(gram: Floats, count: int) -> Floats:
    """Return `count` signals (K, P) of a clip whose frames have the products `gram` (P, P).

    They have the span of its first K principal components, so they reproduce the frames equally well. Where a frame is
    zero so are the signals: their mean is removed only to measure independence.
    """
    rows = principal(gram, count)[1]
    middle = rows.mean(axis=1, keepdims=True)
    left, sizes, _ = np.linalg.svd(rows - middle, full_matrices=False)
    # ICA cannot see what hardly changes over the frames, so that becomes a separate signal.
    varies = sizes > _STEADY
    # Whitened without a rotation, so that ICA's start does not depend on the signs of singular vectors.
    axes = np.eye(len(rows)) if varies.all() else left[:, varies].T
    whiten = np.sqrt(len(gram)) * axes @ (left[:, varies] / sizes[varies]) @ left[:, varies].T
    unmix = _unmixing(whiten @ (rows - middle)) @ whiten
    return canonical(np.vstack([unmix, left[:, ~varies].T]) @ rows, gram)


def principal_signals(gram: Floats, count: int) -> Floats:
    """Return the first principal components (K, P) in the form of `independent_signals`, for comparison."""
    return canonical(principal(gram, count)[1], gram)


def canonical(signals: Floats, gram: Floats) -> Floats:
    """Return signals (K, P) scaled to mean square 1 and a positive largest value, ordered by energy."""
    signals = signals / np.sqrt((signals**2).mean(axis=1, keepdims=True))
    strongest = np.take_along_axis(signals, np.abs(signals).argmax(axis=1)[:, None], axis=1)
    signals = signals * np.sign(strongest)
    order = np.argsort(-energies(signals, gram), kind="stable")
    return np.asarray(signals[order])


def energies(signals: Floats, gram: Floats) -> Floats:
    """Return (K,) the energy of each signal: its squared displacements, summed over vertices, mean over frames."""
    inverse = np.linalg.pinv(signals)
    return np.asarray(np.einsum("pk,pq,qk->k", inverse, gram, inverse) * (signals**2).mean(axis=1))


def _unmixing(whitened: Floats) -> Floats:
    """Return the rotation (R, R) that makes rows (R, P) of unit variance most independent.

    FastICA (Hyvärinen 1999): all rows at once, with log cosh as the measure, from a start that is always the same.
    """
    if len(whitened) < 2:
        return np.eye(len(whitened))
    rotation = _orthogonal(np.random.RandomState(0).normal(size=(len(whitened), len(whitened))))
    # Any rotation spans the same space, so it does no harm if the last one has not fully converged.
    for _ in range(_STEPS):
        before, slopes = rotation, np.tanh(rotation @ whitened)
        curvature = (1 - slopes**2).mean(axis=1, keepdims=True)
        rotation = _orthogonal(slopes @ whitened.T / whitened.shape[1] - curvature * before)
        if np.abs(np.abs((rotation * before).sum(axis=1)) - 1).max() < _TOLERANCE:
            break
    return rotation


def _orthogonal(matrix: Floats) -> Floats:
    """Return the orthogonal matrix nearest to a square one."""
    left, _, right = np.linalg.svd(matrix)
    return np.asarray(left @ right)
