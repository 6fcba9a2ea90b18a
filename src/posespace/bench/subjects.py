"""What is measured: the built-in hand and its fitted skin, many of them side by side, and skins made to a size."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from posespace import datasets
from posespace.fit.eigenskin.eigenskin import EigenSkin
from posespace.interpolate.rbf import RBF
from posespace.mesh import Mesh
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.poses.spaces import PoseSpace
from posespace.rig import Rig
from posespace.skin.basis import PackedBasis
from posespace.skin.driver import Driver
from posespace.skin.layer import Layer
from posespace.skin.skin import Skin


@cache
def fitted_hand(level: int = 2, normals: str = "none") -> tuple[Skin, Motion]:
    """Return the hand's EigenSkin, at most ten entries per vertex, 16 bits, and 25 unseen poses."""
    single, random = datasets.hand(level)
    return EigenSkin(bits=16, budget=10, normals=normals).fit(single), random.motion


def plain(skin: Skin) -> Skin:
    """Return plain skinning of a skin's rig."""
    return Skin(skin.rig)


def side_by_side(skin: Skin, copies: int) -> Skin:
    """Return a skin of many copies of the mesh, side by side as one mesh, all moved by the same joints."""
    rig, count = skin.rig, len(skin.rig.mesh.points)
    translations = np.repeat(np.arange(copies), count)[:, None] * (rig.mesh.box[1] - rig.mesh.box[0]) * (1, 0, 0)
    first_vertices = np.repeat(np.arange(copies) * count, len(rig.mesh.triangles))[:, None]
    points = np.tile(rig.mesh.points, (copies, 1)) + translations
    mesh = Mesh(points, np.tile(rig.mesh.triangles, (copies, 1)) + first_vertices)
    wide = replace(
        rig,
        mesh=mesh,
        influences=np.tile(rig.influences, (copies, 1)),
        weights=np.tile(rig.weights, (copies, 1)),
    )
    layers = []
    for layer in skin.layers:
        support = (layer.support[None] + np.arange(copies)[:, None] * count).astype(np.int32).ravel()
        basis = layer.basis
        assert isinstance(basis, PackedBasis)
        layers.append(replace(layer, support=support, basis=_repeated(basis, copies), normal_basis=None))
    return Skin(wide, tuple(layers))


def _repeated(basis: PackedBasis, copies: int) -> PackedBasis:
    """A basis on `copies` supports, one after another."""
    rows, values = [], []
    for first, last in zip(basis.starts[:-1], basis.starts[1:], strict=True):
        entry_rows = basis.entry_rows[first:last].astype(np.int64)
        rows.append((entry_rows[None] + np.arange(copies)[:, None] * basis.vertices).ravel())
        values.append(np.tile(basis.values[first:last], (copies, 1)))
    return PackedBasis(
        copies * basis.vertices,
        (basis.starts * copies).astype(np.int64),
        np.concatenate(rows).astype(np.uint32),
        np.concatenate(values),
        basis.scales,
    )


def full(rig: Rig, columns: int, bits: int = 16) -> Skin:
    """Return a skin with `columns` displacement entries at every vertex, driven by the rig's second joint."""
    random = np.random.default_rng(0)
    size = 0.001 * rig.mesh.diagonal
    basis = PackedBasis.pack(size * random.standard_normal((columns, len(rig.mesh.points), 3)), bits)
    space = PoseSpace("joint", (rig.skeleton.names[min(1, len(rig.skeleton) - 1)],))
    interpolant = RBF("exponential", 1.0).fit(_rotations(7), random.standard_normal((7, columns)), space.metric)
    layer = Layer("full", Driver(space, interpolant), np.arange(len(rig.mesh.points), dtype=np.int32), basis)
    return Skin(rig, (layer,))


def chain(joints: int, columns: int, samples: int, vertices: int = 256) -> Skin:
    """Return a skin of a chain of joints with one layer each, to time drivers."""
    random = np.random.default_rng(0)
    points = np.column_stack([np.linspace(0, joints, vertices), random.random((vertices, 2))])
    triangles = np.arange(vertices - vertices % 3).reshape(-1, 3)
    world = np.tile(np.eye(4), (joints, 1, 1))
    world[:, 0, 3] = np.arange(joints)
    nearest = np.clip(points[:, 0].astype(int), 0, joints - 1)
    rig = Rig.from_arrays(points, triangles, np.eye(joints)[nearest], np.arange(-1, joints - 1), world)
    layers = []
    for joint, name in enumerate(rig.skeleton.names):
        space = PoseSpace("joint", (name,))
        values = random.standard_normal((samples, columns))
        driver = Driver(space, RBF("exponential", 1.0).fit(_rotations(samples), values, space.metric))
        support = np.flatnonzero(nearest == joint).astype(np.int32)
        layers.append(Layer(name, driver, support, random.standard_normal((columns, len(support), 3))))
    return Skin(rig, tuple(layers))


def bent(skin: Skin, seed: int = 0) -> Pose:
    """Return a pose with every joint rotated a little."""
    random = np.random.default_rng(seed)
    return Pose(skin.rig.rest.rotations + 0.2 * random.standard_normal((len(skin.rig.skeleton), 4)))


def _rotations(count: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Rotations (count, 4) about one axis, from 0 to a right angle."""
    half = np.linspace(0, np.pi / 4, count)
    return np.column_stack([np.sin(half), np.zeros(count), np.zeros(count), np.cos(half)])
