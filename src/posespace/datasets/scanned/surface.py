"""The base surface of the scanned hands: even triangles on the smooth skin, carried along by the simulated shapes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import sparse

from posespace.check import Floats, Ints
from posespace.datasets import stored
from posespace.datasets.simulated import HAND
from posespace.errors import InputError
from posespace.geometry.loop import loop_subdivide
from posespace.geometry.normals import vertex_normals
from posespace.geometry.remesh import retile
from posespace.geometry.subdivision import Subdivision, subdivide
from posespace.geometry.surface import Surface

LEAST, MOST = 500, 100_000
"""Vertices that the base surface may have."""

_LONGER = 1.05
"""Retiling gives edges that are shorter than asked for by this much."""


@dataclass(frozen=True, eq=False)
class ScanSurface:
    """Base and fine surface, and how values of the simulated hand's vertices are carried to them.

    Parameters
    ----------
    triangles : (T, 3) int32, the base surface
    level : its subdivision, the fine surface
    to_base : (N, V) whose product with positions (V, 3) of the simulated vertices gives those of the base
    to_fine : (M, V) the same for the fine surface
    """

    triangles: Ints
    level: Subdivision
    to_base: sparse.csr_array
    to_fine: sparse.csr_array


@lru_cache(maxsize=2)
def scan_surface(vertices: int) -> ScanSurface:
    """Return the surface of about `vertices` vertices. Both hands have it: they correspond, vertex by vertex."""
    if not LEAST <= vertices <= MOST:
        raise InputError(f"vertices: expected {LEAST:,} to {MOST:,}, got {vertices:,}")
    rest = stored.read(HAND)[0].rig.mesh
    triangles, smooth = _smooth_levels(rest.triangles, len(rest.points), 2 * vertices)
    skin = Surface(smooth @ rest.points, triangles)
    # The edge of a triangle of equal sides that covers its part of the area; a vertex has two triangles.
    edge = np.sqrt(2 / np.sqrt(3) * skin.area / vertices)
    points, base = retile(skin, np.full(len(skin.points), _LONGER * edge))
    level = subdivide(base, len(points))
    on_base = _shares(skin, points, vertex_normals(points, base))
    fine = level.refine(on_base @ skin.points)
    on_fine = _shares(skin, fine, vertex_normals(fine, level.triangles))
    return ScanSurface(base, level, on_base @ smooth, on_fine @ smooth)


def _smooth_levels(triangles: Ints, count: int, wanted: int) -> tuple[Ints, sparse.csr_array]:
    """Subdivide smoothly until there are `wanted` vertices: triangles, and the weights of the coarse vertices."""
    weights = sparse.eye_array(count, format="csr")
    while True:
        level, finer = loop_subdivide(triangles, weights.shape[0])
        triangles, weights = level.triangles, finer @ weights
        if weights.shape[0] >= wanted:
            return triangles, weights


def _shares(skin: Surface, positions: Floats, normals: Floats) -> sparse.csr_array:
    """The weights (Q, N) of a surface's vertices in its points closest to `positions` (Q, 3)."""
    closest = skin.closest(positions, normals)
    rows = np.repeat(np.arange(len(positions)), 3)
    columns = skin.triangles[closest.triangles].ravel()
    return sparse.csr_array((closest.shares.ravel(), (rows, columns)), shape=(len(positions), len(skin.points)))
