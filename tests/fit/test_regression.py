"""Regression: zero at rest, through its values, validated on held-out poses, and noise is not learned."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.clips import tube_rig, waves
from helpers.strategies import seeds
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from posespace.fit.regression import (
    EXACT,
    FOLDS,
    RADII,
    REACH,
    SMOOTHINGS,
    CrossValidation,
    PoseCoordinates,
    Regression,
    RegressionChoice,
    pinned_kernel,
    principal_coordinates,
    spread_nodes,
)
from posespace.motion import Motion
from posespace.poses.spaces import PoseSpace

Array = NDArray[np.float64]


def samples_of(seed: int, count: int = 24, axes: int = 3) -> PoseCoordinates:
    """Scattered poses in a space of controls, each of its own unit; rest is not zero."""
    rng = np.random.default_rng(seed)
    space = PoseSpace("controls", tuple(f"dial{k}" for k in range(axes)))
    return PoseCoordinates(space, rng.uniform(0.2, 5.0, axes), rng.normal(size=axes), rng.normal(size=(count, axes)))


def coordinates(samples: PoseCoordinates) -> Array:
    """The poses in the units of the axes."""
    return np.asarray(samples.rest + samples.poses / samples.lengths)


def held_out_by_refitting(samples: PoseCoordinates, values: Array, radius: float, smoothing: float) -> Array:
    """Errors of each fold predicted by a fit to all the others."""
    count, errors = len(samples.poses), np.empty_like(values)
    kernel = pinned_kernel(samples.poses, samples.poses, radius)
    cost = smoothing * np.diag(kernel).mean()
    for fold in np.array_split(np.arange(count), min(FOLDS, count)):
        kept = np.setdiff1d(np.arange(count), fold)
        weights = np.linalg.solve(kernel[np.ix_(kept, kept)] + cost * np.eye(len(kept)), values[kept])
        errors[fold] = values[fold] - kernel[np.ix_(fold, kept)] @ weights
    return errors


@settings(max_examples=20)
@given(seeds, st.integers(2, 24), st.sampled_from(RADII), st.sampled_from(SMOOTHINGS))
def test_the_function_is_zero_at_rest_and_is_features_times_values(
    seed: int, most: int, radius: float, smoothing: float
) -> None:
    samples = samples_of(seed)
    regression = Regression(samples, spread_nodes(samples, most), radius * samples.extent, smoothing)
    assert regression.nodes.shape == (most, 3)
    values = np.random.default_rng(seed).normal(size=(24, 2))
    at_nodes = regression.operator @ values
    played = regression.interpolant(at_nodes)
    size = np.abs(played.weights).max() + 1
    np.testing.assert_allclose(played(samples.rest[None]), 0, atol=1e-12 * size)
    np.testing.assert_allclose(played(coordinates(samples)), regression.features @ at_nodes, atol=1e-10 * size)
    shifted = regression.interpolant(at_nodes + 3.0, 3.0)
    np.testing.assert_allclose(shifted(coordinates(samples)), 3.0 + regression.features @ at_nodes, atol=1e-10 * size)


@settings(max_examples=20)
@given(seeds, st.sampled_from(RADII[:2]))
def test_with_next_to_no_smoothing_it_passes_through_its_values(seed: int, radius: float) -> None:
    samples = samples_of(seed)
    regression = Regression(samples, spread_nodes(samples, 24), radius * samples.extent, 1e-10)
    values = np.random.default_rng(seed).normal(size=(24, 2))
    played = regression.interpolant(regression.operator @ values)
    np.testing.assert_allclose(played(coordinates(samples)), values, atol=1e-5)


@settings(max_examples=10)
@given(seeds, st.integers(3, 40))
def test_held_out_errors_are_those_of_fits_without_the_fold(seed: int, count: int) -> None:
    samples = samples_of(seed, count)
    values = np.random.default_rng(seed).normal(size=(count, 2)) + samples.poses[:, :2]
    choice = CrossValidation(samples).best(values)
    assert choice.plain_error == pytest.approx((values**2).sum())
    errors = held_out_by_refitting(samples, values, choice.radius, choice.smoothing)
    predicted = values - errors
    size = float((predicted**2).sum())
    shrink = float(np.clip((predicted * values).sum() / size, 0, 1)) if size > 0 else 0.0
    if choice.shrink > 0:
        assert choice.shrink == pytest.approx(shrink, rel=1e-6)
        assert choice.error == pytest.approx(((shrink * predicted - values) ** 2).sum(), rel=1e-6)


@settings(max_examples=6)
@given(seeds)
def test_no_other_choice_would_have_been_better(seed: int) -> None:
    samples = samples_of(seed, 20)
    values = np.sin(samples.poses) + 0.1 * np.random.default_rng(seed).normal(size=(20, 3))
    choice = CrossValidation(samples).best(values)
    for radius in RADII:
        for smoothing in SMOOTHINGS[2:]:
            predicted = values - held_out_by_refitting(samples, values, radius * samples.extent, smoothing)
            shrink = np.clip((predicted * values).sum() / (predicted**2).sum(), 0, 1)
            assert choice.error <= ((shrink * predicted - values) ** 2).sum() * (1 + 1e-6)


@settings(max_examples=10)
@given(seeds)
def test_linear_functions_of_the_pose_are_predicted(seed: int) -> None:
    samples = samples_of(seed, 40)
    slope = np.random.default_rng(seed).normal(size=(3, 2))
    choice = CrossValidation(samples).best(samples.poses @ slope)
    assert choice.relative_error < 0.1
    assert choice.shrink > 0.9


def test_noise_is_not_learned() -> None:
    shrunk = []
    for seed in range(10):
        samples = samples_of(seed, 60)
        choice = CrossValidation(samples).best(np.random.default_rng(100 + seed).normal(size=(60, 20)))
        assert choice.relative_error > 0.97
        learned = choice.regression(samples, 60)
        values = np.random.default_rng(100 + seed).normal(size=(60, 20))
        met = choice.shrink * learned.features @ (learned.operator @ values)
        shrunk.append(float((met**2).sum() / (values**2).sum()))
    assert np.mean(shrunk) < 0.02


def test_beyond_its_reach_the_function_stays_as_it_is() -> None:
    samples = samples_of(3)
    regression = Regression(samples, spread_nodes(samples, 24), samples.extent, 1e-3)
    played = regression.interpolant(regression.operator @ samples.poses)
    farthest = np.linalg.norm(samples.poses, axis=1).max()
    direction = np.array([[0.6, 0.0, 0.8]])
    edge, beyond = (played(samples.rest + factor * farthest * direction / samples.lengths) for factor in (REACH, 20.0))
    np.testing.assert_allclose(beyond, edge, atol=1e-9)
    inside = played(samples.rest + 0.9 * REACH * farthest * direction / samples.lengths)
    assert np.abs(inside - edge).max() > 1e-3


def test_nodes_are_poses_apart_from_each_other_and_from_rest() -> None:
    samples = samples_of(1)
    poses = np.vstack([samples.poses, samples.poses[:5], np.zeros((2, 3))])
    doubled = PoseCoordinates(samples.space, samples.lengths, samples.rest, poses)
    nodes = spread_nodes(doubled, 100)
    assert len(nodes) == 24
    assert {tuple(node) for node in nodes} == {tuple(pose) for pose in samples.poses}


def test_an_exact_choice_is_not_shrunk() -> None:
    samples = samples_of(2)
    choice = CrossValidation(samples).best(np.random.default_rng(0).normal(size=(24, 2)), exact=True)
    assert (choice.smoothing, choice.shrink) == (EXACT, 1.0)
    assert RegressionChoice(1.0, 1.0, 0.0, 0.0, 1.0).relative_error == 0


def test_coordinates_are_measured_from_rest_in_the_meshs_unit() -> None:
    rig = tube_rig()
    shifts = np.zeros((6, 3, 3))
    shifts[:, 2, 1] = waves(6, 1)[:, 0]
    motion = Motion(np.tile([0, 0, 0, 1.0], (6, 3, 1)), shifts)
    samples = PoseCoordinates.of(rig, motion, PoseSpace("freedoms", ("tip.ty",)))
    np.testing.assert_allclose(samples.poses[:, 0], shifts[:, 2, 1])
    assert samples.extent == pytest.approx(2 * np.abs(shifts).max())


@settings(max_examples=10)
@given(seeds)
def test_principal_coordinates_have_the_products(seed: int) -> None:
    frames = np.random.default_rng(seed).normal(size=(8, 30))
    found = principal_coordinates(frames @ frames.T)
    np.testing.assert_allclose(found @ found.T, frames @ frames.T, atol=1e-6 * (frames**2).sum())
