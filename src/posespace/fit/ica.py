"""Independent signals of a clip: FastICA in the span of its first principal components, in canonical order and sign."""

from __future__ import annotations

import warnings

import numpy as np

from posespace.check import Floats
from posespace.fit.gram import principal

_STEPS, _TOLERANCE = 2000, 1e-10


def independent_signals(gram: Floats, count: int) -> Floats:
    """Return `count` signals (K, P) of a clip whose frames have the products `gram` (P, P).

    They span what its first K principal components span, so they reproduce the frames as well as those do. What is zero
    in the frames is zero in the signals: the mean is removed only while ICA looks for independence.
    """
    rows = principal(gram, count)[1]
    middle = rows.mean(axis=1, keepdims=True)
    turn, sizes, _ = np.linalg.svd(rows - middle, full_matrices=False)
    # The frames may contain something constant; ICA cannot see it, so it becomes a signal of its own.
    varies = sizes > 1e-6
    # Whitened without a turn, so that where ICA starts does not depend on the signs of singular vectors.
    axes = np.eye(len(rows)) if varies.all() else turn[:, varies].T
    whiten = np.sqrt(len(gram)) * axes @ (turn[:, varies] / sizes[varies]) @ turn[:, varies].T
    unmix = _unmixing(whiten @ (rows - middle)) @ whiten
    return canonical(np.vstack([unmix, turn[:, ~varies].T]) @ rows, gram)


def principal_signals(gram: Floats, count: int) -> Floats:
    """Return the first principal components (K, P) in the form of `independent_signals`, to compare with."""
    return canonical(principal(gram, count)[1], gram)


def canonical(signals: Floats, gram: Floats) -> Floats:
    """Return signals (K, P) with mean square 1 and the largest value positive, those that move most first."""
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
    """The rotation (R, R) that makes rows (R, P) of unit variance most independent."""
    from sklearn.decomposition import FastICA
    from sklearn.exceptions import ConvergenceWarning

    if len(whitened) < 2:
        return np.eye(len(whitened))
    # Any rotation spans the same, so one that has not converged to the last digit is good enough.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        settings = FastICA(whiten=False, max_iter=_STEPS, tol=_TOLERANCE, random_state=0)
        return np.asarray(settings.fit(whitened.T).components_, dtype=np.float64)
