"""The rivals: each reproduces its examples where it should, equals its known limits, and fails with a reason."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posespace import datasets
from posespace.errors import InputError
from posespace.evaluation.score import evaluate
from posespace.evaluation.storage import stored_bytes, stored_numbers
from posespace.examples import Examples
from posespace.geometry import rotations
from posespace.interpolate.rbf import RBF
from posespace.mesh import Mesh
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.poses.active import whole_space
from posespace.rig import Rig
from posespace.rivals import fit_all, rivals
from posespace.rivals.bones import DualQuaternions, PlainSkinning
from posespace.rivals.cardinal import LinearRadial
from posespace.rivals.linear import LinearPoseShapes, rotation_features
from posespace.rivals.plain_psd import PlainPSD
from posespace.rivals.shapes import ShapeInterpolation
from posespace.rivals.shepard import ShepardCorrections
from posespace.rivals.weighted import WeightedPSD
from posespace.skin.bound import KEPT
from posespace.skin.skin import Skin

TRAIN, UNSEEN = datasets.bending_arm(rings=16, sides=8)
DIAGONAL = TRAIN.rig.mesh.diagonal


@pytest.mark.parametrize("method", [ShapeInterpolation(), ShepardCorrections(), PlainPSD(), LinearRadial()])
def test_interpolating_rivals_meet_every_example(method: PlainPSD) -> None:
    score = evaluate(method.fit(TRAIN), TRAIN)
    assert score.max_error < 2e-6 * DIAGONAL
    assert score.seen == len(TRAIN)


def test_every_rival_is_evaluated_by_one_call_and_says_what_it_saw() -> None:
    fitted = fit_all(rivals(), TRAIN)
    errors = {}
    for name, skin in fitted.items():
        assert not isinstance(skin, InputError), name
        score = evaluate(skin, UNSEEN)
        errors[name], seen = score.rel_err, score.seen
        assert seen == 0
        assert stored_bytes(skin) == 0 if "skinning" in name or "dual" in name else stored_numbers(skin) > 0
    assert errors.pop("plain skinning") == 1
    # On the arm, whose two joints are sampled densely, everything learned beats the bones.
    learned = [name for name in errors if name not in ("dual quaternions", "shape interpolation")]
    assert max(errors[name] for name in learned) < 0.7
    assert errors["plain PSD"] < 0.05


def test_bones_alone_are_the_rig_itself() -> None:
    pose = UNSEEN.motion[3]
    np.testing.assert_array_equal(PlainSkinning().fit(TRAIN).pose(pose)[0], TRAIN.rig.skin(pose))
    dual = replace(TRAIN.rig, blending="dual_quaternion")
    np.testing.assert_array_equal(DualQuaternions().fit(TRAIN).pose(pose)[0], dual.skin(pose))
    assert PlainSkinning().fit(Examples(dual, TRAIN.motion, TRAIN.shapes)).rig.blending == "linear"


def test_plain_psd_is_an_rbf_of_the_corrections() -> None:
    pose, space = UNSEEN.motion[0], whole_space(TRAIN.rig, TRAIN.motion)
    where = space.coordinates(TRAIN.motion, TRAIN.rig.skeleton)
    residuals = np.stack([TRAIN.residual(k)[0] for k in range(len(TRAIN))]).reshape(len(TRAIN), -1)
    direct = RBF("gaussian", 0.5).fit(where, residuals, space.metric)
    expected = direct(space.coordinates(pose, TRAIN.rig.skeleton)[None]).reshape(-1, 3)
    np.testing.assert_allclose(PlainPSD(radius=0.5).fit(TRAIN).displacements(pose), expected, atol=1e-6 * DIAGONAL)


def test_shape_interpolation_knows_no_bones_but_follows_the_root() -> None:
    skin = ShapeInterpolation().fit(TRAIN)
    turn = rotations.from_axis_angle((0.0, 1.0, 0.0), 0.7)
    pose = TRAIN.motion[12]
    moved = pose.rotations.copy()
    moved[0] = turn
    # The whole turns about the shoulder, at x = -1.
    shoulder = np.array([-1.0, 0, 0])
    expected = (TRAIN.shapes[12] - shoulder) @ rotations.matrices(turn).T + shoulder
    np.testing.assert_allclose(skin.pose(Pose(moved))[0], expected, atol=1e-5)


def test_linear_radial_continues_a_linear_correction_where_others_fade() -> None:
    mesh = Mesh(np.eye(3), [[0, 1, 2]])
    values = np.array([[0.0], [1.0], [2.0]])
    motion = Motion(np.tile([0, 0, 0, 1.0], (3, 1, 1)), controls=values, control_names=("load",))
    examples = Examples.from_shapes(Rig.from_mesh(mesh), motion, np.eye(3) * (1 + values[:, :, None]))
    # As far as the bound lets any skin go.
    beyond, far = (Pose([[0, 0, 0, 1.0]], controls={"load": load}) for load in (2.8, 10.0))
    np.testing.assert_allclose(LinearRadial().fit(examples).pose(beyond)[0], 3.8 * np.eye(3), atol=1e-5)
    np.testing.assert_allclose(LinearRadial().fit(examples).pose(far)[0], (1 + 2 * KEPT) * np.eye(3), atol=1e-5)
    np.testing.assert_allclose(PlainPSD(radius=0.1).fit(examples).pose(beyond)[0], np.eye(3), atol=1e-5)


def test_linear_pose_shapes_recover_shapes_that_are_linear() -> None:
    rig, joints = TRAIN.rig, (1, 2)
    rng = np.random.default_rng(4)
    turns = np.tile(rotations.IDENTITY, (40, 3, 1))
    turns[:, 1:] = rotations.normalize(2 * turns[:, 1:] + rng.normal(size=(40, 2, 4)))
    motion = Motion(turns)
    basis = 0.02 * rng.normal(size=(18, *rig.mesh.points.shape))
    features = rotation_features(rig, motion, joints)
    shapes = np.stack(
        [rig.skin(pose, np.tensordot(row, basis, axes=1)) for pose, row in zip(motion, features, strict=True)]
    )
    examples = Examples.from_shapes(rig, motion, shapes)
    half, other = examples[:30], examples[30:40]
    assert evaluate(LinearPoseShapes(ridge=1e-12).fit(half), other).rel_err < 1e-4
    held = [evaluate(LinearPoseShapes(ridge).fit(half), half).rms for ridge in (1e-9, 1e-2, 1.0)]
    assert held == sorted(held)
    skin = LinearPoseShapes().fit(half)
    np.testing.assert_allclose(skin.pose(rig.rest)[0], rig.mesh.points, atol=1e-7)


def one_joint() -> Examples:
    """The arm with every vertex on one of two bones, so that each sees the elbow alone."""
    rig = TRAIN.rig
    weights = (rig.mesh.points[:, 0] > 0)[:, None] * np.array([-1.0, 1.0, 0]) + np.array([1.0, 0, 0])
    bound = Rig.from_arrays(
        rig.mesh.points, rig.mesh.triangles, weights, rig.skeleton.parents, rig.skeleton.rest_world, rig.skeleton.names
    )
    chosen = TRAIN.named("* twist 0 *")
    return Examples(bound, chosen.motion, chosen.shapes)


def test_weighted_psd_meets_distinct_poses_and_lets_a_joint_move_only_its_own() -> None:
    examples = one_joint()
    skin = WeightedPSD(radius=0.3, smoothing=1e-4).fit(examples)
    mine = examples.rig.mesh.points[:, 0] > 0
    score = evaluate(skin, examples)
    assert score.per_vertex[:, mine].max() < 1e-3
    # The upper arm hangs on a joint that never turns: all poses are one to it, and it takes their mean.
    mean = np.mean([examples.residual(k)[0] for k in range(len(examples))], axis=0)
    moved = skin.pose(examples.motion[3])[0][~mine] - examples.rig.mesh.points[~mine]
    np.testing.assert_allclose(moved, mean[~mine], atol=1e-3)


def test_weighted_psd_is_plain_psd_where_all_joints_weigh_the_same() -> None:
    examples = one_joint()
    skin = WeightedPSD(radius=0.4, smoothing=1e-3).fit(examples)
    plain = PlainPSD(radius=0.4, smoothing=1e-3).fit(examples)
    mine = examples.rig.mesh.points[:, 0] > 0
    pose = Pose.from_joints(examples.rig.skeleton, {"forearm": rotations.from_axis_angle((0.0, 0.0, 1.0), 0.9)})
    np.testing.assert_allclose(skin.pose(pose)[0][mine], plain.pose(pose)[0][mine], atol=1e-5)


def test_a_rival_that_cannot_be_fitted_gives_its_reason() -> None:
    chosen = [0, 5, 10, 10]
    motion = Motion(TRAIN.motion.rotations[chosen], names=("a", "b", "c", "d"))
    fitted = fit_all(rivals(), Examples.from_shapes(TRAIN.rig, motion, [TRAIN.shapes[k] for k in chosen]))
    assert "'c' and 'd' coincide" in str(fitted["Shepard"])
    assert isinstance(fitted["plain PSD"], InputError)
    assert isinstance(fitted["dual quaternions"], Skin)
    mesh = Mesh(np.eye(3), [[0, 1, 2]])
    controls = Motion(np.tile([0, 0, 0, 1.0], (2, 1, 1)), controls=[[0.0], [1.0]], control_names=("smile",))  # type: ignore[arg-type]
    face = Examples.from_shapes(Rig.from_mesh(mesh), controls, np.stack([np.eye(3), 2 * np.eye(3)]))
    fitted = fit_all(rivals(), face)
    assert "no joint rotates" in str(fitted["weighted PSD"])
    assert "no joint but a root rotates" in str(fitted["linear in R - I"])
    assert isinstance(fitted["linear + radial"], Skin)


def test_spaces_of_what_moves() -> None:
    assert whole_space(TRAIN.rig, TRAIN.motion).names == ("forearm", "hand")
    assert whole_space(TRAIN.rig, TRAIN.motion, "freedoms").names == ("forearm.z", "hand.x")
    smiling = Motion(TRAIN.motion.rotations, controls=np.ones((30, 1)), control_names=("smile",))
    mixed = whole_space(TRAIN.rig, smiling)
    assert (mixed.kind, mixed.names) == ("freedoms", ("forearm.z", "hand.x", "smile"))
    with pytest.raises(InputError, match="no pose differs from rest"):
        whole_space(TRAIN.rig, TRAIN.named("bend 0 twist 0 *").motion)
    with pytest.raises(InputError, match="at least one"):
        whole_space(TRAIN.rig, TRAIN[np.zeros(0, dtype=int)].motion)


def test_settings_are_checked() -> None:
    for make in (lambda: WeightedPSD(radius=0.0), lambda: WeightedPSD(smoothing=0.0), lambda: LinearPoseShapes(-1.0)):
        with pytest.raises(InputError, match="expected"):
            make()
