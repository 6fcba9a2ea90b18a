"""A skin whose corrections would grow far beyond its few, flat samples, on an arm that is cut into meshes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

import posespace as ps
from posespace.check import Floats, Ints
from posespace.interpolate.rbf import RBF
from posespace.look import Look
from posespace.poses.spaces import PoseSpace
from posespace.skin.driver import Driver
from posespace.skin.layer import Layer


def cut_arm(rig: ps.Rig) -> ps.Rig:
    """An arm as two meshes that meet at x = 0, the second with two materials on the same vertices."""
    mesh = rig.mesh
    beyond = (mesh.points[mesh.triangles].mean(axis=1)[:, 0] > 0).astype(int)
    halves = [np.unique(mesh.triangles[beyond == half]) for half in (0, 1)]
    first = [0, len(halves[0])]
    triangles = [
        first[half] + np.searchsorted(halves[half], mesh.triangles[beyond == half]).astype(np.int32) for half in (0, 1)
    ]
    rows = np.concatenate(halves)
    counts = [len(triangles[0]), len(triangles[1]) // 2, len(triangles[1]) - len(triangles[1]) // 2]
    look = Look(
        ("near", "far"),
        np.array([[0, len(halves[0])], [1, len(halves[1])]]),
        np.array([[0, 0, counts[0]], [1, 0, counts[1]], [1, 1, counts[2]]]),
        materials=({"name": "skin"}, {"name": "nail"}),
    )
    cut = ps.Mesh(mesh.points[rows], np.concatenate(triangles), look=look, unit=mesh.unit)
    return ps.Rig(cut, rig.skeleton, rig.influences[rows], rig.weights[rows])


def growing_skin(rig: ps.Rig, bits: int = 32) -> ps.Skin:
    """Two layers that share a driver of one angle, and one of rotations whose normals have a driver of their own.

    Their second components are near nothing at the samples, and far from them larger than all else.
    """
    rng = np.random.default_rng(3)
    angles = np.array([[0.0, 0.0], [0.4, 0.0], [0.8, 0.0]])
    values = np.array([[0.0, 0.0], [1.0, 0.01], [0.9, 0.1]])
    bend = Driver(PoseSpace("freedoms", ("forearm.z", "forearm.x")), RBF("cubic").fit(angles, values))
    turned = Rotation.from_euler("zx", angles + np.array([0.0, 0.2])).as_quat()
    still = np.tile([0.0, 0.0, 0.0, 1.0], (3, 1))
    turns = np.concatenate([turned, still], axis=1)
    drivers = [
        Driver(PoseSpace("joint", ("forearm", "hand")), RBF("thin_plate").fit(turns, given, "rotation"))
        for given in (values, values[:, ::-1])
    ]
    assert all(driver.interpolant.span is not None for driver in (bend, *drivers))  # type: ignore[union-attr]
    x = rig.mesh.points[:, 0]
    near, far, middle = (np.flatnonzero(where) for where in (x <= 0, x >= 0, np.abs(x) < 0.5))
    layers = [
        Layer("bend", bend, *_ramps(rng, x, near, far)),
        Layer("again", bend, middle, 0.03 * rng.normal(size=(2, len(middle), 3))),
        Layer("turn", drivers[0], *_ramps(rng, x, far, near), _tilts(rng, len(x)), drivers[1]),
    ]
    return ps.Skin(rig, tuple(replace(layer, support=layer.support.astype(np.int32)) for layer in layers)).packed(bits)


def far_motion(rig: ps.Rig) -> ps.Motion:
    """Poses of the samples' joints far beyond them, along their axis and beside it."""
    angles = np.array([[0.3, 0.0], [1.5, 0.0], [-1.5, 0.4], [2.9, 0.0], [0.4, 1.2], [-2.0, -1.0]])
    turns = np.tile([0.0, 0.0, 0.0, 1.0], (len(angles), len(rig.skeleton), 1))
    turns[:, 1] = Rotation.from_euler("zx", angles).as_quat()
    turns[:, 2] = Rotation.from_euler("yx", 0.5 * angles).as_quat()
    return ps.Motion(turns, np.zeros((len(angles), len(rig.skeleton), 3)))


def factors(skin: ps.Skin, motion: ps.Motion) -> Floats:
    """By how much the bound scales the coordinates of each driver (P, drivers)."""
    found = []
    for driver in skin.drivers:
        free = driver.coordinates(motion, skin.rig.skeleton)
        found.append(np.linalg.norm(skin.coordinates(driver, motion), axis=1) / np.linalg.norm(free, axis=1))
    return np.stack(found, axis=1)


def _ramps(rng: np.random.Generator, x: Floats, first: Ints, second: Ints) -> tuple[Ints, Floats]:
    """A support (S,) and a basis (2, S, 3) whose components move the one and the other side, most at the middle."""
    fields = np.zeros((2, len(x), 3))
    for field, side in zip(fields, (first, second), strict=True):
        field[side] = np.maximum(0.0, 1.0 - np.abs(x[side, None])) * (0.05 + 0.01 * rng.normal(size=(len(side), 3)))
    return np.arange(len(x)), fields


def _tilts(rng: np.random.Generator, count: int) -> Floats:
    return np.asarray(0.1 * rng.normal(size=(2, count, 3)))
