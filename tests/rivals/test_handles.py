"""MESHIK and ARAP: both hold the control points, meet their examples, and do not care where the whole is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import posespace as ps
from posespace.evaluation.score import evaluate
from posespace.geometry import rotations
from posespace.poses.control_points import examples_from_shapes
from posespace.rivals.arap import NearestRigid
from posespace.rivals.handles import HeldSurface, gradient_rows
from posespace.rivals.meshik import MeshIK

FIT, UNSEEN = ps.datasets.bending_arm(rings=16, sides=8)
POINTS = np.array([3, 22, 41, 60, 79, 98, 117, 126])
DIAGONAL = FIT.rig.mesh.diagonal


def points_rig(mesh: ps.Mesh = FIT.rig.mesh) -> ps.Rig:
    count = len(POINTS)
    world = np.tile(np.eye(4), (count + 1, 1, 1))
    world[1:, :3, 3] = mesh.points[POINTS]
    names = ["root", *(f"point{k}" for k in range(count))]
    skeleton = ps.Skeleton.from_world(names, [-1] + [0] * count, world)
    every = len(mesh.points)
    return ps.Rig(mesh, skeleton, np.zeros((every, 1), int), np.ones((every, 1)))


TRAIN, JUDGED = (examples_from_shapes(each, points_rig(), POINTS) for each in (FIT[:30:3], UNSEEN[:6]))


@pytest.fixture(scope="module", params=[MeshIK(), NearestRigid(rounds=300)], ids=["MESHIK", "ARAP"])
def surface(request: pytest.FixtureRequest) -> ps.Skin:
    found: ps.Skin = request.param.fit(TRAIN)
    return found


def test_examples_are_met_and_points_are_held(surface: ps.Skin) -> None:
    assert evaluate(surface, TRAIN).max_error < 1e-3 * DIAGONAL
    score = evaluate(surface, JUDGED)
    assert score.seen == 0
    assert score.rms < 0.02
    for index, pose in enumerate(JUDGED.motion):
        held = surface.pose(pose)[0][POINTS]
        np.testing.assert_allclose(held, np.asarray(JUDGED.shapes[index])[POINTS], atol=1e-6)


@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**16))
def test_where_the_whole_is_changes_nothing(surface: ps.Skin, seed: int) -> None:
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    turn = rotations.matrices(rotations.from_axis_angle(axis / np.linalg.norm(axis), rng.uniform(0, 3)))
    shift = rng.normal(size=3)
    pose = JUDGED.motion[seed % len(JUDGED.motion)]
    rest = surface.rig.skeleton.rest_world[1:, :3, 3]
    moved = pose.translations.copy()
    moved[1:] = (rest + pose.translations[1:]) @ turn.T + shift - rest
    wanted = surface.pose(pose)[0] @ turn.T + shift
    np.testing.assert_allclose(surface.pose(replace(pose, translations=moved))[0], wanted, atol=2e-4)


def test_rivals_are_better_than_the_nearest_example() -> None:
    shapes = np.stack([np.asarray(TRAIN.shapes[k]) for k in range(len(TRAIN))])
    for method in (MeshIK(), NearestRigid()):
        fitted = method.fit(TRAIN)
        for index, pose in enumerate(JUDGED.motion):
            wanted = np.asarray(JUDGED.shapes[index])
            apart = np.linalg.norm(shapes - wanted, axis=2).mean(axis=1).min()
            assert np.linalg.norm(fitted.pose(pose)[0] - wanted, axis=1).mean() < apart


def test_gradients_are_those_of_linear_maps() -> None:
    mesh = FIT.rig.mesh
    rows, tangents = gradient_rows(mesh.points.astype(np.float64), mesh.triangles)
    linear = np.array([[1.0, 0.2, 0], [0, 2, 0.1], [0.3, 0, 0.5]])
    found = rows @ (mesh.points @ linear.T)
    np.testing.assert_allclose(found.reshape(-1, 2, 3), tangents @ linear.T, atol=1e-9)


def test_what_cannot_be_held_is_said() -> None:
    mesh = FIT.rig.mesh
    apart = ps.Mesh(
        np.vstack([mesh.points, mesh.points + 9]), np.vstack([mesh.triangles, mesh.triangles + len(mesh.points)])
    )
    rows, _ = gradient_rows(apart.points.astype(np.float64), apart.triangles)
    with pytest.raises(ps.InputError, match=f"a piece of it, with vertex {len(mesh.points)}, has no control point"):
        HeldSurface(rows, POINTS.astype(np.int32))
    with pytest.raises(ps.InputError, match="control points: expected three or more, each on a vertex of its own"):
        NearestRigid().fit(FIT)
    rest = TRAIN.rig.rest
    still = ps.Examples.from_shapes(TRAIN.rig, ps.Motion.from_poses([rest]), mesh.points[None])
    with pytest.raises(ps.InputError, match="MESHIK: expected an example besides the rest shape, got none"):
        MeshIK().fit(still)
    with pytest.raises(ps.InputError, match="rounds: expected at least 1, got 0"):
        MeshIK(rounds=0)
    with pytest.raises(ps.InputError, match="is only for comparison and has no file"):
        NearestRigid().fit(TRAIN).save("a.skin")
