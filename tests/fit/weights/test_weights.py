"""Weights optimised on examples: they find the truth, never do harm on the fit examples, and are always valid."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers.strategies import random_pose, random_rig, seeds
from hypothesis import given, settings

import posespace as ps
from posespace.check import Floats
from posespace.rig import pack_weights


def posed(rig: ps.Rig, true: ps.Rig, rng: np.random.Generator, poses: int, noise: float = 0.0) -> ps.Examples:
    """Examples of `rig` whose shapes are those of `true`, with noise."""
    motion = ps.Motion.from_poses([random_pose(rng, rig, 1.5) for _ in range(poses)])
    shapes = np.stack([true.skin(pose) for pose in motion])
    return ps.Examples.from_shapes(rig, motion, shapes + noise * rng.normal(size=shapes.shape))


def error(examples: ps.Examples, rig: ps.Rig, displacements: Floats | None = None) -> float:
    added = [None] * len(examples) if displacements is None else displacements
    return sum(
        float(((rig.skin(pose, more) - shape) ** 2).sum()) for (pose, shape), more in zip(examples, added, strict=True)
    )


def with_weights(rig: ps.Rig, dense: Floats, most: int) -> ps.Rig:
    influences, weights = pack_weights(dense, most)
    return replace(rig, influences=influences, weights=weights)


def assert_valid(rig: ps.Rig, influences: int) -> None:
    assert rig.weights.shape[1] <= influences
    assert rig.weights.min() >= 0
    np.testing.assert_allclose(rig.weights.sum(axis=1), 1, atol=1e-9)
    assert (np.diff(rig.weights, axis=1) <= 1e-12).all(), "strongest first"


@pytest.mark.parametrize("displaced", [False, True])
def test_true_weights_are_recovered(displaced: bool) -> None:
    rng = np.random.default_rng(7)
    rig = random_rig(rng, vertices=60, joints=4)
    true = with_weights(rig, rng.random((60, 4)) ** 2, 3)
    start = with_weights(rig, np.full((60, 4), 0.25), 3)
    examples = posed(start, true, rng, 12)
    added = 0.2 * rng.normal(size=(12, 60, 3)) if displaced else None
    if added is not None:
        shapes = [true.skin(pose, more) for pose, more in zip(examples.motion, added, strict=True)]
        examples = ps.Examples.from_shapes(start, examples.motion, shapes)
    found = ps.optimise_weights(examples, 3, smoothness=0.0, displacements=added)
    related = found.dense_weights() - true.dense_weights()
    tried = _reachable(start, true)
    assert tried.sum() > 30
    assert np.abs(related[tried]).max() < 1e-4


def _reachable(start: ps.Rig, true: ps.Rig) -> np.ndarray:
    """Vertices whose true joints are related, in the skeleton, to a given one: others are not tried."""
    parents = start.skeleton.parents
    link = np.eye(len(parents))
    for joint, parent in enumerate(parents):
        if parent >= 0:
            link[joint, parent] = link[parent, joint] = 1
    near = start.dense_weights() @ link @ link > 0
    return np.asarray((near | (true.dense_weights() == 0)).all(axis=1))


@settings(max_examples=25, deadline=None)
@given(seeds)
def test_weights_are_valid_and_never_raise_the_error(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rig = random_rig(rng, vertices=15, joints=int(rng.integers(1, 7)), scaled=bool(rng.integers(2)))
    most = int(rng.integers(1, 9))
    start = with_weights(rig, rig.dense_weights(), most)
    examples = posed(start, random_rig_like(rng, rig), rng, int(rng.integers(1, 5)), noise=0.1)
    added = rng.normal(size=(len(examples), 15, 3)) if rng.random() < 0.5 else None
    smoothness = float(rng.choice([0.0, 0.01, 10.0]))
    rounds = int(rng.integers(1, 6))
    found = ps.optimise_weights(examples, most, rounds, smoothness, added)
    assert_valid(found, most)
    assert error(examples, found, added) <= error(examples, start, added) * (1 + 1e-9)
    again = ps.optimise_weights(examples, most, rounds, smoothness, added)
    assert np.array_equal(found.weights, again.weights)


def random_rig_like(rng: np.random.Generator, rig: ps.Rig) -> ps.Rig:
    """The rig with other weights."""
    return with_weights(rig, rng.random((len(rig.mesh.points), len(rig.skeleton))), 4)


def test_seams_get_equal_weights_and_joints_that_never_move_apart_keep_theirs() -> None:
    rng = np.random.default_rng(3)
    rig = random_rig(rng, vertices=30, joints=4)
    points = rig.mesh.points.copy()
    points[20:] = points[:10]
    rig = replace(rig, mesh=ps.Mesh(points, rig.mesh.triangles))
    found = ps.optimise_weights(posed(rig, random_rig_like(rng, rig), rng, 5))
    assert np.array_equal(found.dense_weights()[20:], found.dense_weights()[:10])
    still = ps.Examples.from_shapes(rig, ps.Motion.from_poses([rig.rest]), points[None])
    merged = rig.mesh.weld.scatter(rig.mesh.weld.gather(rig.dense_weights()))
    np.testing.assert_allclose(ps.optimise_weights(still, 8).dense_weights(), merged, atol=1e-3)


def test_optimised_weights_lower_the_error_of_eigenskin_on_unseen_poses() -> None:
    train, unseen = ps.datasets.bending_arm(rings=24, sides=12)
    plain = ps.EigenSkin().fit(train)
    skin = ps.EigenSkin(weights="optimised").fit(train)
    assert ps.evaluate(ps.Skin(skin.rig), unseen).rel_err < 0.9
    assert ps.evaluate(skin, unseen).rel_err < ps.evaluate(plain, unseen).rel_err
    assert plain.rig is train.rig
    assert skin.about["settings"]["weights"] == "optimised"
    assert_valid(skin.rig, 4)


def test_bad_input_is_refused_in_one_line() -> None:
    rng = np.random.default_rng(1)
    rig = random_rig(rng, vertices=8, joints=3)
    examples = posed(rig, rig, rng, 2)
    bad = [
        ({"influences": 0}, "influences: expected 1 to 8, got 0"),
        ({"influences": 9}, "influences: expected 1 to 8, got 9"),
        ({"rounds": 0}, "expected at least 1 and at least 0, got 0"),
        ({"smoothness": -1.0}, "got 20 and -1.0"),
        ({"smoothness": float("nan")}, "got 20 and nan"),
        ({"displacements": np.zeros((1, 8, 3))}, r"displacements: expected shape \(2, 8, 3\), got \(1, 8, 3\)"),
    ]
    for wrong, message in bad:
        with pytest.raises(ps.InputError, match=message):
            ps.optimise_weights(examples, **wrong)  # type: ignore[arg-type]
    turned = replace(examples, rig=replace(rig, blending="dual_quaternion"))
    for refused in (ps.optimise_weights, ps.EigenSkin(weights="optimised").fit):
        with pytest.raises(ps.InputError, match="expected a rig with linear blending, got dual_quaternion"):
            refused(turned)
    with pytest.raises(ps.InputError, match="at least one shape"):
        ps.optimise_weights(examples[np.arange(0)])
    with pytest.raises(ps.InputError, match="too large"):
        ps.optimise_weights(ps.Examples.from_shapes(rig, examples.motion, np.full((2, 8, 3), 1e200)))
    with pytest.raises(ps.InputError, match="weights: expected one of given, optimised, got 'best'"):
        ps.EigenSkin(weights="best")
