"""The metrics: values worked out by hand on tiny cases, the laws they keep, and what a score says of its poses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers.strategies import random_pose, random_rig, random_skin, seeds
from hypothesis import given, settings

from posespace import datasets
from posespace.errors import InputError
from posespace.evaluation.score import Score, angles_between, evaluate, evaluate_all, moved_alone
from posespace.evaluation.storage import stored_bytes, stored_numbers
from posespace.examples import Examples
from posespace.geometry import rotations
from posespace.interpolate.rbf import RBF
from posespace.mesh import Mesh
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.poses.digests import pose_digests
from posespace.poses.spaces import PoseSpace
from posespace.rig import Rig
from posespace.rivals.plain_psd import PlainPSD
from posespace.skeleton import Skeleton
from posespace.skin.driver import Driver
from posespace.skin.layer import Layer
from posespace.skin.skin import Skin

TRAIN, UNSEEN = datasets.bending_arm(rings=12, sides=8)


def square(offsets: list[float]) -> Examples:
    """A 3 by 4 rectangle on a root alone; in pose k its vertex 0 lies `offsets[k]` above the plane."""
    mesh = Mesh([[0, 0, 0], [3, 0, 0], [3, 4, 0], [0, 4, 0]], [[0, 1, 2], [0, 2, 3]])
    shapes = np.tile(mesh.points.astype(float), (len(offsets), 1, 1))
    shapes[:, 0, 2] = offsets
    turn, names = np.tile([0, 0, 0, 1.0], (len(offsets), 1, 1)), tuple("abcd"[: len(offsets)])
    motion = Motion(turn, controls=np.eye(len(offsets)), control_names=names)
    return Examples.from_shapes(Rig.from_mesh(mesh), motion, shapes)


def test_metrics_of_a_rectangle_by_hand() -> None:
    score = evaluate(Skin(square([0.0]).rig), square([0.3, -0.4]))
    # 2 poses of 4 vertices, squared errors 0.09 + 0.16; the box is 3 by 4 and its diagonal 5.
    assert score.rel_err == pytest.approx(1)
    assert score.rms == pytest.approx(np.sqrt(0.25 / 8) / 4)
    assert score.e_rms == pytest.approx(1000 * np.sqrt(0.25 / (3 * 4 * 2)) / 2.5)
    assert score.max_error == pytest.approx(0.4)
    assert score.p95_error == pytest.approx(np.percentile([0.3, 0.4, 0, 0, 0, 0, 0, 0], 95))
    assert score.per_pose == pytest.approx({"0": 0.3 / 2, "1": 0.4 / 2})
    assert score.per_joint == pytest.approx({"a": 1, "b": 1})
    assert (score.bytes_per_vertex, score.numbers, score.seen) == (0, 0, 0)


def test_normal_error_of_a_folded_rectangle_by_hand() -> None:
    score = evaluate(Skin(square([0.0]).rig), square([3.0]))
    first = np.cross([3, 0, -3.0], [3, 4, -3.0])
    second = np.cross([3, 4, -3.0], [0, 4, -3.0])
    truth = np.array([first + second, first, first + second, second])
    truth /= np.linalg.norm(truth, axis=1, keepdims=True)
    expected = np.degrees(np.arccos(truth[:, 2]))
    np.testing.assert_allclose(score.degrees[0], expected, rtol=1e-5)
    assert score.normal_degrees == pytest.approx(expected.mean())
    assert score.p95_normal_degrees == pytest.approx(np.percentile(expected, 95))


def test_angles_keep_their_digits_near_zero_and_180() -> None:
    a = np.array([[1.0, 0, 0], [1, 0, 0], [1, 0, 0]])
    b = np.array([[np.cos(1e-9), np.sin(1e-9), 0], [0, 1, 0], [-1, 0, 0]])
    np.testing.assert_allclose(angles_between(a, b), [np.degrees(1e-9), 90, 180], rtol=1e-6)


@settings(max_examples=15)
@given(seeds)
def test_laws_of_the_metrics_on_random_rigs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rig = random_rig(rng)
    poses = [random_pose(rng, rig, 1.0) for _ in range(3)]
    motion = Motion.from_poses(poses)
    shapes = np.stack([rig.skin(pose) + 0.1 * rng.normal(size=rig.mesh.points.shape) for pose in poses])
    examples = Examples.from_shapes(rig, motion, shapes)
    plain, other = evaluate(Skin(rig), examples), evaluate(Skin(replace(rig, blending="dual_quaternion")), examples)
    assert plain.rel_err == 1
    assert plain.p95_error <= plain.max_error
    assert 0 <= plain.normal_degrees <= 180
    assert other.rel_err == pytest.approx(other.rms / plain.rms, rel=1e-5)
    assert other.rel_err == pytest.approx(other.e_rms / plain.e_rms, rel=1e-5)
    exact = Examples.from_shapes(rig, motion, np.stack([rig.skin(pose) for pose in poses]))
    assert evaluate(Skin(rig), exact).max_error == 0
    assert evaluate(Skin(rig), exact).rel_err == 0


def scaled(examples: Examples, factor: float) -> Examples:
    rig = examples.rig
    world = rig.skeleton.rest_world.copy()
    world[:, :3, 3] *= factor
    skeleton = Skeleton.from_world(rig.skeleton.names, rig.skeleton.parents, world)
    mesh = Mesh(factor * rig.mesh.points.astype(float), rig.mesh.triangles)
    shapes = np.stack([factor * examples.shapes[k] for k in range(len(examples))])
    return Examples.from_shapes(Rig(mesh, skeleton, rig.influences, rig.weights), examples.motion, shapes)


@pytest.mark.parametrize("factor", [1e-3, 25.4, 1e4])
def test_the_unit_of_the_mesh_does_not_matter_to_relative_figures(factor: float) -> None:
    here = evaluate(Skin(UNSEEN.rig), UNSEEN)
    there = scaled(UNSEEN, factor)
    score = evaluate(Skin(there.rig), there)
    for name in ("rel_err", "rms", "e_rms", "normal_degrees", "p95_normal_degrees"):
        assert getattr(score, name) == pytest.approx(getattr(here, name), rel=1e-4), name
    for name in ("max_error", "p95_error"):
        assert getattr(score, name) == pytest.approx(factor * getattr(here, name), rel=1e-4), name


def test_the_poses_of_each_joint_are_scored_apart() -> None:
    skeleton = TRAIN.rig.skeleton
    bend = rotations.from_axis_angle((0.0, 0.0, 1.0), 1.0)
    twist = rotations.from_axis_angle((1.0, 0.0, 0.0), 1.0)
    turns: list[dict[str, object]] = [{}, {"forearm": bend}, {"hand": twist}, {"forearm": bend, "hand": twist}]
    motion = Motion.from_poses([Pose.from_joints(skeleton, turn) for turn in turns])  # type: ignore[arg-type]
    assert moved_alone(TRAIN.rig, motion) == ("", "forearm", "hand", "several")
    score = evaluate(PlainPSD().fit(TRAIN), TRAIN)
    assert set(score.per_joint) == {"forearm", "hand", "several"}
    assert list(score.per_joint)[-1] == "several"
    assert max(score.per_joint.values()) < 1e-4


def test_digests_tell_poses_apart_and_know_them_again() -> None:
    bones = TRAIN.rig.skeleton
    digests = pose_digests(TRAIN.motion, bones)
    assert len(set(digests)) == len(TRAIN)
    assert all(len(digest) == 12 for digest in digests)
    turn = TRAIN.motion.rotations
    assert pose_digests(Motion(-turn), bones) == digests
    assert pose_digests(Motion(turn + 1e-9), bones) == digests
    named = Motion(turn, controls=np.zeros((len(turn), 1)), control_names=("smile",))
    assert pose_digests(named, bones) == digests
    smiling = Motion(turn, controls=np.ones((len(turn), 1)), control_names=("smile",))
    assert not set(pose_digests(smiling, bones)) & set(digests)
    assert not set(pose_digests(UNSEEN.motion, bones)) & set(digests)
    shifts = np.zeros((len(turn), 3, 3))
    shifts[:, 2] = 0.1
    assert not set(pose_digests(Motion(turn, shifts), bones)) & set(digests)


def test_digests_do_not_tell_where_the_whole_is() -> None:
    bones, turn = TRAIN.rig.skeleton, np.array(TRAIN.motion.rotations, dtype=np.float64)
    turn[:, 0] = rotations.from_axis_angle((0.0, 1.0, 0.0), np.linspace(0, 2, len(turn)))
    shifts = np.zeros((len(turn), 3, 3))
    shifts[:, 0] = np.random.default_rng(0).normal(size=(len(turn), 3))
    assert pose_digests(Motion(turn, shifts), bones) == pose_digests(TRAIN.motion, bones)


def test_a_score_says_how_many_poses_the_fit_had_seen() -> None:
    skin = replace(PlainPSD().fit(TRAIN), about={"poses": pose_digests(TRAIN.motion[:10], TRAIN.rig.skeleton)})
    assert evaluate(skin, TRAIN).seen == 10
    assert evaluate(skin, UNSEEN).seen == 0
    assert evaluate(replace(skin, about={}), UNSEEN).seen is None
    assert evaluate(replace(skin, about={"poses": 7}), UNSEEN).seen is None


def test_what_a_skin_stores_is_counted_without_its_rig() -> None:
    skin = PlainPSD().fit(TRAIN)
    layer = skin.layers[0]
    made = layer.driver.interpolant
    numbers = layer.support.size + layer.basis.size + made.centres.size + made.weights.size  # type: ignore[union-attr]
    assert stored_numbers(skin) == numbers
    small = layer.support.size + layer.basis.size  # of four bytes
    assert stored_bytes(skin) == 4 * small + 8 * (numbers - small)
    assert evaluate(skin, UNSEEN).bytes_per_vertex == stored_bytes(skin) / len(TRAIN.rig.mesh.points)
    full = random_skin(np.random.default_rng(1))
    without = replace(full, layers=tuple(replace(x, normal_basis=None, normal_driver=None) for x in full.layers))
    assert stored_bytes(full) > stored_bytes(without) > stored_bytes(replace(full, layers=())) > 0


def test_a_truncated_skin_keeps_the_first_components() -> None:
    full = random_skin(np.random.default_rng(2))
    pose = random_pose(np.random.default_rng(3), full.rig)
    one = full.truncated(1)
    assert [layer.driver.components for layer in one.layers] == [1] * len(full.layers)
    for small, large in zip(one.layers, full.layers, strict=True):
        expected = large.driver.coordinates(pose, full.rig.skeleton)[:1]
        np.testing.assert_allclose(small.driver.coordinates(pose, full.rig.skeleton), expected)
    np.testing.assert_array_equal(full.truncated(9).displacements(pose), full.displacements(pose))
    assert full.truncated(0).layers == ()
    assert stored_bytes(one) < stored_bytes(full)
    with pytest.raises(InputError, match="components: expected at least 0"):
        full.truncated(-1)


def test_poses_are_chosen_by_name() -> None:
    assert TRAIN.named("bend 0 *").motion.names == TRAIN.motion.names[:5]
    assert len(TRAIN.named("!bend 0 *")) == 25
    assert len(TRAIN.named("bend 0 *", "bend 24 *", "!* twist -90 *")) == 8
    with pytest.raises(
        InputError, match=r"only 'wrist\*': matches none of the 30 poses; the first are 'bend 0 twist -90 #0'"
    ):
        TRAIN.named("wrist*")
    with pytest.raises(InputError, match=r"examples: expected whole numbers from 0 to 29 .*999"):
        TRAIN[[999]]
    with pytest.raises(InputError, match="examples: expected whole numbers"):
        TRAIN[[0.5]]  # type: ignore[list-item]


def test_what_does_not_match_is_refused() -> None:
    with pytest.raises(InputError, match="expected at least one pose"):
        evaluate(Skin(TRAIN.rig), TRAIN[np.zeros(0, dtype=int)])
    other = datasets.bending_arm(rings=10, sides=8)[1]
    with pytest.raises(InputError, match="its shapes have 98 vertices, the examples 82"):
        evaluate(Skin(TRAIN.rig), other)
    skeleton = replace(UNSEEN.rig.skeleton, names=("a", "b", "c"))
    renamed = Examples(replace(UNSEEN.rig, skeleton=skeleton), UNSEEN.motion, UNSEEN.shapes)
    with pytest.raises(InputError, match="joints differ in name or order"):
        evaluate(Skin(TRAIN.rig), renamed)
    both = "evaluate: expected a skin and the examples to evaluate it on, got"
    with pytest.raises(InputError, match=f"{both} Examples and Skin"):
        evaluate(UNSEEN, Skin(TRAIN.rig))  # type: ignore[arg-type]
    with pytest.raises(InputError, match=f"{both} Skin and Motion"):
        evaluate(Skin(TRAIN.rig), UNSEEN.motion)  # type: ignore[arg-type]


@pytest.mark.parametrize("points", [np.zeros((0, 3)), np.ones((3, 3))])
def test_a_mesh_of_no_size_is_refused(points: np.ndarray) -> None:
    mesh = Mesh(points, np.zeros((0, 3), int))
    examples = Examples.from_shapes(Rig.from_mesh(mesh), Motion(np.array([[[0, 0, 0, 1.0]]])), points[None])
    with pytest.raises(InputError, match="expected a rest shape of some size"):
        evaluate(Skin(examples.rig), examples)


def test_a_score_reads_one_shape_at_a_time() -> None:
    asked: list[int] = []

    class Watched:
        def __len__(self) -> int:
            return len(UNSEEN)

        def __getitem__(self, index: int, /) -> np.ndarray:
            asked.append(index)
            return np.asarray(UNSEEN.shapes[index])

    done: list[tuple[int, int]] = []
    score = evaluate(Skin(UNSEEN.rig), Examples(UNSEEN.rig, UNSEEN.motion, Watched()), lambda *at: done.append(at))
    assert isinstance(score, Score)
    assert asked == list(range(len(UNSEEN)))
    assert done[-1] == (25, 25)
    assert score.per_vertex.dtype == np.float32


def test_several_skins_in_one_pass_score_as_each_alone_and_one_that_fails_does_not_stop_the_others() -> None:
    few = UNSEEN[:5]
    space = PoseSpace("controls", ("load",))
    driver = Driver(space, RBF("linear").fit(np.zeros((1, 1)), np.full((1, 1), 1e12), space.metric))
    too_large = Skin(TRAIN.rig, (Layer("load", driver, np.array([0]), np.zeros((1, 1, 3), np.float32)),))
    skins = [Skin(TRAIN.rig), too_large, PlainPSD().fit(TRAIN)]
    plain, failed, fitted = evaluate_all(skins, few)
    assert isinstance(failed, InputError)
    assert isinstance(plain, Score)
    assert isinstance(fitted, Score)
    assert fitted.figures() == evaluate(skins[2], few).figures()
    assert plain.rel_err == 1
    for index, (pose, shape) in enumerate(few):
        off = np.linalg.norm(skins[2].pose(pose)[0] - shape, axis=1)
        np.testing.assert_allclose(fitted.per_vertex[index], off, atol=1e-6)
