"""Rows of four numbers, read and written eight at a time."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from posespace.runtime.cpu.lanes import LANES, inverse_of_largest, plus, put, store
from posespace.runtime.cpu.rows import ROW, gather, put_rows
from posespace.runtime.pointers import after, pointer


@njit
def _read(rows: np.ndarray, indices: np.ndarray, out: np.ndarray) -> None:
    """Write four columns (4, 8) of the eight rows (N, W) that `indices` names from the second on."""
    columns = gather(pointer(rows), rows.shape[1], pointer(indices), 1)
    for k in range(ROW):
        put(pointer(out), k * LANES, columns[k])


@pytest.mark.parametrize("width", [ROW, 8, 24])
def test_eight_rows_are_read_as_columns(width: int) -> None:
    rng = np.random.default_rng(width)
    rows = rng.normal(size=(30, width)).astype(np.float32)
    indices = rng.integers(0, 30, 1 + LANES).astype(np.int32)
    out = np.zeros((ROW, LANES), np.float32)
    _read(rows, indices, out)
    np.testing.assert_array_equal(out, rows[indices[1:], :ROW].T)


@njit
def _copy(rows: np.ndarray, indices: np.ndarray, first: int, out: np.ndarray, points: np.ndarray) -> None:
    x, y, z, w = gather(pointer(rows), ROW, pointer(indices), 0)
    put_rows(pointer(out), first, x, y, z)
    store(after(pointer(points), 0), 0, plus(x, x), inverse_of_largest(x, y, z), w)


def test_eight_rows_are_written_and_the_fourth_number_is_zero() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(LANES, ROW)).astype(np.float32)
    order = rng.permutation(LANES).astype(np.int32)
    out, points = np.ones((3 * LANES, ROW), np.float32), np.zeros((LANES, 3), np.float32)
    _copy(rows, order, LANES, out, points)
    np.testing.assert_array_equal(out[LANES : 2 * LANES, :3], rows[order, :3])
    assert not out[LANES : 2 * LANES, 3].any()
    assert (out[:LANES] == 1).all()
    assert (out[2 * LANES :] == 1).all()
    np.testing.assert_array_equal(points[:, 0], 2 * rows[order, 0])
    np.testing.assert_allclose(points[:, 1], 1 / np.abs(rows[order, :3]).max(axis=1), rtol=1e-6)
    np.testing.assert_array_equal(points[:, 2], rows[order, 3])
