"""A closed surface that is easy to know all about."""

from __future__ import annotations

import numpy as np

from posespace.geometry.surface import Surface
from posespace.mesh import Mesh


def tube(rings: int = 40, sides: int = 24) -> Mesh:
    """A rounded tube along x from -3 to 3, of radius 1 in the middle."""
    x = -3 * np.cos(np.pi * (np.arange(rings) + 0.5) / rings)
    radius = np.sqrt(1 - (np.abs(x) / 3) ** 4)
    angle = 2 * np.pi * np.arange(sides) / sides
    body = np.stack(
        [np.repeat(x, sides), np.outer(radius, np.cos(angle)).ravel(), np.outer(radius, np.sin(angle)).ravel()]
    )
    points = np.vstack([body.T, [[-3, 0, 0], [3, 0, 0]]])
    here, there = np.arange(sides), (np.arange(sides) + 1) % sides
    parts = []
    for ring in range(rings - 1):
        a, b = ring * sides + here, ring * sides + there
        parts += [np.stack([a, b + sides, b], axis=1), np.stack([a, a + sides, b + sides], axis=1)]
    parts.append(np.stack([np.full(sides, rings * sides), here, there], axis=1))
    last = (rings - 1) * sides
    parts.append(np.stack([np.full(sides, rings * sides + 1), last + there, last + here], axis=1))
    triangles = np.concatenate(parts)
    if Surface(points, triangles).volume < 0:
        triangles = triangles[:, ::-1]
    return Mesh(points, triangles)


def volume(mesh: Mesh) -> float:
    return Surface(mesh.points, mesh.triangles).volume
