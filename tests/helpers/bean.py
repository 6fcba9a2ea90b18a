"""A bean, at rest and bent, as a smooth map of the sphere: any tessellation of it has its truth."""

from __future__ import annotations

import numpy as np

from posespace.check import Floats, Ints
from posespace.geometry.subdivision import levels_of
from posespace.mesh import Mesh


def sphere(levels: int, turn: float = 0.0) -> tuple[Floats, Ints]:
    """Points and triangles of a unit sphere, about z turned by `turn`, of 4^levels times 8 triangles."""
    points = np.array([(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)], dtype=np.float64)
    triangles = [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)]
    faces = np.array(triangles, dtype=np.int32)
    for level in levels_of(faces, 6, levels):
        points, faces = level.refine(points), level.triangles
        points /= np.linalg.norm(points, axis=1, keepdims=True)
    c, s = np.cos(turn), np.sin(turn)
    return points @ np.array([(c, s, 0), (-s, c, 0), (0, 0, 1)]), faces


def bean(on_sphere: Floats, bend: float = 0.0) -> Floats:
    """Points of the bean over points of the sphere, bent by this many radians from end to end."""
    x, y, z = (on_sphere * (1 + 0.15 * np.sin(4 * on_sphere[:, :1] + 2 * on_sphere[:, 1:2]))).T
    x, y, z = 2 * x, 0.7 * y, 0.5 * z
    if bend == 0:
        return np.stack([x, y, z], axis=1)
    angle, radius = bend * x / 4, 4 / bend
    return np.stack([np.sin(angle) * (radius - z), y, radius - np.cos(angle) * (radius - z)], axis=1)


def placed(points: Floats) -> Floats:
    """Points turned and moved, as a scanner would."""
    c, s = np.cos(2.0), np.sin(2.0)
    return points @ np.array([(c, 0, -s), (0, 1, 0), (s, 0, c)]).T @ np.array([(1, 0, 0), (0, 0, -1), (0, 1, 0)]) + 7.0


MARKS = (0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15)
"""Vertices of the sphere that are landmarks: they are on every level."""


def template(levels: int = 4) -> Mesh:
    """The bean at rest."""
    points, triangles = sphere(levels)
    return Mesh(bean(points), triangles)


def scanned(bend: float, levels: int = 5, hole: float = 0.0, noise: float = 0.0) -> Mesh:
    """A scan of the bent bean: other triangles, a hole of this radius, noise, another place."""
    points, triangles = sphere(levels, 0.3)
    if hole:
        triangles = triangles[np.linalg.norm(points[triangles].mean(axis=1) - (0.1, 0.9, 0.4), axis=1) > hole]
    shape = bean(points, bend)
    return Mesh(placed(shape + noise * np.random.default_rng(1).normal(size=shape.shape)), triangles)


def landmarks(bend: float, count: int = len(MARKS)) -> tuple[dict[str, int], dict[str, tuple[float, ...]]]:
    """Landmarks of the template and of its scan."""
    points = placed(bean(sphere(2)[0], bend))
    chosen = {f"mark {k}": k for k in MARKS[:count]}
    return chosen, {name: tuple(points[k].tolist()) for name, k in chosen.items()}
