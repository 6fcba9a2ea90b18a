"""Clusters of triangles that move nearly rigidly, as many as are asked for."""

from __future__ import annotations

import numpy as np
from numba import prange
from numpy.typing import NDArray

from posespace.check import Floats, Ints
from posespace.fit.bones.triangle_rotations import triangle_rotations
from posespace.geometry.edges import edges_of
from posespace.geometry.nearest_rotation import nearest_rotation
from posespace.jit import njit
from posespace.progress import counter

ROUNDS = 4
"""Most rounds of reassigning triangles after each splitting; three times as many after the last."""

SHARE = 3
"""One in this many clusters is split at a time: those with the largest errors."""


def cluster_triangles(points: Floats, triangles: Ints, shapes: Floats, count: int) -> Ints:
    """Return (T,) the cluster of each triangle, 0 to `count` - 1, none of them empty.

    The clusters with the largest errors of a rigid fit are split in two by the rotations of their triangles. Then
    triangles at the border of two clusters move to the one that fits them better. Both steps alternate.

    Parameters
    ----------
    points : (N, 3) the rest shape
    triangles : (T, 3), at least `count`
    shapes : (N, P, 3) the same vertices in P shapes
    count : number of clusters
    """
    return refined_clusters(points, triangles, shapes, np.zeros(len(triangles), np.int32), count)


def refined_clusters(points: Floats, triangles: Ints, shapes: Floats, labels: Ints, count: int) -> Ints:
    """Return clusters as `cluster_triangles` does, starting from given ones (T,), numbered from 0 without gaps."""
    rotations = triangle_rotations(points, triangles, shapes)
    centres = points[triangles].mean(axis=1)
    adjacent = adjacent_triangles(triangles)
    clusters, number = labels.astype(np.int32, copy=True), int(labels.max(initial=0)) + 1
    before = 0
    with counter("clusters of triangles") as advance:
        while True:
            advance(number, count)
            last, split = number >= count, clusters.copy()
            for _ in range(ROUNDS * (3 if last else 1)):
                transforms = cluster_transforms(points, triangles, shapes, clusters, number)
                if not _reassign(points, triangles, shapes, transforms, *adjacent, clusters):
                    break
            clusters, kept = _without_gaps(clusters)
            # Clusters with similar motion absorb each other. If no new one survives, the split is kept all the same:
            # otherwise it would be made and undone for ever.
            clusters, number = (clusters, kept) if kept > before else (split, number)
            before = number
            if number >= count:
                return clusters
            errors = cluster_errors(points, triangles, shapes, clusters, number)
            most = min(max(1, number // SHARE), count - number)
            for cluster in _worst(errors, clusters, most):
                members = np.flatnonzero(clusters == cluster)
                clusters[members[_half(rotations[members], centres[members])]] = number
                number += 1


def cluster_transforms(points: Floats, triangles: Ints, shapes: Floats, labels: Ints, count: int) -> Floats:
    """Return (C, P, 3, 4) the best rigid motion of each cluster of triangles into each shape (Procrustes)."""
    return np.asarray(_transforms(points, triangles, shapes, labels, count))


def cluster_errors(points: Floats, triangles: Ints, shapes: Floats, labels: Ints, count: int) -> Floats:
    """Return (C,) the squared distances of each cluster's corners from its best rigid motion, summed."""
    transforms = cluster_transforms(points, triangles, shapes, labels, count)
    errors: Floats = _errors(points, triangles, shapes, transforms, labels)
    return np.bincount(labels, errors, minlength=count).astype(np.float64)


def _worst(errors: Floats, labels: Ints, most: int) -> NDArray[np.intp]:
    """Return the clusters to split: those of largest error, then of most triangles, with two or more triangles."""
    sizes = np.bincount(labels, minlength=len(errors))
    order = np.lexsort((-sizes, -np.where(sizes > 1, errors, -1.0)))
    chosen: NDArray[np.intp] = order[:most]
    return chosen[sizes[chosen] > 1]


def _half(rotations: Floats, centres: Floats) -> NDArray[np.bool_]:
    """Return which of a cluster's triangles go to the new one, neither none nor all.

    They are separated along the direction in which their rotations (M, F) vary most; if all rotations are equal, along
    that of their centres (M, 3).
    """
    for values in (rotations, centres):
        apart = values - values.mean(axis=0)
        if np.abs(apart).max() > 1e-6:
            along = apart @ _main_direction(apart)
            side = along > 0
            if 0 < side.sum() < len(side):
                return np.asarray(side)
    return np.asarray(np.arange(len(rotations)) < len(rotations) // 2)


def _main_direction(apart: Floats) -> Floats:
    """Return about the direction (F,) in which rows (M, F) of mean zero vary most, by power iteration."""
    direction: Floats = apart[np.square(apart).sum(axis=1).argmax()]
    for _ in range(8):
        direction = apart.T @ (apart @ direction)
        direction = direction / np.linalg.norm(direction)
    return direction


def adjacent_triangles(triangles: Ints) -> tuple[Ints, Ints]:
    """Return the triangles that share an edge with each, as a compressed list: starts (T + 1,) and triangles."""
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
    transforms = np.empty((count, poses, 3, 4))
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
                _rigid(sums[c], products[c], middle[c], size[c], transforms[c, p])
            else:  # All its triangles have moved to adjacent clusters.
                transforms[c, p] = np.eye(3, 4)
    return transforms


@njit()
def _rigid(
    sums: Floats, products: Floats, middle: Floats, size: float, moved: Floats
) -> None:  # pragma: no cover - compiled
    """Write the rigid transform (3, 4) of corners from their sums, those of the rest shape, and their products."""
    rotation = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            products[i, j] -= sums[i] * middle[j] / size
        # Where the rotation is undetermined, the smallest one is taken.
        products[i, i] += 1e-9 * size
    nearest_rotation(products, rotation)
    for i in range(3):
        translation = sums[i]
        for j in range(3):
            moved[i, j] = rotation[i, j]
            translation -= rotation[i, j] * middle[j]
        moved[i, 3] = translation / size


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
    points: Floats, triangles: Ints, shapes: Floats, moved: Floats, starts: Ints, neighbours: Ints, labels: Ints
) -> int:  # pragma: no cover - compiled
    """Move each triangle to the best of its own and the adjacent clusters; return how many moved."""
    before = labels.copy()
    changed = 0
    for t in prange(len(triangles)):
        best = before[t]
        if starts[t + 1] == starts[t]:
            continue
        inside = True
        for k in range(starts[t], starts[t + 1]):
            inside = inside and before[neighbours[k]] == best
        if inside:
            continue
        least = _error(triangles[t], points, shapes, moved[best], np.inf)
        for k in range(starts[t], starts[t + 1]):
            label = before[neighbours[k]]
            if label != before[t]:
                error = _error(triangles[t], points, shapes, moved[label], least)
                if error < least:
                    best, least = label, error
        if best != before[t]:
            labels[t] = best
            changed += 1
    return changed
