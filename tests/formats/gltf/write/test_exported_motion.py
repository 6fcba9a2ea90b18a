"""What an exported file plays: frames between the keys, names of poses and targets, blend shapes, metres and y up."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.commands import assert_one_line, run
from helpers.gltf_files import only
from helpers.strategies import random_points_skin
from helpers.textured import textured
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation, Slerp

import posespace as ps
from posespace.formats import gltf
from posespace.formats.frames import Wanted
from posespace.formats.gltf.buffers import Document
from posespace.formats.gltf.write.names import MOST_BYTES, short_names
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.rig import Rig
from posespace.skin.skin import Skin


@cache
def arm() -> tuple[Skin, Motion]:
    """An arm and four poses that are 0.4 s apart."""
    train, unseen = ps.datasets.bending_arm(rings=12, sides=8)
    picked = unseen.motion[:4]
    names = ("low", "high", "out", "in")
    return ps.PSD().fit(train), Motion(picked.rotations, picked.translations, 0.4 * np.arange(4), names)


def json_of(path: Path) -> Any:
    return Document(path).root.values


def halfway(motion: Motion, first: int) -> Pose:
    """The pose half-way between two keys, by SciPy."""
    ends = motion.rotations[first : first + 2]
    turns = [Slerp([0, 1], Rotation.from_quat(joint))(0.5).as_quat() for joint in np.swapaxes(ends, 0, 1)]
    return Pose(np.array(turns), motion.translations[first : first + 2].mean(axis=0))


def shape(contents: gltf.Contents, frame: int) -> Any:
    (played,) = contents.motions.values()
    pose = played[frame]
    moved = sum(pose.controls[name] * morph.astype(float) for name, morph in contents.morphs.items())
    return only(contents).skin(pose, moved)


def test_half_way_between_two_keys_the_file_shows_what_the_skin_gives(tmp_path: Path) -> None:
    skin, motion = arm()
    ps.export(skin, tmp_path / "arm.glb", motion)
    contents = gltf.read(tmp_path / "arm.glb", Wanted(rate="keys"))
    (played,) = contents.motions.values()
    assert len(played) == 37
    np.testing.assert_array_equal(played.times[::12], motion.times.astype(np.float32))
    for first in range(3):
        wanted = skin.pose(halfway(motion, first))[0]
        assert np.abs(shape(contents, 12 * first + 6) - wanted).max() < 1e-5 * skin.rig.mesh.diagonal
    ps.export(skin, tmp_path / "arm.glb", motion, rate=2.5)
    (keys,) = gltf.read(tmp_path / "arm.glb", Wanted(rate="keys")).motions.values()
    assert len(keys) == 4


def test_poses_keep_their_names(tmp_path: Path) -> None:
    skin, motion = arm()
    ps.export(skin, tmp_path / "arm.glb", motion[[2, 1, 0]])
    (animation,) = json_of(tmp_path / "arm.glb")["animations"]
    assert animation["extras"]["poseNames"] == ["low", "high", "out"]
    np.testing.assert_allclose(animation["extras"]["poseTimes"], [0, 0.4, 0.8], atol=1e-6)
    ps.export(skin, tmp_path / "arm.glb", Motion(motion.rotations))
    assert "extras" not in json_of(tmp_path / "arm.glb")["animations"][0]


def test_too_many_frames_and_odd_settings_are_said_in_a_line(tmp_path: Path) -> None:
    skin, motion = arm()
    late = Motion(motion.rotations, times=[0, 1, 2, 1e9])
    with pytest.raises(ps.InputError, match="1e\\+09 s at 30 frames per second are too many frames; lower the rate"):
        ps.export(skin, tmp_path / "arm.glb", late)
    with pytest.raises(ps.InputError, match="30000 s at 30 frames per second are too many frames; lower the rate"):
        ps.export(skin, tmp_path / "arm.glb", Motion(motion.rotations, times=[0, 1e4, 2e4, 3e4]))
    points = random_points_skin(np.random.default_rng(5))
    still = Motion(np.stack([points.rig.rest.rotations] * 2), times=[0, 300])
    with pytest.raises(ps.InputError, match="300 s at 30 frames per second are too many frames; lower the rate"):
        ps.export(points, tmp_path / "points.glb", still, warn=lambda _: None)
    with pytest.raises(ps.InputError, match="rate: expected frames per second, above 0, got 0"):
        ps.export(skin, tmp_path / "arm.glb", motion, rate=0)
    with pytest.raises(ps.InputError, match="unit: expected one of mm, cm, m, in, ft, got 'parsec'"):
        ps.export(skin, tmp_path / "arm.glb", motion, unit="parsec")
    skin.save(tmp_path / "arm.skin")
    assert_one_line(run("export", "arm.skin", "-o", "arm.glb", "--up", "w", folder=tmp_path), "up", "y, z")


def test_weights_count_from_the_lowest_coordinate_as_the_drivers_say(tmp_path: Path) -> None:
    skin, motion = arm()
    ps.export(skin, tmp_path / "arm.glb", motion)
    mesh = json_of(tmp_path / "arm.glb")["meshes"][0]
    targets = mesh["extensions"]["POSESPACE_drivers"]["targets"]
    contents = gltf.read(tmp_path / "arm.glb", Wanted(rate="keys"))
    (played,) = contents.motions.values()
    assert mesh["extras"]["targetNames"][-1] == "offset"
    assert targets[-1] == {"offset": True}
    coordinates = np.concatenate(skin.drive(motion[1])[1])
    low, scale = (np.array([target[name] for target in targets[:-1]]) for name in ("low", "scale"))
    np.testing.assert_allclose(played.controls[12, :-1], (coordinates - low) / scale, atol=1e-5)
    np.testing.assert_array_equal(played.controls[:, -1], 1)
    # Read back: a target divided by its scale is the component of the layer.
    layer = skin.layers[0]
    first = next(iter(contents.morphs.values()))
    np.testing.assert_allclose(first[layer.support] / scale[0], np.asarray(layer.basis)[0], atol=1e-6)


def test_without_morph_targets_the_rest_shape_is_shown(tmp_path: Path) -> None:
    skin, _ = arm()
    ps.export(skin, tmp_path / "arm.glb")
    contents = gltf.read(tmp_path / "arm.glb", Wanted(rate="keys"))
    np.testing.assert_array_equal(only(contents).mesh.points, skin.rig.mesh.points.astype(np.float32))
    weights = json_of(tmp_path / "arm.glb")["meshes"][0]["weights"]
    shown = sum(weight * morph.astype(float) for weight, morph in zip(weights, contents.morphs.values(), strict=True))
    assert np.abs(shown).max() < 1e-6 * skin.rig.mesh.diagonal


@given(st.lists(st.text(max_size=80), max_size=12))
def test_names_of_targets_are_short_and_distinct(names: list[str]) -> None:
    found = short_names([*names, *names])
    assert len(set(found)) == 2 * len(names)
    assert all(0 < len(name.encode()) <= MOST_BYTES for name in found)
    kept = [name for name in dict.fromkeys(names) if 0 < len(name.encode("utf-8", "replace")) <= MOST_BYTES - 3]
    assert set(kept) <= set(found)


def test_the_numbers_of_components_survive_long_layer_names(tmp_path: Path) -> None:
    skin, _ = arm()
    long = tuple(replace(layer, name=f"{'é' * 60} {layer.name}") for layer in skin.layers)
    ps.export(replace(skin, layers=long), tmp_path / "arm.glb")
    names = json_of(tmp_path / "arm.glb")["meshes"][0]["extras"]["targetNames"]
    assert len(set(names)) == len(names)
    assert all(len(name.encode()) <= MOST_BYTES for name in names)
    assert names[1].endswith(" 2")


def test_blend_shapes_of_the_rig_stay_and_clips_still_move_them(tmp_path: Path) -> None:
    rig = only(textured().read(tmp_path))
    still = np.tile(rig.rest.rotations, (2, 1, 1))
    motion = Motion(still, controls=[[0.0], [0.5]], control_names=("smile",), times=[0, 1])
    ps.export(Skin(rig), tmp_path / "again.glb", motion)
    contents = gltf.read(tmp_path / "again.glb")
    assert list(contents.morphs) == ["smile"]
    (played,) = contents.motions.values()
    np.testing.assert_allclose(played.controls[:, 0], np.linspace(0, 0.5, 31), atol=1e-6)
    meshes = json_of(tmp_path / "again.glb")["meshes"]
    # Only the mesh that it moves has it; the artist's own strength is kept.
    assert [mesh.get("weights") for mesh in meshes] == [[0.0], None]
    assert meshes[0]["extensions"]["POSESPACE_drivers"]["targets"] == [{}]
    np.testing.assert_allclose(contents.morphs["smile"][1], [0, 0.1, 0], atol=1e-6)


def test_a_blend_shape_that_was_learned_is_written_once(tmp_path: Path) -> None:
    mesh = only(textured().read(tmp_path)).mesh
    rig = Rig.from_mesh(mesh)
    smiling = Pose(rig.rest.rotations, controls={"smile": 1.0})
    moved = mesh.points.copy()
    moved[1, 1] += 0.1
    examples = ps.Examples.from_shapes(rig, Motion.from_poses([rig.rest, smiling]), [mesh.points, moved])
    skin = ps.PSD().fit(examples)
    ps.export(skin, tmp_path / "face.glb", examples.motion)
    assert list(gltf.read(tmp_path / "face.glb").morphs) == ["smile"]


@pytest.mark.parametrize(("unit", "metres"), [("mm", 0.001), ("cm", 0.01), ("m", 1.0), ("in", 0.0254)])
@pytest.mark.parametrize("up", ["y", "z"])
def test_any_unit_and_axis_becomes_metres_with_y_up(tmp_path: Path, unit: str, metres: float, up: str) -> None:
    skin, motion = arm()
    shifted = replace(motion, translations=motion.translations + 0.1 * np.arange(4)[:, None, None])
    ps.export(skin, tmp_path / "arm.glb", shifted, unit=unit, up=up)
    contents = gltf.read(tmp_path / "arm.glb", Wanted(rate="keys"))
    for key in range(4):
        wanted = metres * skin.pose(shifted[key])[0]
        if up == "z":
            wanted = np.stack([wanted[:, 0], wanted[:, 2], -wanted[:, 1]], axis=1)
        assert np.abs(shape(contents, 12 * key) - wanted).max() < 1e-5 * metres * skin.rig.mesh.diagonal


def test_the_built_in_hand_arrives_hand_sized(tmp_path: Path) -> None:
    train, _ = ps.datasets.hand()
    Skin(train.rig).save(tmp_path / "hand.skin")
    done = run("export", "hand.skin", "-o", "hand.glb", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    box = json.loads(done.stdout)["rigs"]["hand"]["box"]
    # From the wrist, where y is zero, to the tip of the longest finger.
    assert box["high"][1] == pytest.approx(0.188, abs=0.005)
