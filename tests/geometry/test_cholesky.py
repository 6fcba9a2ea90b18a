"""Sparse Cholesky with one unknown per node and several right-hand sides."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array, eye_array, tril
from scipy.sparse.linalg import spsolve

from posespace.geometry.cholesky import BlockCholesky


@pytest.mark.parametrize("count", [1, pytest.param(40, marks=pytest.mark.slow), 700])
def test_one_unknown_per_node_and_many_right_hand_sides(count: int) -> None:
    generator = np.random.default_rng(count)
    points = generator.normal(size=(count, 3))
    ends = generator.integers(0, count, (3 * count, 2))
    graph = csr_array(coo_array((generator.uniform(0, 1, len(ends)), (ends[:, 0], ends[:, 1])), shape=(count, count)))
    matrix = graph @ graph.T + eye_array(count)
    lower = tril(matrix, format="coo")
    cholesky = BlockCholesky(points, lower.row.astype(np.int64), lower.col.astype(np.int64), width=1)
    right = generator.normal(size=(count, 3))
    found = cholesky.solve(lower.data[:, None, None], right)
    assert found is not None
    assert np.allclose(found, np.asarray(spsolve(matrix.tocsc(), right)).reshape(count, 3), atol=1e-9)
    assert cholesky.solve(-lower.data[:, None, None], right) is None
