"""Small skins of control points, fitted once, and poses of their points."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from helpers.strategies import random_rotations

import posespace as ps
from posespace.geometry import rotations
from posespace.geometry.subdivision import fine_vertex_count
from posespace.poses.control_points import motion_from_shapes
from posespace.skin.skin import Skin

SETTINGS: dict[str, dict[str, object]] = {
    "corrections and detail": {"bones": 20},
    "axes of the whole, a model per example": {"bones": 12, "local": "both", "axes": "global", "near_poses": 5},
    "bones alone": {"bones": 10, "corrections": 0},
}
"""Kinds of skins, by name."""
LEVELS = 2


@cache
def bent_arms() -> tuple[ps.Examples, ps.Examples]:
    """Fourteen bent arms with wrinkles, placed and turned at random, and ten unseen ones."""
    train, unseen = ps.datasets.bending_arm(rings=16, sides=9)
    train, unseen = _placed(train[np.linspace(0, 29, 14).astype(int)], 1), _placed(unseen[:10], 2)
    mesh, rng = train.rig.mesh, np.random.default_rng(3)
    waves = np.sin(40 * rng.random((3, fine_vertex_count(mesh.triangles, len(mesh.points), LEVELS))))
    amounts = np.array([[1, np.sin(k), np.cos(2 * k)] for k in range(len(train))])
    return replace(train, heights=0.004 * amounts @ waves, levels=LEVELS), unseen


@cache
def point_skin(kind: str) -> Skin:
    """A skin of one of the `SETTINGS`; the last has no detail."""
    train = bent_arms()[0]
    if kind == "bones alone":
        train = replace(train, heights=None, levels=0)
    return ps.ControlPoints(points=8, **SETTINGS[kind]).fit(train)  # type: ignore[arg-type]


def point_motion(skin: Skin, count: int = 5, far: bool = False) -> ps.Motion:
    """Poses of the points as in unseen shapes, the second with its root moved; `far`: also some far off."""
    motion = motion_from_shapes(bent_arms()[1], skin.rig, skin.bones.points)[:count]
    turned, shifted = motion.rotations.copy(), motion.translations.copy()
    turned[1, 0], shifted[1, 0] = rotations.from_axis_angle([0.6, 0.0, 0.8], 0.7), (0.1, 0.2, 0.3)
    if far:
        shifted[2:, 1:] += 0.4 * np.random.default_rng(5).normal(size=shifted[2:, 1:].shape)
    return replace(motion, rotations=turned, translations=shifted)


def coarse(skin: Skin) -> Skin:
    """The skin without its detail."""
    return replace(skin, detail=None)


def _placed(examples: ps.Examples, seed: int) -> ps.Examples:
    """The shapes of examples, each moved rigidly, of a rig without joints."""
    rng = np.random.default_rng(seed)
    turns = rotations.matrices(random_rotations(rng, len(examples)))
    shapes = np.stack([shape @ turn.T + rng.normal(size=3) for (_, shape), turn in zip(examples, turns, strict=True)])
    rig = ps.Rig.from_mesh(examples.rig.mesh)
    return ps.Examples.from_shapes(rig, ps.Motion(np.tile(rotations.IDENTITY, (len(shapes), 1, 1))), shapes)
