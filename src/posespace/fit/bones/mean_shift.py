"""Triangles that turn alike, found without asking for a number: mean shift over their rotations (James & Twigg 2005).

Every triangle is a point: its rotations into all shapes, one after the other. Where many points lie close, there is a
mode; each triangle goes to the mode that it climbs to.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from posespace.check import Floats, Ints
from posespace.fit.bones.clusters import beside
from posespace.fit.bones.triangle_rotations import triangle_turns

SAMPLES = 2000
"""Triangles whose density stands for that of all; the work grows with the square."""

DIRECTIONS = 16
"""Directions that are kept of the rotations, those in which they vary most."""

STEPS = 100
"""Most steps up the density."""

LEAST = 1e-3
"""Patches with a smaller fraction of all triangles join the one beside them."""


def turning_alike(points: Floats, triangles: Ints, shapes: Floats, bandwidth: float) -> Ints:
    """Return (T,) the cluster of each triangle, from 0: connected patches whose triangles turn alike.

    Parameters
    ----------
    points : (N, 3) the rest shape
    triangles : (T, 3)
    shapes : (N, P, 3) the same vertices in P shapes
    bandwidth : how alike, as a fraction of how much the rotations of all triangles differ
    """
    places = _main_part(triangle_turns(points, triangles, shapes))
    chosen = places[np.unique(np.linspace(0, len(places) - 1, SAMPLES).astype(np.int64))]
    radius = bandwidth * float(np.sqrt(2 * np.square(places).sum(axis=1).mean()))
    if radius <= 1e-9:
        return np.zeros(len(triangles), np.int32)
    modes = _modes(chosen, radius)
    labels = modes[cKDTree(chosen).query(places)[1]]
    return _patches(labels, triangles, points[triangles].mean(axis=1))


def _main_part(turns: Floats) -> Floats:
    """Return (T, `DIRECTIONS`) the rotations (T, F) along the directions in which they vary most, nearly."""
    apart = turns - turns.mean(axis=0)
    if apart.shape[1] <= DIRECTIONS:
        return np.asarray(apart, dtype=np.float64)
    random = np.random.default_rng(0).normal(size=(apart.shape[1], 2 * DIRECTIONS)).astype(apart.dtype)
    basis = np.linalg.qr(apart.T @ (apart @ random))[0]
    part = apart @ basis
    turn = np.linalg.eigh((part.T @ part).astype(np.float64))[1][:, ::-1]
    main: Floats = part @ turn[:, :DIRECTIONS]
    return main


def _modes(places: Floats, radius: float) -> Ints:
    """Return (M,) the mode that each place (M, D) climbs to, by steps to the mean of the places around it."""
    at = places.copy()
    moving = np.arange(len(at))
    size = np.square(places).sum(axis=1)
    for _ in range(STEPS):
        here = at[moving]
        square = np.square(here).sum(axis=1)[:, None] + size - 2 * here @ places.T
        near = np.exp(-np.maximum(square, 0.0) / (2 * (radius / 2) ** 2))
        there = near @ places / near.sum(axis=1, keepdims=True)
        at[moving] = there
        moving = moving[np.linalg.norm(there - here, axis=1) > 1e-3 * radius]
        if not len(moving):
            break
    pairs = cKDTree(at).query_pairs(radius / 2, output_type="ndarray")
    linked = sp.coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(at), len(at)))
    return connected_components(linked, directed=False)[1].astype(np.int32)


def _patches(labels: Ints, triangles: Ints, places: Floats) -> Ints:
    """Return (T,) connected patches of one label each, from 0; small ones join one beside them, or else the nearest."""
    starts, others = beside(triangles)
    here = np.repeat(np.arange(len(labels)), np.diff(starts))
    same = labels[here] == labels[others]
    linked = sp.coo_matrix((same[same], (here[same], others[same])), shape=(len(labels), len(labels)))
    patches = connected_components(linked, directed=False)[1]
    sizes = np.bincount(patches)
    large = sizes >= min(LEAST * len(labels) + 2, sizes.max())
    found = np.where(large[patches], patches, -1)
    while True:
        open_ends = (found[here] < 0) & (found[others] >= 0)
        if not open_ends.any():
            break
        found[here[open_ends]] = found[others[open_ends]]
    lost = found < 0
    if lost.any():
        found[lost] = found[~lost][cKDTree(places[~lost]).query(places[lost])[1]]
    return np.unique(found, return_inverse=True)[1].ravel().astype(np.int32)
