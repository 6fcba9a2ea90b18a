"""Independent signals of a clip: FastICA in the span of its first principal components, in canonical order and sign."""

from __future__ import annotations

import numpy as np

from posespace.check import Floats
from posespace.fit.gram import principal

_STEPS, _TOLERANCE = 2000, 1e-10

_STEADY = 0.1
"""What varies by less than this fraction of its size is a signal of its own. Scaled to unit variance it would have a
mean many times as large, which all signals would share: they would be nearly the same, and their displacements huge."""


def independent_signals(gram: Floats, count: int) -> Floats:
    """Return `count` signals (K, P) of a clip whose frames have the products `gram` (P, P).

    They span what its first K principal components span, so they reproduce the frames equally well. What is zero in
    the frames is zero in the signals: the mean stays in them and is removed only to measure independence.
    """
    rows = principal(gram, count)[1]
    middle = rows.mean(axis=1, keepdims=True)
    turn, sizes, _ = np.linalg.svd(rows - middle, full_matrices=False)
    # Something in the frames may hardly ever change; ICA cannot see it, so it becomes a signal of its own.
    varies = sizes > _STEADY
    # Whitened without a rotation, so that ICA's start does not depend on the signs of singular vectors.
    axes = np.eye(len(rows)) if varies.all() else turn[:, varies].T
    whiten = np.sqrt(len(gram)) * axes @ (turn[:, varies] / sizes[varies]) @ turn[:, varies].T
    unmix = _unmixing(whiten @ (rows - middle)) @ whiten
    return canonical(np.vstack([unmix, turn[:, ~varies].T]) @ rows, gram)


def principal_signals(gram: Floats, count: int) -> Floats:
    """Return the first principal components (K, P) in the form of `independent_signals`, for comparison."""
    return canonical(principal(gram, count)[1], gram)


def canonical(signals: Floats, gram: Floats) -> Floats:
    """Return signals (K, P) with mean square 1, the largest value positive, those that move most first."""
    signals = signals / np.sqrt((signals**2).mean(axis=1, keepdims=True))
    strongest = np.take_along_axis(signals, np.abs(signals).argmax(axis=1)[:, None], axis=1)
    signals = signals * np.sign(strongest)
    order = np.argsort(-energies(signals, gram), kind="stable")
    return np.asarray(signals[order])


def energies(signals: Floats, gram: Floats) -> Floats:
    """Return (K,) how far each signal moves the vertices: the mean over the frames of the summed squares."""
    inverse = np.linalg.pinv(signals)
    return np.asarray(np.einsum("pk,pq,qk->k", inverse, gram, inverse) * (signals**2).mean(axis=1))


def _unmixing(whitened: Floats) -> Floats:
    """Return the rotation (R, R) that makes rows (R, P) of unit variance most independent.

    FastICA (Hyvärinen 1999): all rows at once, with log cosh as the measure, from a start that is always the same.
    """
    if len(whitened) < 2:
        return np.eye(len(whitened))
    turn = _orthogonal(np.random.RandomState(0).normal(size=(len(whitened), len(whitened))))
    # Any rotation spans the same space, so one that has not settled to the last digit is as good.
    for _ in range(_STEPS):
        before, slopes = turn, np.tanh(turn @ whitened)
        curvature = (1 - slopes**2).mean(axis=1, keepdims=True)
        turn = _orthogonal(slopes @ whitened.T / whitened.shape[1] - curvature * before)
        if np.abs(np.abs((turn * before).sum(axis=1)) - 1).max() < _TOLERANCE:
            break
    return turn


def _orthogonal(matrix: Floats) -> Floats:
    """Return the orthogonal matrix nearest to a square one."""
    left, _, right = np.linalg.svd(matrix)
    return np.asarray(left @ right)
