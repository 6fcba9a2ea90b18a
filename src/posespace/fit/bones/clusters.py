"""Triangles that move alike, grouped into as many clusters as are asked for: each moves nearly rigidly."""

from __future__ import annotations

import numpy as np
from numba import prange
from numpy.typing import NDArray

from posespace.check import Floats, Ints
from posespace.fit.bones.triangle_rotations import triangle_turns
from posespace.geometry.edges import edges_of
from posespace.geometry.nearest_rotation import nearest_rotation
from posespace.jit import njit

ROUNDS = 4
"""Rounds of moving triangles to better clusters after each splitting; three times as many after the last."""

SHARE = 3
"""One cluster of so many is split at a time: those with the largest errors."""


def cluster_triangles(points: Floats, triangles: Ints, shapes: Floats, count: int) -> Ints:
    """Return (T,) the cluster of each triangle, 0 to `count` - 1, none of them empty.

    The clusters with the largest errors of a rigid fit are split in two, by how their triangles turn; then triangles
    on the border of two clusters go to the one whose motion suits them better. Both in turn, until there are enough.

    Parameters
    ----------
    points : (N, 3) the rest shape
    triangles : (T, 3), at least `count`
    shapes : (N, P, 3) the same vertices in P shapes
    count : how many clusters
    """
    return refined_clusters(points, triangles, shapes, np.zeros(len(triangles), np.int32), count)


def refined_clusters(points: Floats, triangles: Ints, shapes: Floats, labels: Ints, count: int) -> Ints:
    """Return clusters as `cluster_triangles` does, from given ones (T,), numbered from 0 without gaps."""
    turns = triangle_turns(points, triangles, shapes)
    places = points[triangles].mean(axis=1)
    adjacent = beside(triangles)
    found, have = labels.astype(np.int32, copy=True), int(labels.max(initial=0)) + 1
    before = 0
    while True:
        last, split = have >= count, found.copy()
        for _ in range(ROUNDS * (3 if last else 1)):
            moved = cluster_transforms(points, triangles, shapes, found, have)
            if not _reassign(points, triangles, shapes, moved, *adjacent, found):
                break
        found, kept = _without_gaps(found)
        # Clusters that move alike swallow each other. Where no new one stays, the split does: otherwise it would be
        # made and undone for ever.
        found, have = (found, kept) if kept > before else (split, have)
        before = have
        if have >= count:
            return found
        errors = cluster_errors(points, triangles, shapes, found, have)
        most = min(max(1, have // SHARE), count - have)
        for cluster in _worst(errors, found, most):
            members = np.flatnonzero(found == cluster)
            found[members[_half(turns[members], places[members])]] = have
            have += 1


def cluster_transforms(points: Floats, triangles: Ints, shapes: Floats, labels: Ints, count: int) -> Floats:
    """Return (C, P, 3, 4) the best rigid motion of each cluster of triangles into each shape (Procrustes)."""
    return np.asarray(_transforms(points, triangles, shapes, labels, count))


def cluster_errors(points: Floats, triangles: Ints, shapes: Floats, labels: Ints, count: int) -> Floats:
    """Return (C,) the squared distances of each cluster's corners from its best rigid motion, summed."""
    moved = cluster_transforms(points, triangles, shapes, labels, count)
    each: Floats = _errors(points, triangles, shapes, moved, labels)
    return np.bincount(labels, each, minlength=count).astype(np.float64)


def _worst(errors: Floats, labels: Ints, most: int) -> NDArray[np.intp]:
    """Return the clusters to split: those of the largest errors, and of equal ones the largest, of two or more."""
    sizes = np.bincount(labels, minlength=len(errors))
    order = np.lexsort((-sizes, -np.where(sizes > 1, errors, -1.0)))
    chosen: NDArray[np.intp] = order[:most]
    return chosen[sizes[chosen] > 1]


def _half(turns: Floats, places: Floats) -> NDArray[np.bool_]:
    """Return which of a cluster's triangles go to the new one, neither none nor all.

    They are told apart along the direction in which their rotations (M, F) vary most; where all turn alike, along
    that of their places (M, 3).
    """
    for values in (turns, places):
        apart = values - values.mean(axis=0)
        if np.abs(apart).max() > 1e-6:
            along = apart @ _main_direction(apart)
            side = along > 0
            if 0 < side.sum() < len(side):
                return np.asarray(side)
    return np.asarray(np.arange(len(turns)) < len(turns) // 2)


def _main_direction(apart: Floats) -> Floats:
    """Return the direction (F,) in which rows (M, F) of mean zero vary most, nearly: by power iteration."""
    direction: Floats = apart[np.square(apart).sum(axis=1).argmax()]
    for _ in range(8):
        direction = apart.T @ (apart @ direction)
        direction = direction / np.linalg.norm(direction)
    return direction


def beside(triangles: Ints) -> tuple[Ints, Ints]:
    """Return the triangles that share an edge with each: where those of each begin (T + 1,), and they."""
    sides = edges_of(triangles).sides.ravel()
    order = np.argsort(sides, kind="stable")
    same = sides[order][1:] == sides[order][:-1]
    one, other = order[:-1][same] // 3, order[1:][same] // 3
    here, there = np.concatenate([one, other]), np.concatenate([other, one])
    starts = np.zeros(len(triangles) + 1, np.int32)
    np.cumsum(np.bincount(here, minlength=len(triangles)), out=starts[1:])
    return starts, there[np.argsort(here, kind="stable")].astype(np.int32)


def _without_gaps(labels: Ints) -> tuple[Ints, int]:
    used, numbered = np.unique(labels, return_inverse=True)
    return numbered.ravel().astype(np.int32), len(used)


@njit(parallel=True)
def _transforms(
    points: Floats, triangles: Ints, shapes: Floats, labels: Ints, count: int
) -> Floats:  # pragma: no cover - compiled
    poses = shapes.shape[1]
    found = np.empty((count, poses, 3, 4))
    middle, size = np.zeros((count, 3)), np.zeros(count)
    for t in range(len(triangles)):
        for corner in triangles[t]:
            size[labels[t]] += 1.0
            for k in range(3):
                middle[labels[t], k] += points[corner, k]
    for p in prange(poses):
        sums, products = np.zeros((count, 3)), np.zeros((count, 3, 3))
        for t in range(len(triangles)):
            label = labels[t]
            for corner in triangles[t]:
                for i in range(3):
                    sums[label, i] += shapes[corner, p, i]
                    for j in range(3):
                        products[label, i, j] += shapes[corner, p, i] * points[corner, j]
        for c in range(count):
            if size[c] > 0:
                _rigid(sums[c], products[c], middle[c], size[c], found[c, p])
            else:  # All its triangles have gone to clusters beside it.
                found[c, p] = np.eye(3, 4)
    return found


@njit()
def _rigid(
    sums: Floats, products: Floats, middle: Floats, size: float, moved: Floats
) -> None:  # pragma: no cover - compiled
    """Write the rigid transform (3, 4) of corners from their sums, those of the rest shape, and their products."""
    turn = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            products[i, j] -= sums[i] * middle[j] / size
        # Where the rotation is open, the one nearest to none is taken.
        products[i, i] += 1e-9 * size
    nearest_rotation(products, turn)
    for i in range(3):
        shift = sums[i]
        for j in range(3):
            moved[i, j] = turn[i, j]
            shift -= turn[i, j] * middle[j]
        moved[i, 3] = shift / size


@njit()
def _error(
    corners: Ints, points: Floats, shapes: Floats, moved: Floats, bound: float
) -> float:  # pragma: no cover - compiled
    """Squared distances of a triangle's corners, under transforms (P, 3, 4), from their shapes; not above `bound`."""
    total = 0.0
    for p in range(len(moved)):
        bone = moved[p]
        for corner in corners:
            x, y, z = points[corner, 0], points[corner, 1], points[corner, 2]
            for k in range(3):
                gap = bone[k, 0] * x + bone[k, 1] * y + bone[k, 2] * z + bone[k, 3] - shapes[corner, p, k]
                total += gap * gap
        if total >= bound:
            break
    return total


@njit(parallel=True)
def _errors(
    points: Floats, triangles: Ints, shapes: Floats, moved: Floats, labels: Ints
) -> Floats:  # pragma: no cover - compiled
    errors = np.empty(len(triangles))
    for t in prange(len(triangles)):
        errors[t] = _error(triangles[t], points, shapes, moved[labels[t]], np.inf)
    return errors


@njit(parallel=True)
def _reassign(
    points: Floats, triangles: Ints, shapes: Floats, moved: Floats, starts: Ints, beside: Ints, labels: Ints
) -> int:  # pragma: no cover - compiled
    """Move each triangle to the best cluster of those beside it; return how many moved."""
    before = labels.copy()
    changed = 0
    for t in prange(len(triangles)):
        best = before[t]
        if starts[t + 1] == starts[t]:
            continue
        alike = True
        for k in range(starts[t], starts[t + 1]):
            alike = alike and before[beside[k]] == best
        if alike:
            continue
        least = _error(triangles[t], points, shapes, moved[best], np.inf)
        for k in range(starts[t], starts[t + 1]):
            label = before[beside[k]]
            if label != before[t]:
                error = _error(triangles[t], points, shapes, moved[label], least)
                if error < least:
                    best, least = label, error
        if best != before[t]:
            labels[t] = best
            changed += 1
    return changed
