"""Links: flat skeletons and several roots get back what hangs on what; natural hierarchies stay as they are."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.clips import tube_rig, waves
from helpers.floods import flat_skeleton
from helpers.strategies import seeds
from hypothesis import given, settings

import posespace as ps
from posespace.formats import pose_json
from posespace.geometry import rotations
from posespace.poses.links import find_links, linked, linked_rig, rerouted_names
from posespace.poses.parts import parts_of
from posespace.report import info
from posespace.skeleton import Skeleton

FINGERS = ("Thumb", "Index", "Middle", "Ring", "Little")


def bent_chain(joints: int, seed: int, frames: int = 12) -> ps.Motion:
    """Frames in which every joint of a chain but its first turns."""
    turn = np.tile(rotations.IDENTITY, (frames, joints, 1)).astype(np.float64)
    angles = 0.6 * waves(frames, joints - 1, seed)
    for joint in range(1, joints):
        turn[:, joint] = rotations.from_axis_angle(np.eye(3)[1 + joint % 2], angles[:, joint - 1])
    return ps.Motion(turn)


def flat_motion(chain: ps.Rig, flat: Skeleton, motion: ps.Motion) -> ps.Motion:
    """The motion of a chain on a flat skeleton that has a root in front of the same joints."""
    world = chain.skeleton.world(motion.rotations.astype(np.float64))
    still = np.broadcast_to(flat.rest_world[:1], (len(motion), 1, 4, 4))
    return ps.Motion.from_world(flat, np.concatenate([still, world], axis=1))


def pairs(links: np.ndarray) -> set[frozenset[int]]:
    """Which joints are linked, whichever to which."""
    return {frozenset((joint, int(link))) for joint, link in enumerate(links) if link >= 0}


@settings(max_examples=15)
@given(seeds)
def test_a_flat_chain_gets_back_its_chain_from_motion(seed: int) -> None:
    joints = 4 + seed % 3
    chain, flat = tube_rig(joints), tube_rig(joints, flat=True)
    links = find_links(flat, flat_motion(chain, flat.skeleton, bent_chain(joints, seed)))
    assert links[0] == -1
    assert pairs(links) == {frozenset((k, k + 1)) for k in range(1, joints)}


@pytest.mark.parametrize("joints", [4, 5, 6])
def test_a_flat_chain_gets_back_its_chain_from_skin_alone(joints: int) -> None:
    flat = tube_rig(joints, flat=True)
    still = ps.Motion.from_poses([flat.rest, flat.rest])
    assert pairs(find_links(flat, still)) == {frozenset((k, k + 1)) for k in range(1, joints)}
    assert pairs(find_links(flat, still[:0])) == {frozenset((k, k + 1)) for k in range(1, joints)}


def test_rerouted_joints_are_named_and_a_fit_keeps_them() -> None:
    chain, flat = tube_rig(4), tube_rig(4, flat=True)
    motion = flat_motion(chain, flat.skeleton, bent_chain(4, 1, 20))
    examples = ps.Examples.from_shapes(flat, motion, [flat.skin(pose) * 1.01 for pose in motion])
    rig = linked(examples).rig
    assert rerouted_names(flat.skeleton) == {}
    found = rerouted_names(rig.skeleton)
    assert {frozenset(pair) for pair in found.items()} == {
        frozenset(pair) for pair in (("body", "middle"), ("middle", "tip"), ("tip", "joint 3"))
    }
    assert linked_rig(rig, motion) is rig
    assert rerouted_names(ps.EigenSkin().fit(examples).rig.skeleton) == found


def test_what_stands_beside_as_another_root_is_linked_to_the_joint_it_moves_with() -> None:
    chain = tube_rig(5)
    parents = np.array([-1, 0, 1, -1, 3], dtype=np.int32)
    parted = Skeleton.from_world(chain.skeleton.names, parents, chain.skeleton.rest_world)
    world = chain.skeleton.world(bent_chain(5, 3).rotations.astype(np.float64))
    motion = ps.Motion.from_world(parted, world)
    rig = replace(chain, skeleton=parted)
    links = find_links(rig, motion)
    np.testing.assert_array_equal(links, chain.skeleton.parents)
    assert rerouted_names(linked_rig(rig, motion).skeleton) == {"joint 3": "tip"}


def test_a_root_bone_below_a_node_without_skin_moves_the_whole() -> None:
    chain = tube_rig(3)
    world = np.concatenate([np.eye(4)[None], chain.skeleton.rest_world])
    names = ("armature", *chain.skeleton.names)
    skeleton = Skeleton.from_world(names, np.arange(4) - 1, world)
    rig = ps.Rig(chain.mesh, skeleton, chain.influences + 1, chain.weights)
    turn = np.tile(rotations.IDENTITY, (5, 4, 1)).astype(np.float64)
    turn[:, :3] = rotations.from_axis_angle((0.0, 0.0, 1.0), 0.7 * waves(5, 3))
    motion = ps.Motion(turn)
    np.testing.assert_array_equal(find_links(rig, motion), [-1, -1, 1, 2])
    found = linked_rig(rig, motion).skeleton
    assert rerouted_names(found) == {}
    np.testing.assert_allclose(parts_of(found).angles(parts_of(found).of(motion)[0])[:, :2], 0, atol=1e-12)


def test_more_flat_joints_than_can_be_linked_are_refused_in_little_memory(tmp_path: Path) -> None:
    path = flat_skeleton(tmp_path, 6_000)
    rig = ps.load_rig(path)
    still = ps.Motion.from_poses([rig.rest])
    tracemalloc.start()
    with pytest.raises(ps.InputError, match=r"holds more joints to be linked, 6000, .* give them parents"):
        find_links(rig, still)
    # All pairs of joints would be 288 MB.
    assert tracemalloc.get_traced_memory()[1] < 50_000_000
    tracemalloc.stop()
    with pytest.raises(ps.FileError, match="holds more joints to be linked"):
        info.describe(path)


def test_a_thousand_flat_joints_are_linked_in_little_memory(tmp_path: Path) -> None:
    rig = ps.load_rig(flat_skeleton(tmp_path, 1_000))
    many = ps.Motion.from_poses([rig.rest] * 40)
    tracemalloc.start()
    links = find_links(rig, many)
    # All pairs in all poses would be a gigabyte.
    assert tracemalloc.get_traced_memory()[1] < 100_000_000
    tracemalloc.stop()
    assert sorted(np.flatnonzero(links < 0)) == [0]


def test_natural_hierarchies_stay_as_they_are(data: Path) -> None:
    arm, hand = ps.datasets.bending_arm(rings=8, sides=6)[0], ps.datasets.hand()[0][:100:10]
    chain = tube_rig(5)
    for rig, motion in ((arm.rig, arm.motion), (hand.rig, hand.motion), (chain, bent_chain(5, 2))):
        assert linked_rig(rig, motion) is rig
    assert linked(arm) is arm
    for name in ("CesiumMan", "RiggedSimple"):
        rig = ps.load_rig(data / "gltf-khronos" / f"{name}.glb")
        found = linked_rig(rig, ps.Motion.from_poses([rig.rest]))
        assert rerouted_names(found.skeleton) == {}, name


def test_a_games_flat_hand_gets_back_its_fingers(data: Path) -> None:
    folder = data / "hand-godot-xr"
    rig = ps.load_rig(folder / "hand_l.gltf")
    motion = pose_json.read(folder / "poses_left.json").motion(rig.skeleton)
    skeleton, root = rig.skeleton, rig.skeleton.order[0]
    parents = np.where(np.arange(len(skeleton)) == root, -1, root)
    flat = Skeleton.from_world(skeleton.names, parents, np.linalg.inv(rig.inverse_bind))
    world = skeleton.world(motion.rotations.astype(np.float64), motion.translations.astype(np.float64))
    found = linked_rig(replace(rig, skeleton=flat), ps.Motion.from_world(flat, world)).skeleton
    up = {name: found.names[link] for name, link in zip(found.names, parts_of(found).links, strict=True) if link >= 0}
    for finger in FINGERS:
        joints = [name for name in found.names if finger in name and "Tip" not in name and "Metacarpal" not in name]
        proximal, *rest = sorted(joints, key=lambda name: ("Proximal", "Intermediate", "Distal").index(_part(name)))
        for lower, upper in zip(rest, [proximal, *rest], strict=False):
            assert up[lower] == upper


def _part(name: str) -> str:
    return next(part for part in ("Proximal", "Intermediate", "Distal") if part in name)
