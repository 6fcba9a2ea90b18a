"""The rotation nearest a matrix: both ways agree, and the fast one says where it does not know."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posespace.geometry.nearest_rotation import clear_rotation, nearest_rotation


@given(st.integers(0, 2**32 - 1), st.floats(-100, 100), st.floats(-6, 0), st.floats(-6, 0))
def test_a_clear_rotation_is_the_nearest_one(seed: int, size: float, second: float, third: float) -> None:
    rng = np.random.default_rng(seed)
    left, right = (np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(2))
    matrix = 10.0**size * left @ np.diag([1.0, 10.0**second, 10.0**third]) @ right
    fast, nearest = np.empty((3, 3)), np.empty((3, 3))
    nearest_rotation(matrix, nearest)
    if clear_rotation(matrix, fast):
        np.testing.assert_allclose(fast, nearest, atol=1e-10)
        np.testing.assert_allclose(fast @ fast.T, np.eye(3), atol=1e-10)
        assert np.linalg.det(fast) > 0
    else:
        assert second < -2 or np.linalg.det(matrix) < 0


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_rotations_and_their_multiples_are_clear(scale: float) -> None:
    rotation, found = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]), np.empty((3, 3))
    assert clear_rotation(scale * rotation, found)
    np.testing.assert_allclose(found, rotation, atol=1e-12)


@pytest.mark.parametrize("matrix", [np.zeros((3, 3)), -np.eye(3), np.diag([1.0, 0.0, 0.0]), np.full((3, 3), np.nan)])
def test_what_leaves_the_rotation_open_is_not_clear(matrix: np.ndarray) -> None:
    assert not clear_rotation(matrix, np.empty((3, 3)))
