"""Sculpts as artists make them, and what goes wrong with them on the way."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from posespace.mesh import Mesh


def bulged(
    rng: np.random.Generator, mesh: Mesh, points: NDArray[np.floating], size: float, count: int = 2
) -> NDArray[np.floating]:
    """A shape with smooth bulges and dents along its normals, up to `size` of the box's diagonal."""
    normals, scale = mesh.normals(points), mesh.diagonal
    moved = np.zeros(len(points))
    for _ in range(count):
        centre, width = points[rng.integers(len(points))], rng.uniform(0.05, 0.2) * scale
        moved += rng.uniform(-1, 1) * np.exp(-((points - centre) ** 2).sum(axis=1) / width**2)
    return np.asarray(points + size * scale * moved[:, None] * normals)


def shuffled(rng: np.random.Generator, mesh: Mesh) -> tuple[Mesh, NDArray[np.int64]]:
    """The mesh with its vertices and its triangles in another order; and the order of the vertices."""
    order = rng.permutation(len(mesh.points))
    triangles = np.argsort(order)[mesh.triangles]
    turned = np.take_along_axis(triangles, (np.arange(3) + rng.integers(0, 3, (len(triangles), 1))) % 3, axis=1)
    return Mesh(mesh.points[order], turned[rng.permutation(len(turned))]), order
