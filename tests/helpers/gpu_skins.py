"""Skins and a pose for the tests on the GPU, and the check that holds a player to the reference."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from helpers.strategies import random_pose
from numpy.typing import NDArray

import posespace as ps
from posespace.geometry import skinning
from posespace.interpolate.shepard import Shepard
from posespace.mesh import Mesh
from posespace.poses.spaces import PoseSpace
from posespace.rig import BLENDINGS, Rig
from posespace.skin.driver import Driver
from posespace.skin.layer import Layer
from posespace.skin.skin import Skin

ARM, UNSEEN = ps.datasets.bending_arm(rings=24, sides=12)
POSE = UNSEEN.motion[1]


@cache
def eigen(normals: str = "none", bits: int = 16, blending: str = "linear") -> Skin:
    skin = ps.EigenSkin(bits=bits, normals=normals).fit(ARM)
    return replace(skin, rig=replace(skin.rig, blending=blending))


def driver(rig: Rig, columns: int = 2) -> Driver:
    """Coordinates of the control `smile`."""
    space = PoseSpace("controls", ("smile",))
    rng = np.random.default_rng(5)
    motion = ps.Motion.from_poses([random_pose(rng, rig) for _ in range(4)])
    where = space.coordinates(motion, rig.skeleton)
    return Driver(space, Shepard().fit(where, rng.normal(size=(4, columns)), space.metric))


def nonzero_controls(mesh: Mesh, columns: int = 2) -> Skin:
    """A skin that only a control moves."""
    rig = Rig.from_mesh(mesh)
    count = len(mesh.points)
    basis = np.random.default_rng(1).normal(size=(columns, count, 3)).astype(np.float32)
    return Skin(rig, (Layer("smile", driver(rig, columns), np.arange(count), basis),))


def steady(skin: Skin, pose: ps.Pose, points: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Which vertices have a normal that rounding cannot turn: no blend that loses rank, no areas that cancel."""
    rig, mesh = skin.rig, skin.mesh
    if skin.detail is None and skin.carries_normals:
        linear = BLENDINGS[rig.blending](skin.transforms(pose), *skin.binding[:2])[:, :, :3]
        normals = rig.normals + skin.normal_displacements(pose)
        turned = np.einsum("nij,nj->ni", skinning.cofactors(linear), normals)
        return np.linalg.norm(turned, axis=1) > 1e-3 * (linear**2).sum(axis=(1, 2)) * np.linalg.norm(normals, axis=1)
    a, b, c = (points[mesh.triangles[:, k]] for k in range(3))
    area, groups = np.cross(b - a, c - a), mesh.weld.groups
    total, most = np.zeros((len(points), 3)), np.zeros(len(points))
    for corner in groups[mesh.triangles].T:
        np.add.at(total, corner, area)
        np.add.at(most, corner, np.linalg.norm(b - a, axis=1) * np.linalg.norm(c - a, axis=1))
    return np.asarray((np.linalg.norm(total, axis=1) > 1e-2 * most)[groups])


def check(skin: Skin, pose: ps.Pose, play: Any) -> None:
    """Hold a player to the reference."""
    points, normals = skin.pose(pose)
    made, turned = play(pose)
    size = max(skin.rig.mesh.diagonal, float(np.abs(points).max(initial=0.0)), 1e-30)
    np.testing.assert_allclose(made, points, rtol=0, atol=1e-5 * size)
    if turned is not None:
        kept = steady(skin, pose, points)
        np.testing.assert_allclose(turned[kept], normals[kept], rtol=0, atol=1e-4)
