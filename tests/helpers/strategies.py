"""Random rigs, poses and skins for property tests."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from posespace import rotations
from posespace.geometry.subdivision import fine_vertex_count
from posespace.interpolate.rbf import RBF
from posespace.interpolate.shepard import Shepard
from posespace.layer import Detail, Driver, Layer
from posespace.mesh import Mesh
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.rig import Rig, pack_weights
from posespace.skeleton import Skeleton
from posespace.skin import Skin
from posespace.spaces import PoseSpace

seeds = st.integers(0, 2**32 - 1)


def random_rotations(rng: np.random.Generator, *shape: int) -> NDArray[np.float64]:
    return np.asarray(rotations.normalize(rng.normal(size=(*shape, 4))))


def random_rig(rng: np.random.Generator, vertices: int = 20, joints: int = 5, scaled: bool = False) -> Rig:
    """A rig of random triangles; parents stand in any order, rest transforms turn, shift and, if asked, scale."""
    order = rng.permutation(joints)
    parents = np.full(joints, -1)
    for k in range(1, joints):
        parents[order[k]] = order[rng.integers(0, k)] if rng.random() < 0.8 else -1
    world = np.tile(np.eye(4), (joints, 1, 1))
    world[:, :3, :3] = rotations.matrices(random_rotations(rng, joints))
    if scaled:
        world[:, :3, :3] *= rng.uniform(0.5, 2.0, size=(joints, 1, 3))
    world[:, :3, 3] = rng.normal(size=(joints, 3))
    skeleton = Skeleton.from_world([f"joint{k}" for k in range(joints)], parents, world)
    points = rng.normal(size=(vertices, 3)).astype(rng.choice([np.float32, np.float64]))
    mesh = Mesh(points, rng.integers(0, vertices, size=(vertices, 3)))
    dense = rng.random((vertices, joints)) * (rng.random((vertices, joints)) < 0.5)
    return Rig(mesh, skeleton, *pack_weights(dense))


def random_pose(rng: np.random.Generator, rig: Rig, bend: float = np.pi) -> Pose:
    """A pose whose joints turn from rest by up to `bend` radians and shift a little."""
    joints = len(rig.skeleton)
    axis = rng.normal(size=(joints, 3))
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    turn = rotations.from_axis_angle(axis, rng.uniform(0, bend, joints))
    rest = rig.skeleton.rest_rotations.astype(np.float64)
    return Pose(rotations.multiply(rest, turn), 0.1 * rng.normal(size=(joints, 3)), {"smile": float(rng.random())})


def random_skin(rng: np.random.Generator) -> Skin:
    """A skin with a layer for each kind of pose space and interpolator, normal corrections and detail."""
    rig = random_rig(rng)
    motion = Motion.from_poses([random_pose(rng, rig) for _ in range(6)])
    layers = []
    kinds = (
        ("joint", ("joint1", "joint2")),
        ("quaternions", ("joint0",)),
        ("freedoms", ("joint1.z", "joint2.x", "smile")),
        ("controls", ("smile",)),
    )
    for kind, names in kinds:
        space = PoseSpace(kind, names)
        where = space.coordinates(motion, rig.skeleton)
        settings = RBF("exponential") if kind == "joint" else Shepard()
        driver = Driver(space, settings.fit(where, rng.normal(size=(6, 2)), space.metric))
        support = np.sort(rng.choice(len(rig.mesh.points), 7, replace=False))
        basis = rng.normal(size=(2, 7, 3)).astype(np.float32)
        normal = rng.normal(size=(2, 7, 3)).astype(np.float32) if kind != "controls" else None
        layers.append(Layer(kind, driver, support, basis, normal, driver if kind == "joint" else None))
    heights = rng.normal(size=(2, fine_vertex_count(rig.mesh.triangles, len(rig.mesh.points), 1)))
    return Skin(rig, tuple(layers), Detail(1, layers[0].driver, heights), {"method": "random", "seed": 1})
