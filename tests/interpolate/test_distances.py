"""Distances in a pose space are what they say, for any angle and any number of blocks."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from helpers.samples import error_of, quick, rotations
from helpers.strategies import seeds
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from posespace.interpolate.distances import distances
from posespace.interpolate.rbf import RBF


@given(seeds, st.integers(1, 5), st.integers(0, 6), st.integers(1, 6))
@quick
def test_euclidean_distance_is_the_norm_of_the_stretched_difference(seed, axes, first, second):
    rng = np.random.default_rng(seed)
    a, b, radius = rng.normal(size=(first, axes)), rng.normal(size=(second, axes)), rng.uniform(0.1, 9.0, axes)
    expected = np.array([[np.linalg.norm((p - q) / radius) for q in b] for p in a]).reshape(first, second)
    np.testing.assert_allclose(distances(a, b, radius=radius), expected, rtol=1e-13)


@given(seeds, st.integers(1, 3))
@quick
def test_rotation_distance_is_the_angle_of_the_relative_rotation(seed, joints):
    rng = np.random.default_rng(seed)
    a, b = rotations(rng, 5, joints, reach=3.0), rotations(rng, 4, joints, reach=3.0)
    radius = rng.uniform(0.1, 9.0, joints)
    squares = np.zeros((5, 4))
    for i, j, k in itertools.product(range(5), range(4), range(joints)):
        one, other = Rotation.from_quat(a[i, 4 * k : 4 * k + 4]), Rotation.from_quat(b[j, 4 * k : 4 * k + 4])
        squares[i, j] += ((one.inv() * other).magnitude() / radius[k]) ** 2
    found = distances(a, b, "rotation", radius)
    np.testing.assert_allclose(found, np.sqrt(squares), rtol=1e-12)
    np.testing.assert_allclose(distances(-a, b, "rotation", radius), found, rtol=1e-12)


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-7, 1e-3, 1.0, 3.0, np.pi])
def test_rotation_distance_is_accurate_for_any_angle(angle):
    turned = Rotation.from_rotvec([0.0, angle, 0.0]).as_quat()[None]
    for either in (turned, -turned, 1.0005 * turned):
        found = distances(either, [[0.0, 0.0, 0.0, 1.0]], "rotation")[0, 0]
        assert found == pytest.approx(angle, rel=1e-12, abs=2e-15)


def test_distances_in_several_blocks_equal_those_in_one(monkeypatch):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(50, 3)), rng.normal(size=(7, 3))
    whole, fitted = distances(a, b), RBF().fit(b, b)
    values = fitted(a)
    monkeypatch.setattr("posespace.interpolate.distances._BLOCK", 64)
    np.testing.assert_array_equal(distances(a, b), whole)
    np.testing.assert_allclose(fitted(a), values, rtol=1e-13)


def test_distances_refuse_wrong_input_and_say_what_came():
    one = np.zeros((1, 3))
    assert "euclidean, rotation" in error_of(lambda: distances(one, one, "taxi"))
    assert "got 3 columns" in error_of(lambda: distances(one, one, "rotation"))
    assert "unit quaternions" in error_of(lambda: distances([[1.0, 1, 1, 1]], [[0.0, 0, 0, 1]], "rotation"))
    assert "(Q, D)" in error_of(lambda: distances(np.zeros(3), one))
    assert "(M, 3)" in error_of(lambda: distances(one, np.zeros((1, 2))))
    assert "above 0" in error_of(lambda: distances(one, one, radius=0.0))
    assert "3 here" in error_of(lambda: distances(one, one, radius=[1.0, 2.0]))
