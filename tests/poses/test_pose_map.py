"""The map of poses: points of poses and poses of points agree, whatever the rig, the number of poses and the noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from helpers.sculpts import bar, posed, random_sculpts
from helpers.strategies import random_pose, random_rig, seeds
from hypothesis import given, settings
from hypothesis import strategies as st

import posespace as ps
from posespace.errors import InputError
from posespace.geometry import rotations
from posespace.poses.parts import parts_of
from posespace.poses.pose_map import PoseMap


def motion_of(poses: dict[str, ps.Pose]) -> ps.Motion:
    return ps.Motion.from_poses(list(poses.values()), list(poses))


def parts_apart(rig: ps.Rig, one: ps.Pose, other: ps.Pose) -> float:
    """How far the parts and controls of two poses are apart."""
    parts = parts_of(rig.skeleton)
    (first, moved), (second, also_moved) = parts.of(one), parts.of(other)
    names = {*one.controls, *other.controls}
    apart = [abs(one.controls.get(name, 0.0) - other.controls.get(name, 0.0)) for name in names]
    return max([*apart, float(rotations.angles_between(first, second).max()), float(np.abs(moved - also_moved).max())])


def in_reach(pose_map: PoseMap, point: np.ndarray) -> bool:
    """Whether no joint makes half a turn at a point."""
    numbers = pose_map.rest + pose_map.extents * (point @ pose_map.basis)
    joints = {owner for owner, _ in pose_map.freedoms if isinstance(owner, int)}
    squares = [
        sum(n**2 for (owner, axis), n in zip(pose_map.freedoms, numbers, strict=True) if owner == joint and axis < 3)
        for joint in joints
    ]
    return max(squares, default=0.0) < 3.1**2


@settings(max_examples=60)
@given(seeds, st.sampled_from([1, 2, 5, 12]), st.floats(-2, 2), st.floats(-2, 2), st.sampled_from([0.0, 1e-8]))
def test_points_of_poses_of_points_are_the_same(seed: int, count: int, x: float, y: float, noise: float) -> None:
    rng = np.random.default_rng(seed)
    rig = random_rig(rng)
    motion = random_sculpts(rng, rig, count).motion
    motion = replace(motion, rotations=motion.rotations + noise * rng.normal(size=motion.rotations.shape))
    pose_map, current = PoseMap.of(rig, motion), random_pose(rng, rig)
    np.testing.assert_allclose(pose_map.basis[0] @ pose_map.basis[0], 1.0, atol=1e-9)
    np.testing.assert_allclose(pose_map.point(motion), pose_map.dots, atol=1e-12)
    np.testing.assert_allclose(pose_map.point(rig.rest), 0, atol=1e-9)
    if not pose_map.basis[1].any():
        y = 0.0
    point = np.array([x, y])
    if in_reach(pose_map, point):
        np.testing.assert_allclose(pose_map.point(pose_map.pose(point, current)), point, atol=1e-6)
    # What the map does not show stays as it is, and so does the whole.
    pose = pose_map.pose(point, current)
    shown = sorted({owner for owner, _ in pose_map.freedoms if isinstance(owner, int)})
    others = np.setdiff1d(np.arange(len(rig.skeleton)), shown)
    parts = parts_of(rig.skeleton)
    np.testing.assert_allclose(*(rotations.matrices(parts.of(each)[0][others]) for each in (pose, current)), atol=1e-9)
    free = parts.links < 0
    worlds = (rig.skeleton.world(each.rotations, each.translations)[free] for each in (pose, current))
    np.testing.assert_allclose(*worlds, atol=1e-9)


@settings(max_examples=60)
@given(seeds, st.sampled_from([1, 2, 5]), st.sampled_from([0.0, 1e-8]))
def test_the_dot_of_a_sculpt_is_its_pose_but_for_its_distance_from_the_plane(
    seed: int, count: int, noise: float
) -> None:
    rng = np.random.default_rng(seed)
    rig = random_rig(rng)
    motion = random_sculpts(rng, rig, count).motion
    motion = replace(motion, rotations=motion.rotations + noise * rng.normal(size=motion.rotations.shape))
    pose_map = PoseMap.of(rig, motion)
    if count <= 2:
        assert pose_map.residuals.max() < 0.01
    for pose, dot, residual in zip(motion, pose_map.dots, pose_map.residuals, strict=True):
        if in_reach(pose_map, dot):
            largest = max(1.0, float(pose_map.extents.max()))
            back = pose_map.pose(dot, pose)
            assert parts_apart(rig, back, pose) <= 1.5 * largest * residual + 1e-6


@settings(max_examples=20)
@given(seeds, st.sampled_from([1, 2, 5]))
def test_noise_moves_no_dot(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    rig = random_rig(rng)
    motion = random_sculpts(rng, rig, count).motion
    noisy = replace(motion, rotations=motion.rotations + 1e-8 * rng.normal(size=motion.rotations.shape))
    still, moved = PoseMap.of(rig, motion), PoseMap.of(rig, noisy)
    spread = np.linalg.svd(still.dots, compute_uv=False)
    if count == 1 or spread[-1] > 0.1 * spread[0]:
        np.testing.assert_allclose(moved.dots, still.dots, atol=1e-3)


def test_one_sculpt_has_a_second_axis_of_the_same_joint() -> None:
    rig = bar()
    pose_map = PoseMap.of(rig, motion_of({"bent": posed(tip=0.8)}))
    np.testing.assert_allclose(pose_map.dots, [[0.8, 0.0]], atol=1e-12)
    assert {owner for (owner, _), step in zip(pose_map.freedoms, pose_map.basis[1], strict=True) if step} == {2}
    assert pose_map.basis[0] @ pose_map.basis[1] == pytest.approx(0, abs=1e-12)
    assert [axis.name for axis in pose_map.axes] == ["tip", "tip"]
    posed_up = pose_map.pose([0.8, 0.3], rig.rest)
    assert rotations.angles_between(posed_up.rotations[:2], rig.rest.rotations[:2]).max() == 0


def test_axes_are_told_in_words() -> None:
    rig = bar()
    bends = PoseMap.of(rig, motion_of({"bent": posed(base=0.8), "tip": posed(tip=0.3)}))
    assert [axis.words for axis in bends.axes] == ["base bends", "tip rotates"]
    twisted = ps.Pose(rotations.from_axis_angle((1.0, 0.0, 0.0), np.array([0.0, 0.8, 0.0])))
    assert PoseMap.of(rig, motion_of({"twisted": twisted})).axes[0].words == "base twists"
    both = PoseMap.of(rig, motion_of({"both": posed(base=0.5, tip=0.5)})).axes[0]
    assert both.words == "base bends + tip rotates"
    assert both.share == pytest.approx(0.5)
    moved = ps.Pose(rig.rest.rotations, [[0, 0, 0], [0, 0, 0], [0, 0.5, 0]])
    assert PoseMap.of(rig, motion_of({"moved": moved})).axes[0].words == "tip moves"


def test_a_face_is_mapped_by_its_controls_over_their_extents() -> None:
    rig = bar()
    one = PoseMap.of(rig, motion_of({"smile": posed(smile=20.0)}))
    assert (one.dots.tolist(), one.basis[1].tolist()) == ([[1.0, 0.0]], [0.0])
    assert [axis.words for axis in one.axes] == ["smile", ""]
    assert one.pose([0.5, 3.0], posed(tip=0.4)).controls == {"smile": 10.0}
    # A control's name may read as an axis of a joint.
    two = PoseMap.of(rig, motion_of({"smile": posed(**{"lip.x": 20.0}), "frown": posed(frown=-0.2)}))
    np.testing.assert_allclose(np.abs(two.dots), np.eye(2), atol=1e-6)
    assert [axis.words for axis in two.axes] == ["lip.x", "frown"]
    alone = PoseMap.of(rig, motion_of({"both": posed(smile=1.0, frown=1.0)}))
    np.testing.assert_allclose(alone.basis @ alone.basis.T, np.eye(2), atol=1e-12)


def test_a_layer_shows_what_moves_nothing_else() -> None:
    rig = bar()
    poses = {
        "rest": posed(),
        "tip": posed(tip=0.5),
        "base": posed(base=0.5),
        "both": posed(tip=0.5, base=0.7),
        "smile": posed(smile=1.0),
        "smiling": posed(smile=1.0, tip=0.2),
    }
    motion = motion_of(poses)
    assert PoseMap.of(rig, motion).names == tuple(poses)
    assert PoseMap.of(rig, motion, ("base", "tip")).names == ("tip", "base", "both")
    assert PoseMap.of(rig, motion, ["tip", "smile"]).names == ("tip", "smile", "smiling")
    with pytest.raises(InputError, match="no joint or control is called 'tpi'; the closest is 'tip'"):
        PoseMap.of(rig, motion, ["tpi"])
    with pytest.raises(InputError, match="at least one pose away from rest in the layer body, got none"):
        PoseMap.of(rig, motion, ["body"])
    with pytest.raises(InputError, match="at least one pose away from rest, got none"):
        PoseMap.of(rig, motion[:1])
    with pytest.raises(InputError, match="point of the map"):
        PoseMap.of(rig, motion).pose([np.nan, 0.0], rig.rest)


def test_poses_of_points_are_within_limits() -> None:
    rig = bar()
    skeleton = rig.skeleton.with_ranges({"tip": {"x": (0, 0), "y": (-10, 10), "z": (0, 60)}})
    rig = replace(rig, skeleton=skeleton)
    pose_map = PoseMap.of(rig, motion_of({"bent": posed(tip=0.8)}))
    assert [pose_map.freedoms[k] for k in np.flatnonzero(pose_map.basis[1])] == [(2, 1)]
    pose = pose_map.pose([5.0, -3.0], rig.rest)
    np.testing.assert_allclose(np.degrees(skeleton.angles(pose.rotations)[2]), [0, -10, 60], atol=1e-6)
    assert skeleton.beyond_limits(pose.rotations) == []
    unlimited = PoseMap.of(bar(), motion_of({"bent": posed(tip=0.8)})).pose([9.0, 0.0], rig.rest)
    assert abs(rotations.vectors(unlimited.rotations)[2, 2]) == pytest.approx(np.pi)


def test_a_mirrored_skeleton_is_mapped_as_any_other() -> None:
    rig = bar()
    world = rig.skeleton.rest_world @ np.diag([-1.0, 1.0, 1.0, 1.0])
    skeleton = ps.Skeleton.from_world(rig.skeleton.names, rig.skeleton.parents, world)
    assert skeleton.stretches is not None
    rig = ps.Rig(rig.mesh, skeleton, rig.influences, rig.weights)
    bent = skeleton.rotations(np.array([[0, 0, 0], [0, 0, 0.8], [0, 0.4, 0]]))
    pose_map = PoseMap.of(rig, motion_of({"bent": ps.Pose(bent)}))
    np.testing.assert_allclose(pose_map.dots, [[np.hypot(0.8, 0.4), 0.0]], atol=1e-9)
    pose = pose_map.pose(pose_map.dots[0], rig.rest)
    np.testing.assert_allclose(rotations.angles_between(pose.rotations, bent), 0, atol=1e-7)


def test_a_session_maps_muted_sculpts_too() -> None:
    session = ps.Sculpts(bar())
    with pytest.raises(InputError, match="expected at least one sculpt, got none"):
        session.pose_map()
    for name, pose in {"near": posed(tip=0.5), "far": posed(tip=1.0)}.items():
        session.add(name, pose, bar().skin(pose) + 0.1)
    before = session.pose_map()
    session.mute("far")
    np.testing.assert_array_equal(session.pose_map(["tip"]).dots, before.dots)
    np.testing.assert_allclose(before.dots, [[0.5, 0.0], [1.0, 0.0]], atol=1e-12)
