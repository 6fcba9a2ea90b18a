"""Principal components of a term: a smooth regression extrapolates from them as it does from the poses themselves."""

from __future__ import annotations

import numpy as np
import pytest

from posespace.fit.eigenskin.term_components import decompose
from posespace.fit.eigenskin.term_domains import RegionDomain
from posespace.fit.eigenskin.terms import Term
from posespace.fit.regression import PoseCoordinates, Regression, RegressionChoice, spread_nodes
from posespace.poses.spaces import PoseSpace
from posespace.skin.basis import combined

FRAMES, FITTED, AXES, VERTICES = 60, 48, 6, 30


@pytest.mark.parametrize("radius", [1.0, 3.0])
@pytest.mark.parametrize("smoothing", [1e-7, 1e-5])
@pytest.mark.parametrize("seed", range(4))
def test_rounding_in_single_precision_is_not_magnified_beyond_the_nodes(
    seed: int, smoothing: float, radius: float
) -> None:
    rng = np.random.default_rng(seed)
    poses = _curve(rng)
    linear, quadratic = rng.normal(size=(2, AXES, VERTICES, 3))
    shapes = (np.tensordot(poses, linear, 1) + np.tensordot(poses**2, quadratic, 1)).astype(np.float32)
    space = PoseSpace("controls", tuple(f"dial{k}" for k in range(AXES)))
    samples = PoseCoordinates(space, np.ones(AXES), np.zeros(AXES), poses[:FITTED])
    regression = Regression(samples, spread_nodes(samples, FITTED), radius * samples.extent, smoothing)
    values = np.tensordot(regression.operator, shapes[:FITTED], 1).astype(np.float32)
    domain = RegionDomain("all", regression, RegressionChoice(radius * samples.extent, smoothing, 0.0, 1.0, 1.0))
    term = Term(domain, VERTICES, np.arange(VERTICES), values, regression.features)
    layer = decompose(term, np.ones(VERTICES, dtype=np.float32), FITTED).layer(None, 32)
    assert layer is not None
    exact = np.tensordot(regression.interpolant(regression.operator)(poses[FITTED:]), shapes[:FITTED], 1)
    by_components = [combined(layer.basis, row) for row in layer.driver.interpolant(poses[FITTED:])]
    assert np.linalg.norm(by_components - exact) < 0.01 * np.linalg.norm(exact)


def _curve(rng: np.random.Generator) -> np.ndarray:
    """A smooth clip (FRAMES, AXES) that starts at rest."""
    sizes, phases = rng.normal(size=(3, AXES)), rng.uniform(0, 2 * np.pi, (3, AXES))
    times = 3 * np.linspace(0, 1, FRAMES)[:, None]
    waves = [
        size * (np.sin(k * times + phase) - np.sin(phase))
        for k, (size, phase) in enumerate(zip(sizes, phases, strict=True), 1)
    ]
    return np.asarray(np.sum(waves, axis=0))
