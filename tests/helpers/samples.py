"""Samples of pose spaces, and the one line of an error."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import settings
from scipy.spatial.transform import Rotation

from posespace.errors import InputError

quick = settings(max_examples=30, deadline=None)


def scattered(rng: np.random.Generator, count: int, axes: int, size: float = 1.0) -> np.ndarray:
    """Random points no two of which are close, by jittering cells of a grid."""
    side = int(np.ceil(count ** (1 / axes)))
    cells = np.array(list(itertools.product(range(side), repeat=axes)), dtype=float)
    chosen = rng.permutation(cells)[:count]
    return size * (chosen + rng.uniform(-0.3, 0.3, chosen.shape))


def rotations(rng: np.random.Generator, count: int, joints: int, reach: float = 1.5) -> np.ndarray:
    """Rows of `joints` unit quaternions with random signs, their rotations spread over a ball of rotation vectors."""
    vectors = np.stack([scattered(rng, count, 3) for _ in range(joints)], axis=1)
    vectors *= reach / np.abs(vectors).max()
    quaternions = Rotation.from_rotvec(vectors.reshape(-1, 3)).as_quat().reshape(count, joints, 4)
    return (quaternions * rng.choice([-1.0, 1.0], (count, joints, 1))).reshape(count, -1)


def error_of(call: Callable[[], object]) -> str:
    with pytest.raises(InputError) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)
