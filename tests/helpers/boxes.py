"""Boxes of tetrahedra, to bend and to press together."""

from __future__ import annotations

import numpy as np

from posespace.check import Floats
from posespace.simulation.solver import elements

Mesh = tuple[Floats, elements.Nodes]


def box(cells: tuple[int, int, int], size: tuple[float, float, float], nodes: int, jitter: float = 0.0) -> Mesh:
    """A box of cubes, six tetrahedra each; inner points are moved by up to `jitter` of a cube."""
    counts = np.array(cells) + 1
    grid = np.stack(np.meshgrid(*(np.arange(n) for n in counts), indexing="ij"), axis=-1).reshape(-1, 3)
    inner = ((grid > 0) & (grid < counts - 1)).all(axis=1)
    shift = np.random.default_rng(3).uniform(-jitter, jitter, grid.shape) * inner[:, None]
    points = (grid + shift) * np.array(size) / np.array(cells)
    low = np.stack(np.meshgrid(*(np.arange(n) for n in cells), indexing="ij"), axis=-1).reshape(-1, 3)
    tets = []
    for path in ((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (2, 1, 0), (1, 0, 2)):
        corners = np.cumsum([np.zeros(3, int), *(np.eye(3, dtype=int)[axis] for axis in path)], axis=0)
        tet = np.ravel_multi_index(np.moveaxis(low[:, None] + corners, -1, 0), counts)
        even = path in ((0, 1, 2), (1, 2, 0), (2, 0, 1))
        tets.append(tet if even else tet[:, [0, 2, 1, 3]])
    found = np.concatenate(tets).astype(np.int64)
    if nodes == 10:
        points, found, _ = elements.to_quadratic(points, found)
    return points, found


def turn(angle: float) -> Floats:
    """Rotation about y."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
