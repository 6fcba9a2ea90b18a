"""Base skinning, its inverse and its normals: laws that hold for any rig, and given answers on real ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.strategies import random_pose, random_rig, random_rotations, seeds
from hypothesis import given
from hypothesis import strategies as st

from posespace.fit.weights.by_distance import distance_weights
from posespace.formats import load
from posespace.geometry import rotations, skinning
from posespace.mesh import Mesh
from posespace.pose import Pose
from posespace.rig import BLENDINGS, Rig, pack_weights
from posespace.skeleton import Skeleton

blendings = st.sampled_from(sorted(BLENDINGS))


@given(seeds, blendings)
def test_rest_pose_gives_the_rest_shape(seed: int, blending: str) -> None:
    rig = random_rig(np.random.default_rng(seed), scaled=True)
    blended = BLENDINGS[blending](rig.transforms(rig.rest), rig.influences, rig.weights)
    np.testing.assert_allclose(skinning.apply(blended, rig.mesh.points), rig.mesh.points, atol=1e-6)


@given(seeds, blendings)
def test_skinning_is_exact_under_a_rigid_motion_of_all_bones(seed: int, blending: str) -> None:
    rng = np.random.default_rng(seed)
    rig = random_rig(rng)
    move = np.concatenate([rotations.matrices(random_rotations(rng)), rng.normal(size=(3, 1))], axis=1)
    blend = BLENDINGS[blending](np.tile(move, (len(rig.skeleton), 1, 1)), rig.influences, rig.weights)
    wanted = rig.mesh.points @ move[:, :3].T + move[:, 3]
    np.testing.assert_allclose(skinning.apply(blend, rig.mesh.points), wanted, atol=1e-6)
    carried = skinning.cofactor_normals(blend, rig.normals)
    np.testing.assert_allclose(carried, rig.normals @ move[:, :3].T, atol=1e-6)


@given(seeds, st.floats(0, np.pi))
def test_residual_then_skin_returns_the_observed_shape_where_the_blend_is_well_conditioned(
    seed: int, bend: float
) -> None:
    rng = np.random.default_rng(seed)
    rig = random_rig(rng)
    pose = random_pose(rng, rig, bend)
    observed = rng.normal(size=rig.mesh.points.shape)
    displacements, damped = rig.residual(pose, observed)
    assert np.isfinite(displacements).all()
    np.testing.assert_allclose(rig.skin(pose, displacements)[~damped], observed[~damped], atol=1e-6)


def twisted(degrees: float) -> tuple[Rig, Pose]:
    """Two bones on one axis, each vertex bound half to each, the second bone twisted."""
    world = np.tile(np.eye(4), (2, 1, 1))
    points = np.array([[0, 1, 0], [0, 0, 1], [0.3, -1, 0]], float)
    rig = Rig.from_arrays(points, [[0, 1, 2]], np.full((3, 2), 0.5), [-1, 0], world, ["a", "b"])
    return rig, Pose([[0, 0, 0, 1], rotations.from_axis_angle((1.0, 0, 0), np.radians(degrees))])


def test_a_half_turn_loses_rank_and_is_damped_and_counted() -> None:
    rig, pose = twisted(180)
    displacements, damped = rig.residual(pose, np.ones((3, 3)))
    assert damped.all()
    assert np.isfinite(displacements).all()
    assert np.abs(displacements).max() < 10
    for degrees, expected in ((170, 0), (178.5, 0), (179.9, 3)):
        rig, pose = twisted(degrees)
        assert rig.residual(pose, rig.mesh.points)[1].sum() == expected


def test_the_damped_inverse_is_continuous_where_damping_sets_in() -> None:
    before, after = (skinning.invert(twisted(a)[0].blend(twisted(a)[1]))[0] for a in (178.853, 178.855))
    assert np.abs(before - after).max() < 0.01 * np.abs(before).max()


@given(seeds)
def test_normal_residual_returns_the_observed_normals(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rig = random_rig(rng)
    pose = random_pose(rng, rig, 0.7)
    blend = rig.blend(pose)
    linear = blend[:, :, :3]
    usable = np.linalg.cond(linear) < 50
    usable &= np.linalg.det(linear) > 0
    observed = rng.normal(size=rig.mesh.points.shape)
    observed /= np.linalg.norm(observed, axis=1, keepdims=True)
    back = skinning.cofactor_normals(blend, rig.normals + rig.normal_residual(pose, observed))
    np.testing.assert_allclose(back[usable], observed[usable], atol=1e-6)


@given(seeds, st.integers(1, 8), st.integers(0, 3))
def test_distance_weights_are_weights(seed: int, influences: int, smoothing: int) -> None:
    rig = random_rig(np.random.default_rng(seed), joints=9)
    joints, weights = distance_weights(rig.mesh, rig.skeleton, influences, smoothing=smoothing)
    assert joints.shape[1] <= influences
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1)


def test_distance_weights_are_smooth_where_the_nearest_bones_change() -> None:
    world = np.tile(np.eye(4), (4, 1, 1))
    world[:, 0, 3] = range(4)
    skeleton = Skeleton.from_world([f"j{k}" for k in range(4)], [-1, 0, 1, 2], world)
    x = np.linspace(-0.5, 3.5, 4001)
    points = np.stack([x, np.full_like(x, 0.3), np.zeros_like(x)], axis=1)
    mesh = Mesh(points, np.zeros((0, 3), int))
    for influences in (1, 2, 3):
        rig = Rig(mesh, skeleton, *distance_weights(mesh, skeleton, influences, smoothing=0))
        steps = np.abs(np.diff(rig.dense_weights(), axis=0)).max()
        assert steps < (0.01 if influences > 1 else 1.1)


def read_dmat(path: Path) -> np.ndarray:
    columns, rows = map(int, path.read_text().split(maxsplit=2)[:2])
    return np.array(path.read_text().split()[2:], float).reshape(columns, rows).T


def test_linear_blending_reproduces_every_wolf(data: Path) -> None:
    folder = data / "meshposes-wolf"
    mesh = load.load_mesh(folder / "wolf_rest.obj")
    weights = read_dmat(folder / "wolf_weights.DMAT")
    weights = weights if weights.shape == (5075, 21) else weights.T
    influences, packed = pack_weights(weights)
    poses = sorted((folder / "poses").glob("*.Tmat"))
    assert len(poses) == 15
    for path in poses:
        stacked = np.loadtxt(path).reshape(21, 4, 3)
        blend = skinning.blend_linear(np.swapaxes(stacked, 1, 2), influences, packed)
        truth = load.load_mesh(path.with_suffix(".obj")).points
        assert np.abs(skinning.apply(blend, mesh.points) - truth).max() < 1e-5 * mesh.diagonal


def test_linear_blending_of_the_dembones_rig_leaves_the_stated_residual(data: Path) -> None:
    found = dict(np.load(data / "meshseq-dembones" / "bone_train.npz"))
    rig = Rig.from_arrays(
        found["rest_verts"], found["tris"], found["weights"], found["bone_parents"], found["rest_bone_world"]
    )
    from posespace.motion import Motion

    motion = Motion.from_world(rig.skeleton, found["bone_world"])
    gaps = np.array([np.linalg.norm(rig.skin(pose) - found["verts"][k], axis=1) for k, pose in enumerate(motion)])
    # SOURCE.txt: mean 1.31 % and largest 9.5 % of the box diagonal over 400 frames, of which 300 are here.
    assert gaps.mean() / rig.mesh.diagonal == pytest.approx(0.0131, abs=0.0005)
    assert gaps.max() / rig.mesh.diagonal == pytest.approx(0.095, abs=0.001)
