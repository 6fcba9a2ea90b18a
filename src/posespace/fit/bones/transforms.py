"""Bone transforms of every shape for given weights: all bones of a shape together, rigid or affine.

A shape enters only by its products with the weighted rest points, which are computed once. The systems that are then
solved have the size of the bones, whatever the number of vertices.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numba import prange
from scipy.sparse.linalg import splu

from posespace.check import Floats, Ints
from posespace.geometry.nearest_rotation import nearest_rotation
from posespace.jit import njit

SWEEPS = 10
"""Most passes over the bones of a shape."""

SETTLED = 1e-6
"""The passes end when no entry of a transform changes by more than this; lengths are of half the box's diagonal."""

KEPT = 1e-9
"""Weight of the previous rotation, relative to the bone's moments, for what the shapes do not determine."""

RIDGE = 1e-9
"""Weight of the previous affine transform, relative to the largest moment, for what the shapes do not determine."""


def rest_transforms(shapes: int, bones: int) -> Floats:
    """Return (B, P, 3, 4) identity transforms."""
    return np.tile(np.eye(3, 4), (bones, shapes, 1, 1))


def bone_transforms(
    points: Floats, shapes: Floats, influences: Ints, weights: Floats, start: Floats, sweeps: int = SWEEPS
) -> Floats:
    """Return the rigid transforms (B, P, 3, 4) that bring linear blending closest to the shapes.

    Each bone in order gets the best transform for those of the others (weighted Procrustes), until all converge.

    Parameters
    ----------
    points : (N, 3) the rest shape, half its box's diagonal about 1
    shapes : (N, P, 3) the same vertices in P shapes
    influences, weights : (N, K) the bones of each vertex and their weights
    start : (B, P, 3, 4) initial transforms, not changed. A bone without weights keeps them
    sweeps : most passes over the bones
    """
    moments = _moments(points, influences, weights, len(start))
    products = _products(points, shapes, influences, weights, len(start))
    moved: Floats = np.ascontiguousarray(start.transpose(1, 0, 2, 3), dtype=np.float64).copy()
    _sweep(moments, products, moved, sweeps)
    return np.ascontiguousarray(moved.transpose(1, 0, 2, 3))


def affine_transforms(points: Floats, shapes: Floats, influences: Ints, weights: Floats, start: Floats) -> Floats:
    """Return the affine transforms (B, P, 3, 4) that bring linear blending closest to the shapes: one linear solve.

    The parameters are those of `bone_transforms`; what the shapes do not determine stays near `start`.
    """
    bones, count = start.shape[:2]
    moments = _moments(points, influences, weights, bones)
    normal = sp.bsr_matrix((moments.blocks, moments.others, moments.starts), shape=(4 * bones, 4 * bones)).tocsc()
    ridge = RIDGE * normal.diagonal().max()
    products = _products(points, shapes, influences, weights, bones)
    right = products.transpose(1, 3, 0, 2).reshape(4 * bones, 3 * count)
    initial = start.transpose(0, 3, 1, 2).reshape(4 * bones, 3 * count)
    solved = splu(normal + ridge * sp.identity(4 * bones, format="csc")).solve(right + ridge * initial)
    return np.ascontiguousarray(solved.reshape(bones, 4, count, 3).transpose(0, 2, 3, 1))


class _Moments(NamedTuple):
    """Sums over the vertices of wᵢ·wⱼ·[v 1]ᵀ[v 1] for each pair of bones i, j that share some, in rows of bones.

    Parameters
    ----------
    starts : (B + 1,) where the pairs of each bone begin
    others : (pairs,) the other bone, ascending
    blocks : (pairs, 4, 4)
    """

    starts: Ints
    others: Ints
    blocks: Floats


def _moments(points: Floats, influences: Ints, weights: Floats, bones: int) -> _Moments:
    slots = influences.shape[1]
    ones = np.concatenate([points, np.ones((len(points), 1))], axis=1)
    here, there = (np.repeat(np.arange(slots), slots), np.tile(np.arange(slots), slots))
    both = (weights[:, here] * weights[:, there]).ravel()
    keys = (influences[:, here].astype(np.int64) * bones + influences[:, there]).ravel()
    used = both > 0
    # Each bone has a pair with itself, be it without weights, so that its block is always there.
    every = np.concatenate([keys[used], np.arange(bones) * (bones + 1)])
    pairs, inverse = np.unique(every, return_inverse=True)
    vertex = np.repeat(np.arange(len(points)), slots * slots)[used]
    blocks = np.zeros((len(pairs), 4, 4))
    for i in range(4):
        for j in range(i + 1):
            terms = both[used] * ones[vertex, i] * ones[vertex, j]
            blocks[:, i, j] = np.bincount(inverse[: len(terms)], terms, minlength=len(pairs))
            blocks[:, j, i] = blocks[:, i, j]
    starts = np.searchsorted(pairs, np.arange(bones + 1) * bones).astype(np.int32)
    return _Moments(starts, (pairs % bones).astype(np.int32), blocks)


def _products(points: Floats, shapes: Floats, influences: Ints, weights: Floats, bones: int) -> Floats:
    """Return (P, B, 3, 4) sums over the vertices of w·s·[v 1] for the shapes' points s."""
    count, slots = influences.shape
    ones = np.concatenate([points, np.ones((count, 1))], axis=1)
    values = (weights[:, :, None] * ones[:, None, :]).ravel()
    columns = (4 * influences[:, :, None] + np.arange(4)).ravel()
    weighted = sp.csr_matrix((values, columns, np.arange(count + 1) * (4 * slots)), shape=(count, 4 * bones))
    sums = np.asarray(weighted.T @ shapes.reshape(count, -1))
    return np.ascontiguousarray(sums.reshape(bones, 4, -1, 3).transpose(2, 0, 3, 1))


@njit(parallel=True)
def _sweep(moments: _Moments, products: Floats, moved: Floats, sweeps: int) -> None:  # pragma: no cover - compiled
    """Bring the transforms `moved` (P, B, 3, 4) to their best, bone by bone, in place."""
    for shape in prange(len(moved)):
        residual, rotation, covariance = np.empty((3, 4)), np.empty((3, 3)), np.empty((3, 3))
        for _ in range(sweeps):
            largest = 0.0
            for bone in range(moved.shape[1]):
                weighted = _without_others(bone, moments, products[shape], moved[shape], residual)
                change = _align(weighted, residual, moved[shape, bone], rotation, covariance)
                largest = max(largest, change)
            if largest < SETTLED:
                break


@njit()
def _without_others(
    bone: int, moments: _Moments, products: Floats, moved: Floats, residual: Floats
) -> Floats:  # pragma: no cover - compiled
    """Write the products of a bone minus what the other bones give; return its moments (4, 4) with itself."""
    residual[:] = products[bone]
    diagonal: Floats = moments.blocks[moments.starts[bone]]
    for pair in range(moments.starts[bone], moments.starts[bone + 1]):
        block = moments.blocks[pair]
        if moments.others[pair] == bone:
            diagonal = block
            continue
        other = moved[moments.others[pair]]
        for i in range(3):
            for j in range(4):
                residual[i, j] -= (
                    other[i, 0] * block[0, j]
                    + other[i, 1] * block[1, j]
                    + other[i, 2] * block[2, j]
                    + other[i, 3] * block[3, j]
                )
    return diagonal


@njit()
def _align(
    moments: Floats, residual: Floats, transform: Floats, rotation: Floats, covariance: Floats
) -> float:  # pragma: no cover - compiled
    """Give one bone its best rigid transform, from its moments and residual products; return its largest change."""
    weight = moments[3, 3]
    if weight <= 0.0:
        return 0.0
    spread = (moments[0, 0] + moments[1, 1] + moments[2, 2]) + weight
    for i in range(3):
        for j in range(3):
            covariance[i, j] = (
                residual[i, j] - residual[i, 3] * moments[3, j] / weight + KEPT * spread * transform[i, j]
            )
    nearest_rotation(covariance, rotation)
    largest = 0.0
    for i in range(3):
        translation = residual[i, 3]
        for j in range(3):
            largest = max(largest, abs(rotation[i, j] - transform[i, j]))
            transform[i, j] = rotation[i, j]
            translation -= rotation[i, j] * moments[3, j]
        translation /= weight
        largest = max(largest, abs(translation - transform[i, 3]))
        transform[i, 3] = translation
    return largest
