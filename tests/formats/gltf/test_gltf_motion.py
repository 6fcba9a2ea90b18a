"""glTF animations and morphs: real clips, and hand-made files for each rule of the specification."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pygltflib
import pytest
from helpers.gltf_files import (
    HALF,
    TRIANGLE,
    Array,
    animate,
    one_mesh,
    only,
    refused,
    skinned,
    spec_skinning,
)

from posespace.formats import gltf
from posespace.formats.frames import Wanted


def test_real_clips_have_their_length(data: Path) -> None:
    walk = gltf.read(data / "gltf-khronos/CesiumMan.glb").motions["animation 0"]
    cheer = gltf.read(data / "humanoid-rocketbox/Female_Adult_01_cheer_03.glb").motions["Animation"]
    assert walk.times[-1] == pytest.approx(2.0)
    assert len(cheer) == 96
    assert cheer.times[-1] == pytest.approx(3.1667, abs=1e-3)


@pytest.mark.parametrize("name", ["gltf-khronos/CesiumMan.glb", "humanoid-rocketbox/Female_Adult_01_cheer_03.glb"])
def test_real_clips_pose_the_skin_as_the_specification_says(data: Path, name: str) -> None:
    contents = gltf.read(data / name)
    rig, (motion,) = only(contents), contents.motions.values()
    file = pygltflib.GLTF2().load(data / name)
    (skin,), (clip,) = file.skins, file.animations

    def values(index: int) -> Array:
        accessor = file.accessors[index]
        view = file.bufferViews[accessor.bufferView]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}[accessor.type]
        start = (view.byteOffset or 0) + (accessor.byteOffset or 0)
        flat = np.frombuffer(file.binary_blob(), "<f4", accessor.count * width, start)
        return flat.reshape(-1, width).astype(float)

    bind = values(skin.inverseBindMatrices).reshape(-1, 4, 4).transpose(0, 2, 1)
    for frame in (0, len(motion) // 3):
        nodes = json.loads(file.to_json())["nodes"]
        for channel in clip.channels:
            sampler = clip.samplers[channel.sampler]
            times, output = values(sampler.input)[:, 0], values(sampler.output)
            key = int(np.abs(times - motion.times[frame]).argmin())
            nodes[channel.target.node][channel.target.path] = output[key]
        expected = spec_skinning(nodes, skin.joints, bind, rig)
        assert np.abs(rig.skin(motion[frame]) - expected).max() < 1e-5 * rig.mesh.diagonal


def test_simple_morph_has_two_morphs_and_moves_them(data: Path) -> None:
    contents = gltf.read(data / "gltf-khronos/SimpleMorph.gltf", Wanted(rate="keys"))
    (mesh,), (motion,) = contents.meshes.values(), contents.motions.values()
    assert mesh.points.tolist() == [[0, 0, 0], [1, 0, 0], [0.5, 0.5, 0]]
    assert contents.morphs["morph 0"].tolist() == [[0, 0, 0], [0, 0, 0], [-1, 1, 0]]
    assert contents.morphs["morph 1"].tolist() == [[0, 0, 0], [0, 0, 0], [1, 1, 0]]
    assert motion.control_names == ("morph 0", "morph 1")
    assert motion.times.tolist() == [0, 1, 2, 3, 4]
    assert motion.controls.tolist() == [[0, 0], [0, 1], [1, 1], [1, 0], [0, 0]]
    assert motion.rotations.shape == (5, 1, 4)


def test_keys_interpolate_and_stand_still_outside(tmp_path: Path) -> None:
    made = skinned()
    quarter = [[0, 0, 0, 1], [0, 0, HALF, HALF]]
    tangents = np.array(
        [[0.3, 0, 0, 0], [0, 0, 0, 1], [0, 0.4, 0, 0], [0, 0, 0.2, 0], [0, 0, HALF, HALF], [0, 0, 0, 0.1]]
    )
    steps = np.array([[32767, 0, 0, 0], [0, 32767, 0, 0]])
    for node, kind, output in (
        (1, "LINEAR", made.add(quarter)),
        (1, "STEP", made.add(steps, np.int16, normalized=True)),
        (1, "CUBICSPLINE", made.add(tangents)),
    ):
        clock = made.add([[0, 0, 0]] * 5)
        animate(made, (2, "translation", "LINEAR", [0, 1, 1.5, 3, 4], clock), (node, "rotation", kind, [1, 3], output))
    linear, step, cubic = (motion.rotations[:, 0] for motion in made.read(tmp_path).motions.values())
    eighth = [0, 0, math.sin(math.pi / 16), math.cos(math.pi / 16)]
    assert linear == pytest.approx(np.array([quarter[0], quarter[0], eighth, quarter[1], quarter[1]]), abs=1e-6)
    assert np.abs(step) == pytest.approx(np.eye(4)[[0, 0, 0, 1, 1]], abs=1e-6)
    t, width = 0.25, 2.0
    curve = (
        (2 * t**3 - 3 * t**2 + 1) * tangents[1]
        + width * (t**3 - 2 * t**2 + t) * tangents[2]
        + (-2 * t**3 + 3 * t**2) * tangents[4]
        + width * (t**3 - t**2) * tangents[3]
    )
    curve /= np.linalg.norm(curve)
    assert cubic == pytest.approx(np.array([quarter[0], quarter[0], curve, quarter[1], quarter[1]]), abs=1e-6)


def test_translations_are_shifts_from_rest_and_other_joints_rest(tmp_path: Path) -> None:
    made = skinned()
    animate(made, (2, "translation", "LINEAR", [0, 2], made.add([[1, 0, 0], [4, 2, 0]])))
    made.json["animations"] *= 2
    first, second = made.read(tmp_path).motions.items()
    assert (first[0], second[0]) == ("animation 0", "animation 1")
    assert first[1].translations.tolist() == [[[0, 0, 0], [0, 0, 0]], [[0, 0, 0], [3, 2, 0]]]
    assert first[1].rotations[1].tolist() == [[0, 0, 0, 1]] * 2


def test_changing_scale_and_strange_nodes_are_noted(tmp_path: Path) -> None:
    made = skinned()
    made.json["nodes"].append({"name": "armature", "children": [1]})
    same, grown = made.add([[1, 1, 1], [1, 1, 1.0001]]), made.add([[1, 1, 1], [1, 1, 2]])
    animate(
        made,
        (1, "scale", "LINEAR", [0, 1], same),
        (2, "scale", "LINEAR", [0, 1], grown),
        (3, "translation", "LINEAR", [0, 1], same),
    )
    contents = made.read(tmp_path)
    assert contents.notes == (
        "animation 'animation 0' moves 1 nodes that are not joints of the rig: left out",
        "animation 'animation 0' changes the scale of 1 joints: the scale is left out",
    )
    assert len(contents.motions["animation 0"]) == 2


@pytest.mark.parametrize("times", [[0, 0], [1, 0.5]])
def test_times_must_increase(tmp_path: Path, times: list[float]) -> None:
    made = skinned()
    animate(made, (2, "translation", "LINEAR", times, made.add([[1, 0, 0], [4, 2, 0]])))
    assert refused(made.write(tmp_path)) == "animation 0 sampler 0: expected times that increase from key to key"


def test_morphs_of_several_meshes_share_names_and_become_controls(tmp_path: Path) -> None:
    made = skinned()
    attributes = made.json["meshes"][0]["primitives"][0]["attributes"]
    lift, push = made.add([[0, 0, 1]] * 3), made.add([[1, 0, 0]] * 3)
    targets = [{"POSITION": lift}, {"POSITION": push}]
    made.json["meshes"] = [
        {"primitives": [{"attributes": attributes, "targets": targets}], "extras": {"targetNames": ["smile"]}},
        {
            "primitives": [{"attributes": attributes, "targets": targets[1:]}, {"attributes": attributes}],
            "extras": {"targetNames": ["smile"]},
            "weights": [0.5],
        },
    ]
    made.json["nodes"].append({"mesh": 1, "skin": 0})
    animate(made, (0, "weights", "LINEAR", [0, 1], made.add([0, 0, 1, 0.5])))
    contents = made.read(tmp_path)
    assert contents.morphs["smile"].tolist() == [[0, 0, 1]] * 3 + [[1, 0, 0]] * 3 + [[0, 0, 0]] * 3
    assert contents.morphs["morph 1"].tolist() == [[1, 0, 0]] * 3 + [[0, 0, 0]] * 6
    (motion,) = contents.motions.values()
    assert motion.control_names == ("smile", "morph 1")
    assert motion.controls.tolist() == [[0, 0], [1, 0.5]]


def test_unskinned_meshes_and_their_morphs_stand_in_the_world(tmp_path: Path) -> None:
    made = one_mesh()
    made.json["nodes"] = [
        {"mesh": 0, "scale": [-2, 1, 1], "name": "thing"},
        {"children": [0], "translation": [0, 0, 5]},
    ]
    primitive = made.json["meshes"][0]["primitives"][0]
    primitive["attributes"]["POSITION"] = made.add(TRIANGLE)
    primitive["targets"] = [{"POSITION": made.add([[1, 2, 3]] * 3)}]
    contents = made.read(tmp_path)
    assert contents.meshes["thing"].points.tolist() == [[0, 0, 5], [-2, 0, 5], [0, 1, 5]]
    # A reflection turns the triangle, so that its outside stays outside.
    assert contents.meshes["thing"].triangles.tolist() == [[0, 2, 1]]
    assert contents.morphs["morph 0"].tolist() == [[-2, 2, 3]] * 3
