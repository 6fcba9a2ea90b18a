"""Weights for given bone transforms: at each vertex the few bones and weights that bring it closest to its shapes."""

from __future__ import annotations

import numpy as np
from numba import prange
from scipy.spatial import cKDTree

from posespace.check import Floats, Ints
from posespace.fit.weights.simplex import energy_of, sparse_on_simplex
from posespace.jit import njit

POOL = 32
"""Most candidate bones per vertex: those of the vertices around it, and the nearest."""

ENTERING = 6
"""Candidates that are tried besides the current bones of a vertex: those that would lower its error most."""

PULL = 1e-10
"""Weight of the previous weights, relative to the moments of a single bone, for what shapes do not determine."""


def fit_weights(
    points: Floats, shapes: Floats, transforms: Floats, pool: Ints, influences: Ints, weights: Floats
) -> tuple[Ints, Floats, Floats]:
    """Return better weights of given bones, at least 0 with the sum one, and the remaining error.

    No vertex gets worse: its weights stay where the search does not improve them.

    Parameters
    ----------
    points : (N, 3) the rest shape
    shapes : (N, P, 3) the same vertices in P shapes
    transforms : (B, P, 3, 4) rest to each shape
    pool : (N, M) candidate bones, -1 for none
    influences, weights : (N, K) the initial bones of each vertex and their weights, not changed

    Returns
    -------
    influences, weights : (N, K) strongest first
    errors : (N,) squared distances to the shapes, summed over them
    """
    bones, best = influences.astype(np.int32, copy=True), weights.astype(np.float64, copy=True)
    errors = np.empty(len(points))
    flat = np.ascontiguousarray(transforms, dtype=np.float64)
    _fit(points, shapes, flat, pool, bones, best, errors)
    return bones, best, errors


def bone_pool(points: Floats, starts: Ints, around: Ints, influences: Ints, weights: Floats, bones: int) -> Ints:
    """Return (N, M) the candidate bones of each vertex, -1 where there are fewer: see `POOL`.

    Parameters
    ----------
    points : (N, 3) the rest shape
    starts, around : which vertices share an edge, from `neighbours_of`
    influences, weights : (N, K) the bones of each vertex and their weights
    bones : number of bones
    """
    if bones <= POOL:
        return np.broadcast_to(np.arange(bones, dtype=np.int32), (len(points), bones))
    nearest = cKDTree(bone_centres(points, influences, weights, bones)).query(points, POOL // 2)[1].astype(np.int32)
    pool = np.full((len(points), POOL), -1, np.int32)
    _gather(starts, around, influences, weights, nearest, pool)
    return pool


def bone_centres(points: Floats, influences: Ints, weights: Floats, bones: int) -> Floats:
    """Return (B, 3) the weighted mean rest position of each bone's vertices; without weights, that of all vertices."""
    sums = np.zeros((bones, 4))
    ones = np.concatenate([points, np.ones((len(points), 1))], axis=1)
    for column in range(4):
        values = (weights * ones[:, column : column + 1]).ravel()
        sums[:, column] = np.bincount(influences.ravel(), values, minlength=bones)
    empty = sums[:, 3] <= 0
    sums[empty] = (*points.mean(axis=0), 1.0)
    centres: Floats = sums[:, :3] / sums[:, 3:]
    return centres


@njit(parallel=True)
def _gather(
    starts: Ints, around: Ints, influences: Ints, weights: Floats, nearest: Ints, pool: Ints
) -> None:  # pragma: no cover - compiled
    """Fill the pool (N, M) with the bones of the vertices up to two edges away, then with the nearest bones."""
    slots = influences.shape[1]
    for vertex in prange(len(pool)):
        count = 0
        for ring in range(2):
            for here in range(starts[vertex], starts[vertex + 1]):
                middle = around[here]
                first, last = (here, here + 1) if ring == 0 else (starts[middle], starts[middle + 1])
                for there in range(first, last):
                    for slot in range(slots):
                        if weights[around[there], slot] > 0:
                            count = _put(pool[vertex], count, influences[around[there], slot])
        count = min(count, pool.shape[1] - nearest.shape[1])
        for bone in nearest[vertex]:
            count = _put(pool[vertex], count, bone)
        pool[vertex, count:] = -1


@njit()
def _put(row: Ints, count: int, bone: int) -> int:  # pragma: no cover - compiled
    """Add a bone to the first `count` of a row, unless it is there or the row is full; return the new count."""
    for k in range(count):
        if row[k] == bone:
            return count
    if count < len(row):
        row[count] = bone
        return count + 1
    return count


@njit(parallel=True)
def _fit(
    points: Floats,
    shapes: Floats,
    transforms: Floats,
    pool: Ints,
    influences: Ints,
    weights: Floats,
    errors: Floats,
) -> None:  # pragma: no cover - compiled
    """Improve the weights of each vertex in place and write its error."""
    slots = influences.shape[1]
    for vertex in prange(len(points)):
        chosen = np.full(slots + ENTERING, -1, np.int32)
        old = np.zeros(slots + ENTERING)
        count = 0
        for slot in range(slots):
            if weights[vertex, slot] > 0:
                chosen[count], old[count] = influences[vertex, slot], weights[vertex, slot]
                count += 1
        current = count
        count = _enter(points[vertex], shapes[vertex], transforms, pool[vertex], chosen, old, count, current)
        gram = _gram(points[vertex], shapes[vertex], transforms, chosen[:count])
        size = 0.0
        for c in range(count):
            size += gram[c, c] / count
        target = np.zeros(count)
        normal = gram.copy()
        for c in range(count):
            normal[c, c] += PULL * size + 1e-300
            target[c] = PULL * size * old[c]
        new = sparse_on_simplex(normal, target, old[:count], np.ones(count, np.bool_), slots)
        if energy_of(normal, target, new) >= energy_of(normal, target, old[:count]):
            new = old[:count].copy()
        errors[vertex] = 2 * energy_of(gram, np.zeros(count), new)
        order = np.argsort(-new)
        for slot in range(slots):
            known = slot < count
            weights[vertex, slot] = new[order[slot]] if known else 0.0
            influences[vertex, slot] = chosen[order[slot]] if known else chosen[order[0]]


@njit()
def _enter(
    point: Floats, shape: Floats, transforms: Floats, pool: Ints, chosen: Ints, old: Floats, count: int, current: int
) -> int:  # pragma: no cover - compiled
    """Add to the chosen bones those of the pool along which the error falls most steeply; return how many there are."""
    poses = len(shape)
    gap = np.empty((poses, 3))
    slopes = np.zeros(len(chosen))
    for p in range(poses):
        for k in range(3):
            gap[p, k] = -shape[p, k]
    for c in range(current):
        for p in range(poses):
            bone = transforms[chosen[c], p]
            for k in range(3):
                moved = bone[k, 0] * point[0] + bone[k, 1] * point[1] + bone[k, 2] * point[2] + bone[k, 3]
                gap[p, k] += old[c] * moved
    level = 0.0
    for p in range(poses):
        for k in range(3):
            level += gap[p, k] * (gap[p, k] + shape[p, k])
    for bone in pool:
        if bone < 0 or _contains(chosen, current, bone):
            continue
        slope = -level
        for p in range(poses):
            matrix = transforms[bone, p]
            for k in range(3):
                moved = matrix[k, 0] * point[0] + matrix[k, 1] * point[1] + matrix[k, 2] * point[2] + matrix[k, 3]
                slope += gap[p, k] * moved
        if slope < 0.0:
            count = _insert(chosen, slopes, current, count, bone, slope)
    return count


@njit()
def _contains(chosen: Ints, count: int, bone: int) -> bool:  # pragma: no cover - compiled
    present = False
    for c in range(count):
        present = present or chosen[c] == bone
    return present


@njit()
def _insert(
    chosen: Ints, slopes: Floats, current: int, count: int, bone: int, slope: float
) -> int:  # pragma: no cover - compiled
    """Put a bone among the entering ones, steepest first; the least steep one is dropped if there is no room."""
    slot = count
    while slot > current and slopes[slot - 1] > slope:
        slot -= 1
    if slot >= len(chosen):
        return count
    last = min(count, len(chosen) - 1)
    for c in range(last, slot, -1):
        chosen[c], slopes[c] = chosen[c - 1], slopes[c - 1]
    chosen[slot], slopes[slot] = bone, slope
    return min(count + 1, len(chosen))


@njit()
def _gram(point: Floats, shape: Floats, transforms: Floats, chosen: Ints) -> Floats:  # pragma: no cover - compiled
    """Return (C, C) inner products, over shapes, of the errors that each bone alone would leave at a vertex.

    Since weights sum to one, the squared error of weights w is then wᵀ·gram·w.
    """
    count, poses = len(chosen), len(shape)
    gaps = np.empty((count, 3 * poses))
    for c in range(count):
        for p in range(poses):
            bone = transforms[chosen[c], p]
            for k in range(3):
                moved = bone[k, 0] * point[0] + bone[k, 1] * point[1] + bone[k, 2] * point[2] + bone[k, 3]
                gaps[c, 3 * p + k] = moved - shape[p, k]
    gram = np.empty((count, count))
    for c in range(count):
        for d in range(c + 1):
            total = 0.0
            for k in range(3 * poses):
                total += gaps[c, k] * gaps[d, k]
            gram[c, d] = gram[d, c] = total
    return gram
