"""Packed bases: exact in 32 bits, within half a step in fewer, sliceable, and safe to read from a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.strategies import random_pose, random_skin
from hypothesis import given
from hypothesis import strategies as st

from posespace.errors import InputError
from posespace.skin.basis import PackedBasis
from posespace.skin.skin import Skin


def sparse_basis(seed: int, columns: int, vertices: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(columns, vertices, 3)) * 10.0 ** rng.integers(-4, 4, (columns, 1, 1))
    return (dense * (rng.random((columns, vertices, 1)) < 0.4)).astype(np.float32)


@given(st.integers(0, 1000), st.integers(0, 5), st.integers(0, 40), st.sampled_from([32, 16, 8]))
def test_packing_keeps_the_displacements(seed: int, columns: int, vertices: int, bits: int) -> None:
    dense = sparse_basis(seed, columns, vertices)
    packed = PackedBasis.pack(dense, bits)
    assert packed.shape == dense.shape
    assert packed.bits == bits
    steps = {32: 0.0, 16: 0.5 / 32767, 8: 0.5 / 127}[bits]
    largest = np.abs(dense).max(axis=(1, 2), initial=0, keepdims=True)
    assert (np.abs(np.asarray(packed) - dense) <= 1.01 * steps * largest + 1e-30).all()
    weights = np.random.default_rng(seed).normal(size=columns)
    combined = np.tensordot(weights, np.asarray(packed, dtype=np.float64), axes=1)
    np.testing.assert_allclose(packed.combine(weights), combined, atol=1e-6 * (1 + np.abs(combined).max(initial=0)))


@given(st.integers(0, 1000), st.integers(0, 6), st.integers(0, 6))
def test_components_that_follow_one_another_can_be_taken_out(seed: int, first: int, last: int) -> None:
    dense = sparse_basis(seed, 4, 9)
    np.testing.assert_array_equal(np.asarray(PackedBasis.pack(dense)[first:last]), dense[first:last])


def test_bytes_are_those_of_what_is_not_zero() -> None:
    dense = np.zeros((2, 1000, 3), dtype=np.float32)
    dense[0, :10] = 1
    wide, narrow = PackedBasis.pack(dense), PackedBasis.pack(dense, 8)
    assert wide.nbytes == 10 * (12 + 2) + 3 * 4 + 2 * 4
    assert narrow.nbytes == 10 * (3 + 2) + 3 * 4 + 2 * 4


@pytest.mark.parametrize("bits", [32, 16, 8])
def test_a_full_basis_does_not_store_which_vertices_it_moves(bits: int) -> None:
    dense = sparse_basis(1, 2, 50)
    packed = PackedBasis.pack(dense, bits, full=True)
    np.testing.assert_array_equal(np.asarray(packed), np.asarray(PackedBasis.pack(dense, bits)))
    assert packed.nbytes == 2 * 50 * 3 * bits // 8 + 3 * 4 + 2 * 4
    np.testing.assert_array_equal(np.asarray(packed[1:]), np.asarray(packed)[1:])


@pytest.mark.parametrize("bits", [32, 16, 8])
def test_a_packed_skin_plays_the_same_and_survives_a_file(bits: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    skin = replace(random_skin(rng), detail=None)
    small = skin.packed(bits)
    small.save(tmp_path / "small.skin")
    loaded = Skin.load(tmp_path / "small.skin")
    pose = random_pose(rng, skin.rig)
    for one, other in zip(loaded.pose(pose), small.pose(pose), strict=True):
        np.testing.assert_array_equal(one, other)
    tolerance = {32: 1e-6, 16: 1e-3, 8: 0.3}[bits]
    np.testing.assert_allclose(small.pose(pose)[0], skin.pose(pose)[0], atol=tolerance)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("rows", np.array([0, 9]), "below 3"),
        ("rows", np.array([1, 1]), "ascending"),
        ("rows", np.array([0.0, 1.0]), "whole numbers"),
        ("rows", np.zeros(0, np.int64), "2 whole numbers"),
        ("starts", np.array([0, 1]), "to the 2 entries"),
        ("starts", np.array([1, 2]), "from 0"),
        ("values", np.zeros((2, 3)), "float32, int16 or int8"),
        ("values", np.full((2, 3), np.nan, np.float32), "finite|NaN"),
        ("scales", np.array([np.inf], np.float32), "finite|inf"),
    ],
)
def test_a_damaged_basis_is_refused(field: str, value: np.ndarray, message: str) -> None:
    basis = PackedBasis(3, np.array([0, 2]), np.array([0, 2]), np.ones((2, 3), np.float32), np.ones(1, np.float32))
    with pytest.raises(InputError, match=message):
        replace(basis, **{field: value})


def test_other_bits_are_refused() -> None:
    with pytest.raises(InputError, match="32, 16 or 8"):
        PackedBasis.pack(np.zeros((1, 1, 3)), 12)
