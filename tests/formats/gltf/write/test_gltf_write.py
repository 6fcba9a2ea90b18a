"""Skins written as glTF: read back, they must give the shapes that the skin itself gives."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pygltflib
import pytest
from helpers.commands import assert_one_line, run
from helpers.gltf_files import Array, only, spec_skinning, stretched_chain
from helpers.strategies import random_pose, random_rig, random_rotations, random_skin, seeds
from hypothesis import given, settings

import posespace as ps
from posespace.formats import gltf
from posespace.formats.frames import Wanted
from posespace.formats.gltf.buffers import Document
from posespace.geometry import skinning
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.rig import Rig
from posespace.rivals.linear import LinearPoseShapes
from posespace.skeleton import Skeleton
from posespace.skin.skin import Skin


@cache
def arm() -> tuple[Skin, Motion]:
    train, unseen = ps.datasets.bending_arm(rings=12, sides=8)
    return ps.PSD().fit(train), unseen.motion


@cache
def hand(normals: str) -> tuple[Skin, Motion]:
    train, unseen = ps.datasets.hand()
    some = train.named("rest*", "index*", "thumb_cmc*")
    return ps.EigenSkin(components=3, normals=normals).fit(some), unseen.motion[:4]


def assert_plays(path: Path, skin: Skin, motion: Motion, clip: str = "motion") -> gltf.Contents:
    """Our reader's rig, morphs times weights and skinning give the skin's points to 1e-5 of the box, at every key."""
    contents = gltf.read(path, Wanted(rate="keys"))
    rig, frames = only(contents), contents.motions[clip]
    played = frames[[int(np.abs(frames.times - time).argmin()) for time in motion.times - motion.times.min()]]
    np.testing.assert_allclose(played.times, motion.times - motion.times.min(), atol=1e-6)
    assert frames.controls.min(initial=0) >= 0
    assert frames.controls.max(initial=0) <= 1
    metres = skin.rig.mesh.unit
    for wanted, pose in zip(motion, played, strict=True):
        points = rig.skin(pose, morphed(contents, pose)) / metres
        assert np.abs(points - skin.pose(wanted)[0]).max() < 1e-5 * skin.rig.mesh.diagonal
    return contents


def morphed(contents: gltf.Contents, pose: Pose) -> Array:
    moved: Array = sum(
        (pose.controls[name] * morph.astype(np.float64) for name, morph in contents.morphs.items()),
        np.zeros(only(contents).mesh.points.shape),
    )
    return moved


@pytest.mark.parametrize("ending", [".glb", ".gltf"])
def test_a_psd_arm_plays_as_the_skin_does(tmp_path: Path, ending: str) -> None:
    skin, motion = arm()
    path = tmp_path / f"arm{ending}"
    ps.export(skin, path, motion)
    contents = assert_plays(path, skin, motion)
    rig = only(contents)
    assert contents.notes == ()
    # One target per component, and the offset.
    assert len(contents.morphs) == 1 + sum(layer.driver.components for layer in skin.layers)
    assert rig.skeleton.same_as(skin.rig.skeleton)
    np.testing.assert_array_equal(rig.mesh.triangles, skin.rig.mesh.triangles)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("normals", ["none", "shared", "separate"])
def test_an_eigenskin_hand_plays_with_its_normals(tmp_path: Path, normals: str) -> None:
    skin, motion = hand(normals)
    path = tmp_path / "hand.glb"
    ps.export(skin, path, motion)
    contents = assert_plays(path, skin, motion)
    document = Document(path)
    (primitive,) = document.root.parts("meshes", "mesh")[0].parts("primitives", "primitive")
    rest = document.floats(primitive.part("attributes").integer("NORMAL"), "VEC3", "normals")
    targets = [target.values for target in primitive.parts("targets", "target")]
    assert all(set(target) == ({"POSITION"} if normals == "none" else {"POSITION", "NORMAL"}) for target in targets)
    if normals == "none":
        return
    rig, frames = only(contents), contents.motions["motion"]
    played = frames[[int(np.abs(frames.times - time).argmin()) for time in motion.times - motion.times.min()]]
    for wanted, pose in zip(motion, played, strict=True):
        added = sum(
            weight * document.floats(int(target["NORMAL"]), "VEC3", "normals")  # type: ignore[call-overload]
            for weight, target in zip(pose.controls.values(), targets, strict=True)
        )
        found = skinning.cofactor_normals(rig.blend(pose), rest + added)
        np.testing.assert_allclose(found, skin.pose(wanted)[1], atol=1e-4)


def test_small_supports_are_stored_sparsely(tmp_path: Path) -> None:
    skin, _ = hand("none")
    ps.export(skin, tmp_path / "hand.glb")
    file = pygltflib.GLTF2().load(tmp_path / "hand.glb")
    targets = file.meshes[0].primitives[0].targets
    sparse = [file.accessors[target["POSITION"]].sparse for target in targets]
    assert sum(entry is not None for entry in sparse) > len(targets) / 2
    morphs = list(gltf.read(tmp_path / "hand.glb").morphs.values())
    assert file.animations == []
    shown = sum(weight * morph for weight, morph in zip(file.meshes[0].weights, morphs, strict=True))
    assert np.abs(shown).max() < 1e-6 * skin.rig.mesh.diagonal * skin.rig.mesh.unit
    for target in targets:
        accessor = file.accessors[target["POSITION"]]
        assert accessor.count == len(skin.rig.mesh.points)
        assert all(low <= 0 <= high for low, high in zip(accessor.min, accessor.max, strict=True))


@settings(max_examples=40)
@given(seeds)
def test_any_skin_plays(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    rng = np.random.default_rng(seed)
    made = random_skin(rng)
    skin = replace(made, detail=None)
    motion = Motion.from_poses([random_pose(rng, skin.rig) for _ in range(3)])
    path = tmp_path_factory.mktemp("skin") / "any.glb"
    with pytest.warns(UserWarning, match="without the skin's detail"):
        ps.export(made, path, motion)
    assert_plays(path, skin, motion)


@settings(max_examples=40)
@given(seeds)
def test_skeletons_of_any_frames_and_stretches_play(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rig = random_rig(rng, vertices=30, joints=9, scaled=True)
    frames = rig.skeleton.local_frames + np.pad(0.2 * rng.normal(size=(9, 3, 4)), ((0, 0), (0, 1), (0, 0)))
    frames[rng.random(9) < 0.3, :3, :3] = np.diag([1, -1, 2])
    stretches = np.tile(np.eye(3), (9, 1, 1)) + 0.2 * rng.normal(size=(9, 3, 3)) * (rng.random((9, 1, 1)) < 0.7)
    turn = random_rotations(rng, 9)
    skeleton = Skeleton(rig.skeleton.names, rig.skeleton.parents, frames, turn, stretches)
    rig = Rig(rig.mesh, skeleton, rig.influences, rig.weights)
    motion = Motion.from_poses([Pose.rest(skeleton), *(random_pose(rng, rig) for _ in range(2))])
    path = tmp_path_factory.mktemp("rig") / "any.glb"
    ps.export(Skin(rig), path, motion)
    found = only(assert_plays(path, Skin(rig), motion))
    assert found.weights.shape[1] > 4 or (rig.weights > 0).sum(axis=1).max() <= 4
    # By the specification's own formulas too: nodes, global transforms, inverse bind matrices.
    file = pygltflib.GLTF2().load(path)
    nodes = [json.loads(node.to_json()) for node in file.nodes]
    shown = [{key: value for key, value in node.items() if value is not None} for node in nodes]
    bind = np.array([matrix for matrix in found.inverse_bind])
    points: Array = spec_skinning(shown, file.skins[0].joints, bind, found)
    assert np.abs(points - rig.skin(motion[0])).max() < 1e-4 * max(1.0, np.abs(points).max())


def test_a_file_of_others_keeps_its_skeleton(tmp_path: Path) -> None:
    rig = only(stretched_chain().read(tmp_path))
    ps.export(Skin(rig), tmp_path / "again.glb")
    again = only(gltf.read(tmp_path / "again.glb"))
    rng = np.random.default_rng(1)
    for pose in (Pose.rest(rig.skeleton), random_pose(rng, rig)):
        np.testing.assert_allclose(again.skin(pose), rig.skin(pose), atol=1e-5)


def test_more_than_four_influences_and_a_joint_twice(tmp_path: Path) -> None:
    rig = random_rig(np.random.default_rng(3), joints=12)
    joints = np.tile(np.arange(10, dtype=np.int32), (len(rig.mesh.points), 1))
    joints[:, 9] = 0
    weights = np.random.default_rng(4).random(joints.shape)
    weights[0, 2:] = 0
    rig = Rig(rig.mesh, rig.skeleton, joints, weights)
    ps.export(Skin(rig), tmp_path / "many.glb")
    found = only(gltf.read(tmp_path / "many.glb"))
    np.testing.assert_allclose(found.dense_weights(), rig.dense_weights(), atol=1e-6)
    attributes = pygltflib.GLTF2().load(tmp_path / "many.glb").meshes[0].primitives[0].attributes
    assert attributes.JOINTS_0 is not None
    assert attributes.JOINTS_2 is not None  # type: ignore[attr-defined]


def test_times_are_put_in_order_and_start_at_zero(tmp_path: Path) -> None:
    skin, motion = arm()
    mixed = Motion(motion.rotations[:3], times=[2.0, -1.0, 0.5])
    ps.export(skin, tmp_path / "arm.glb", mixed)
    assert_plays(tmp_path / "arm.glb", skin, Motion(motion.rotations[[1, 2, 0]], times=[0.0, 1.5, 3.0]))
    twice = Motion(motion.rotations[:2], times=[1.0, 1.0])
    with pytest.raises(ps.InputError, match="got poses '0' and '1' at the same time; leave one of them out"):
        ps.export(skin, tmp_path / "arm.glb", twice)
    with pytest.raises(ps.InputError, match="3 joints as in the rig, got 2 poses of 5"):
        ps.export(skin, tmp_path / "arm.glb", Motion(np.tile([0, 0, 0, 1.0], (2, 5, 1))))


def test_a_rig_at_rest_needs_no_layers_and_no_motion(tmp_path: Path) -> None:
    rig = arm()[0].rig
    still = Motion.from_poses([Pose.rest(rig.skeleton)] * 2)
    ps.export(Skin(rig), tmp_path / "arm.glb", still)
    assert_plays(tmp_path / "arm.glb", Skin(rig), still)


def test_what_cannot_be_written_is_said_in_a_line(tmp_path: Path) -> None:
    skin = arm()[0]
    with pytest.raises(ps.FileError, match=r"arm.fbx: cannot be written; skins are exported to \.glb \.gltf"):
        ps.export(skin, tmp_path / "arm.fbx")
    with pytest.raises(ps.FileError, match="cannot be written"):
        ps.export(skin, tmp_path / "none" / "arm.glb")
    with pytest.raises(ps.InputError, match="expected a mesh with triangles"):
        ps.export(Skin(Rig.from_mesh(ps.Mesh(np.zeros((3, 3)), np.zeros((0, 3), int)))), tmp_path / "flat.glb")
    train = ps.datasets.bending_arm(rings=6, sides=4)[0]
    with pytest.raises(ps.InputError, match=r"expected a Motion to play, got Examples; pass its \.motion"):
        ps.export(skin, tmp_path / "arm.glb", train)  # type: ignore[arg-type]
    with pytest.raises(ps.InputError, match=r"got Pose; pass Motion\.from_poses\(\[pose\]\)"):
        ps.export(skin, tmp_path / "arm.glb", train.motion[0])  # type: ignore[arg-type]
    rival = LinearPoseShapes().fit(train)
    with pytest.raises(ps.InputError, match="export: expected a Skin, got LinearPoseSkin"):
        ps.export(rival, tmp_path / "arm.glb")  # type: ignore[arg-type]
    with pytest.raises(ps.InputError, match="a LinearPoseSkin is only for comparison and has no file"):
        rival.save(tmp_path / "arm.skin")
    notes: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ps.export(Skin(replace(skin.rig, blending="dual_quaternion")), tmp_path / "arm.glb", warn=notes.append)
    assert "dual-quaternion" in notes[0]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["arm.glb"]


def test_the_command_writes_and_says_what_it_wrote(tmp_path: Path) -> None:
    from posespace.formats import pose_json

    skin, motion = arm()
    skin.save(tmp_path / "arm.skin")
    pose_json.write(tmp_path / "clip.json", motion, skin.rig.skeleton)
    done = run("export", "arm.skin", "-o", "arm.glb", "--motion", "clip.json", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["motions"]["clip"]["poses"] == len(motion)
    assert found["rigs"]["arm"]["vertices"] == len(skin.rig.mesh.points)
    assert_plays(tmp_path / "arm.glb", skin, Motion(motion.rotations, motion.translations), "clip")
    assert_one_line(run("export", "arm.skin", "-o", "arm.abc", folder=tmp_path), "arm.abc", ".glb .gltf")
    assert_one_line(
        run("export", "arm.skin", "-o", "no/arm.glb", folder=tmp_path), "no/arm.glb", "folder does not exist"
    )
    ps.datasets.bending_arm(rings=6, sides=4)[0].save(tmp_path / "arm.examples")
    done = run("export", "arm.skin", "-o", "arm.glb", "--motion", "arm.examples", "--json", folder=tmp_path)
    assert json.loads(done.stdout)["motions"]["arm"]["poses"] == 30


def test_every_clip_of_a_file_plays_as_the_skin_does(tmp_path: Path) -> None:
    skin, motion = arm()
    far = motion[:2]
    clips = {"there": motion, "back": Motion(motion.rotations[::-1], motion.translations[::-1]), "far": far}
    ps.export(skin, tmp_path / "arm.glb", clips)
    for name, played in clips.items():
        contents = assert_plays(tmp_path / "arm.glb", skin, played, name)
    assert list(contents.motions) == list(clips)
    twice = Motion(far.rotations, far.translations, np.zeros(2))
    with pytest.raises(ps.InputError, match="clip 'far': motion times: expected each time once"):
        ps.export(skin, tmp_path / "arm.glb", clips | {"far": twice})
    with pytest.raises(ps.InputError, match="expected a Motion to play, got Pose"):
        ps.export(skin, tmp_path / "arm.glb", {"still": motion[0]})  # type: ignore[dict-item]


def test_a_clip_starts_at_its_first_pose(tmp_path: Path) -> None:
    train, _ = ps.datasets.bending_arm(rings=6, sides=6)
    late = train.motion[4:9]
    assert late.times[0] > 0
    ps.export(ps.Skin(train.rig), tmp_path / "arm.glb", late)
    found = ps.load_motion(tmp_path / "arm.glb", train.rig.skeleton)
    np.testing.assert_allclose(found.times, late.times - late.times[0], atol=1e-6)
