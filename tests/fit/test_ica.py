"""Independent signals are those that scikit-learn's FastICA finds from the same start."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.decomposition import FastICA
from sklearn.exceptions import ConvergenceWarning

from posespace import datasets
from posespace.fit import ica
from posespace.fit.gram import gram_of

Array = NDArray[np.float64]


def reference(whitened: Array) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        settings = FastICA(whiten=False, max_iter=ica._STEPS, tol=ica._TOLERANCE, random_state=0)
        return np.asarray(settings.fit(whitened.T).components_)


@pytest.mark.parametrize("count", [2, 3, 5, 8])
def test_random_mixtures_are_unmixed_as_by_scikit_learn(count: int) -> None:
    rng = np.random.default_rng(count)
    mixed = rng.normal(size=(count, count)) @ rng.laplace(size=(count, 300))
    left, _, right = np.linalg.svd(mixed - mixed.mean(axis=1, keepdims=True), full_matrices=False)
    whitened = np.sqrt(300) * left @ right
    np.testing.assert_allclose(ica._unmixing(whitened), reference(whitened), atol=1e-10)


# Where the iteration wanders before it settles (6 and 10 signals), rounding decides where in the tolerance it stops.
@pytest.mark.parametrize(("count", "tolerance"), [(2, 1e-9), (4, 1e-9), (6, 1e-4), (10, 1e-4)])
def test_the_signals_of_the_arm_are_those_of_scikit_learn(
    count: int, tolerance: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    clip = datasets.arm_clip()
    frames = np.stack([shape - clip.rig.skin(pose) for pose, shape in clip]).astype(np.float32)
    gram = gram_of(frames, np.arange(frames.shape[1], dtype=np.int32))
    own = ica.independent_signals(gram, count)
    monkeypatch.setattr(ica, "_unmixing", reference)
    np.testing.assert_allclose(own, ica.independent_signals(gram, count), atol=tolerance)


def test_signals_of_a_clip_that_hardly_moves_stay_apart() -> None:
    rng = np.random.default_rng(0)
    frames = np.outer(np.ones(12), rng.normal(size=40)) + 1e-3 * rng.normal(size=(12, 40))
    signals = ica.independent_signals(frames @ frames.T, 6)
    # Nearly equal signals would need huge displacements that cancel each other.
    assert np.linalg.cond(signals) < 30
