"""Patches of triangles with similar rotations, without a given number: mean-shift clustering (James & Twigg 2005).

Every triangle is a point: its rotations to all shapes, one after the other. Each triangle belongs to the mode of the
density that it climbs to.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from posespace.check import Floats, Ints
from posespace.fit.bones.clusters import adjacent_triangles
from posespace.fit.bones.triangle_rotations import triangle_rotations

SAMPLES = 2000
"""Most triangles that the density is estimated from; the work grows with the square."""

DIRECTIONS = 16
"""Principal directions of the rotations that are kept."""

STEPS = 100
"""Most steps up the density."""

LEAST = 1e-3
"""Patches with a smaller fraction of all triangles are merged into an adjacent one."""


def mean_shift_patches(points: Floats, triangles: Ints, shapes: Floats, bandwidth: float) -> Ints:
    """Return (T,) the patch of each triangle, from 0: connected triangles with similar rotations.

    Parameters
    ----------
    points : (N, 3) the rest shape
    triangles : (T, 3)
    shapes : (N, P, 3) the same vertices in P shapes
    bandwidth : of the mean shift, relative to the spread of the triangles' rotations
    """
    features = _principal_part(triangle_rotations(points, triangles, shapes))
    chosen = features[np.unique(np.linspace(0, len(features) - 1, SAMPLES).astype(np.int64))]
    radius = bandwidth * float(np.sqrt(2 * np.square(features).sum(axis=1).mean()))
    if radius <= 1e-9:
        return np.zeros(len(triangles), np.int32)
    modes = _modes(chosen, radius)
    labels = modes[cKDTree(chosen).query(features)[1]]
    return _patches(labels, triangles, points[triangles].mean(axis=1))


def _principal_part(rotations: Floats) -> Floats:
    """Return (T, `DIRECTIONS`) the rotations (T, F) along about the directions in which they vary most."""
    apart = rotations - rotations.mean(axis=0)
    if apart.shape[1] <= DIRECTIONS:
        return np.asarray(apart, dtype=np.float64)
    random = np.random.default_rng(0).normal(size=(apart.shape[1], 2 * DIRECTIONS)).astype(apart.dtype)
    basis = np.linalg.qr(apart.T @ (apart @ random))[0]
    part = apart @ basis
    vectors = np.linalg.eigh((part.T @ part).astype(np.float64))[1][:, ::-1]
    principal: Floats = part @ vectors[:, :DIRECTIONS]
    return principal


def _modes(features: Floats, radius: float) -> Ints:
    """Return (M,) the mode that each point (M, D) climbs to, by steps to the mean of the points around it."""
    at = features.copy()
    moving = np.arange(len(at))
    size = np.square(features).sum(axis=1)
    for _ in range(STEPS):
        here = at[moving]
        square = np.square(here).sum(axis=1)[:, None] + size - 2 * here @ features.T
        near = np.exp(-np.maximum(square, 0.0) / (2 * (radius / 2) ** 2))
        there = near @ features / near.sum(axis=1, keepdims=True)
        at[moving] = there
        moving = moving[np.linalg.norm(there - here, axis=1) > 1e-3 * radius]
        if not len(moving):
            break
    pairs = cKDTree(at).query_pairs(radius / 2, output_type="ndarray")
    linked = sp.coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(at), len(at)))
    return connected_components(linked, directed=False)[1].astype(np.int32)


def _patches(labels: Ints, triangles: Ints, centres: Floats) -> Ints:
    """Return (T,) connected patches of one label each, from 0; small ones join an adjacent one, or else the nearest.

    `centres` (T, 3) are those of the triangles.
    """
    starts, others = adjacent_triangles(triangles)
    here = np.repeat(np.arange(len(labels)), np.diff(starts))
    same = labels[here] == labels[others]
    linked = sp.coo_matrix((same[same], (here[same], others[same])), shape=(len(labels), len(labels)))
    patches = connected_components(linked, directed=False)[1]
    sizes = np.bincount(patches)
    large = sizes >= min(LEAST * len(labels) + 2, sizes.max())
    merged = np.where(large[patches], patches, -1)
    while True:
        open_ends = (merged[here] < 0) & (merged[others] >= 0)
        if not open_ends.any():
            break
        merged[here[open_ends]] = merged[others[open_ends]]
    lost = merged < 0
    if lost.any():
        merged[lost] = merged[~lost][cKDTree(centres[~lost]).query(centres[lost])[1]]
    return np.unique(merged, return_inverse=True)[1].ravel().astype(np.int32)
