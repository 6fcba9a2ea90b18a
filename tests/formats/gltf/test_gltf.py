"""glTF: real files, and hand-made ones for each rule of the specification."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pygltflib
import pytest
from helpers.gltf_files import (
    TRIANGLE,
    Builder,
    animate,
    one_mesh,
    only,
    refused,
    shift,
    skinned,
    spec_skinning,
    stretched_chain,
)

from posespace.formats import gltf
from posespace.formats.frames import Wanted
from posespace.pose import Pose

REAL = {
    "gltf-khronos/CesiumMan.glb": (3273, 4672, 19),
    "gltf-khronos/RiggedSimple.glb": (160, 188, 2),
    "gltf-khronos/SimpleSkin.gltf": (10, 8, 2),
    "hand-godot-xr/hand_l.gltf": (1764, 3052, 26),
    "hand-godot-xr/Hand_low_L.gltf": (603, 938, 26),
    "hand-godot-xr/Hand_Nails_low_L.gltf": (642, 1006, 26),
    "hand-webxr-generic/left.glb": (1360, 2314, 25),
    "hand-webxr-generic/right.glb": (1360, 2314, 25),
    "humanoid-rocketbox/Female_Adult_01_cheer_03.glb": (5563, 8732, 80),
    "quadrupeds-rocketbox/Horse_Brown_01.glb": (1933, 3272, 39),
    "quadrupeds-rocketbox/Camel_OneHump_01.glb": (1858, 3092, 39),
}


@pytest.mark.parametrize("name", REAL)
def test_real_rigs_have_their_counts_and_rest_in_their_rest_pose(data: Path, name: str) -> None:
    contents = gltf.read(data / name, Wanted("none"))
    rig = only(contents)
    assert contents.format == "glTF"
    assert contents.notes == ()
    assert (len(rig.mesh.points), len(rig.mesh.triangles), len(rig.skeleton)) == REAL[name]
    assert (np.diff(rig.weights, axis=1) <= 0).all()
    assert np.abs(rig.skin(rig.rest) - rig.mesh.points).max() < 1e-5 * rig.mesh.diagonal


def test_seams_of_the_hand_weld(data: Path) -> None:
    mesh = only(gltf.read(data / "hand-godot-xr/hand_l.gltf")).mesh
    assert len(mesh.weld.first) == 1528
    assert mesh.is_watertight


def test_the_two_containers_and_external_buffers_read_the_same(tmp_path: Path) -> None:
    made = skinned()
    text, binary = only(made.read(tmp_path)), only(made.read(tmp_path, glb=True))
    (tmp_path / "the data.bin").write_bytes(made.data)
    made.json["buffers"] = [{"byteLength": len(made.data), "uri": "the%20data.bin"}]
    beside = only(made.read(tmp_path))
    for rig in (text, binary, beside):
        assert rig.mesh.points.tolist() == TRIANGLE.tolist()
        assert rig.skeleton.names == ("arm", "hand")


def test_a_file_that_pygltflib_writes_is_read(tmp_path: Path) -> None:
    made = skinned()
    pygltflib.GLTF2().load(made.write(tmp_path)).save_binary(str(tmp_path / "other.glb"))
    assert only(gltf.read(tmp_path / "other.glb")).mesh.points.tolist() == TRIANGLE.tolist()


def test_sparse_accessors_overwrite_their_base_or_zeros(tmp_path: Path) -> None:
    for base in ({}, {"bufferView": 0}):
        made = one_mesh()
        made.view(TRIANGLE.tobytes())
        places, values = (
            made.view(np.array([1, 2], np.uint16).tobytes()),
            made.view(np.full(6, 7, np.float32).tobytes()),
        )
        sparse = {
            "count": 2,
            "indices": {"bufferView": places, "componentType": 5123},
            "values": {"bufferView": values},
        }
        at = made.describe(np.float32, "VEC3", 3, sparse=sparse, **base)
        made.json["meshes"][0]["primitives"][0]["attributes"] = {"POSITION": at}
        (mesh,) = made.read(tmp_path).meshes.values()
        assert mesh.points.tolist() == [[0, 0, 0], [7, 7, 7], [7, 7, 7]]


@pytest.mark.parametrize(
    ("dtype", "given", "expected"),
    [
        (np.int8, [-128, -127, 127], [-1, -1, 1]),
        (np.uint8, [0, 51, 255], [0, 0.2, 1]),
        (np.int16, [-32768, -32767, 32767], [-1, -1, 1]),
        (np.uint16, [0, 13107, 65535], [0, 0.2, 1]),
    ],
)
def test_normalised_integers_are_fractions_and_others_stay(
    tmp_path: Path, dtype: Any, given: list[int], expected: list[float]
) -> None:
    for flag, wanted in ((True, expected), (False, given)):
        made = one_mesh()
        made.json["extensionsRequired"] = ["KHR_mesh_quantization"]
        padded = np.zeros((3, 4), dtype)
        padded[:, :3] = np.array(given)[:, None]
        view = made.view(padded.tobytes(), byteStride=4 * padded.itemsize)
        at = made.describe(dtype, "VEC3", 3, bufferView=view, normalized=flag)
        made.json["meshes"][0]["primitives"][0]["attributes"] = {"POSITION": at}
        contents = made.read(tmp_path)
        (mesh,) = contents.meshes.values()
        assert contents.notes == ()
        assert mesh.points[:, 2] == pytest.approx(wanted, abs=1e-7)


def test_byte_stride_and_offsets_pick_interleaved_attributes(tmp_path: Path) -> None:
    made = one_mesh()
    rows = np.concatenate([np.full((3, 2), 9, np.float32), TRIANGLE, np.full((3, 1), 9, np.float32)], axis=1)
    at = made.describe(np.float32, "VEC3", 3, bufferView=made.view(rows.tobytes(), byteStride=24), byteOffset=8)
    made.json["meshes"][0]["primitives"][0]["attributes"] = {"POSITION": at}
    (mesh,) = made.read(tmp_path).meshes.values()
    assert mesh.points.tolist() == TRIANGLE.tolist()


@pytest.mark.parametrize(
    ("mode", "indices", "expected"),
    [
        (4, None, [[0, 1, 2]]),
        (4, [3, 2, 1, 0, 1, 2], [[3, 2, 1], [0, 1, 2]]),
        (5, [0, 1, 2, 3, 0], [[0, 1, 2], [1, 3, 2], [2, 3, 0]]),
        (6, [0, 1, 2, 3], [[1, 2, 0], [2, 3, 0]]),
    ],
)
def test_lists_strips_and_fans(tmp_path: Path, mode: int, indices: list[int] | None, expected: list[list[int]]) -> None:
    for dtype in (np.uint8, np.uint16, np.uint32):
        made = one_mesh(mode=mode)
        primitive = made.json["meshes"][0]["primitives"][0]
        primitive["attributes"]["POSITION"] = made.add([*TRIANGLE, [1, 1, 0]])
        if indices is not None:
            primitive["indices"] = made.add(indices, dtype)
        contents = made.read(tmp_path)
        (mesh,) = contents.meshes.values()
        assert mesh.triangles.tolist() == expected
        assert len(contents.notes) == (indices is None)


def test_lines_and_points_are_left_out_with_a_note(tmp_path: Path) -> None:
    made = one_mesh(mode=1)
    made.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = made.add(TRIANGLE)
    contents = made.read(tmp_path)
    assert not contents.meshes
    assert contents.notes == ("mesh 0 has a primitive without triangles: it is left out",)


def test_primitives_and_nodes_of_one_skin_are_one_mesh_in_file_order(tmp_path: Path) -> None:
    made = skinned(weights=np.tile([0.25, 0.75, 0, 0], (3, 1)), joints=np.tile([1, 0, 9, 9], (3, 1)))
    (first,) = made.json["meshes"][0]["primitives"]
    second = {"attributes": {**first["attributes"], "POSITION": made.add(TRIANGLE + 5)}}
    again = {"attributes": first["attributes"], "indices": made.add([2, 1, 0], np.uint8)}
    made.json["meshes"][0]["primitives"] += [second, again]
    made.json["meshes"].append({"primitives": [{"attributes": {"POSITION": made.add(TRIANGLE + 9)}}]})
    made.json["nodes"].append({"mesh": 1, "skin": 0, "translation": [100, 0, 0]})
    contents = made.read(tmp_path)
    rig = only(contents)
    assert rig.mesh.points.tolist() == np.concatenate([TRIANGLE, TRIANGLE + 5, TRIANGLE + 9]).tolist()
    # The third primitive shares the vertices of the first.
    assert rig.mesh.triangles.tolist() == [[0, 1, 2], [3, 4, 5], [2, 1, 0], [6, 7, 8]]
    assert rig.influences[:6].tolist() == [[0, 1]] * 6
    assert rig.weights[:6].tolist() == [[0.75, 0.25]] * 6
    assert rig.dense_weights()[6:].tolist() == [[1, 0]] * 3
    assert contents.notes == ("mesh 1 primitive 0 is skinned, but has no joints and weights: it is bound to the root",)


@pytest.mark.parametrize(("dtype", "one"), [(np.float32, 1), (np.uint8, 255), (np.uint16, 65535)])
def test_eight_influences_and_weights_of_every_type(tmp_path: Path, dtype: Any, one: int) -> None:
    made = skinned()
    attributes = made.json["meshes"][0]["primitives"][0]["attributes"]
    attributes["WEIGHTS_0"] = made.add(np.array([[0, 0, 0, 0.2]] * 3) * one, dtype, normalized=dtype != np.float32)
    attributes["WEIGHTS_1"] = made.add(np.array([[0, 0.8, 0, 0]] * 3) * one, dtype, normalized=dtype != np.float32)
    attributes["JOINTS_0"] = made.add([[7, 7, 7, 0]] * 3, np.uint16)
    attributes["JOINTS_1"] = made.add([[7, 1, 7, 7]] * 3, np.uint8)
    assert only(made.read(tmp_path)).dense_weights() == pytest.approx(np.array([[0.2, 0.8]] * 3))


def test_a_weight_on_a_joint_the_skin_lacks_names_the_primitive(tmp_path: Path) -> None:
    made = skinned(joints=[[0, 0, 0, 0], [0, 0, 0, 0], [2, 0, 0, 0]])
    assert refused(made.write(tmp_path)) == "mesh 0 primitive 0: vertex 2 is bound to joint 2, its skin has 2"


def test_joint_names_are_made_distinct(tmp_path: Path) -> None:
    made = skinned()
    made.json["nodes"] = [{"mesh": 0, "skin": 0}, {"name": "a"}, {}, {"name": "a"}, {"name": "a#2"}, {"name": ""}]
    made.json["skins"] = [{"joints": [1, 2, 3, 4, 5]}]
    assert only(made.read(tmp_path)).skeleton.names == ("a", "joint 1", "a#2", "a#2#2", "joint 4")


def test_missing_inverse_bind_matrices_are_identities(tmp_path: Path) -> None:
    made = skinned(joints=[[1, 0, 0, 0]] * 3)
    del made.json["skins"][0]["inverseBindMatrices"]
    rig = only(made.read(tmp_path))
    assert rig.inverse_bind.tolist() == [np.eye(4).tolist()] * 2
    at_rest = rig.skin(Pose.rest(rig.skeleton))
    assert at_rest == pytest.approx(TRIANGLE + np.array([1, 0, 0]))


def test_uneven_scale_and_nodes_in_between_pose_as_the_specification_says(tmp_path: Path) -> None:
    made = stretched_chain()
    turn = np.array([[0, 0, 0, 1], [0.6, 0, 0.8, 0], [0.1, 0.7, -0.1, 0.7]])
    turn /= np.linalg.norm(turn, axis=1, keepdims=True)
    moved = np.array([[0, 1, 0], [4, 5, 6], [-1, 0, 2]])
    animate(
        made,
        (2, "rotation", "LINEAR", [0, 1, 2], made.add(turn)),
        (2, "translation", "LINEAR", [0, 1, 2], made.add(moved)),
        (5, "rotation", "STEP", [0, 1, 2], made.add(turn[::-1])),
    )
    contents = made.read(tmp_path)
    rig, (motion,) = only(contents), contents.motions.values()
    assert rig.skeleton.parents.tolist() == [-1, 2, 0]
    bind = rig.inverse_bind
    nodes = made.json["nodes"]
    rest = spec_skinning(nodes, [2, 5, 4], bind, rig)
    assert rig.skin(Pose.rest(rig.skeleton)) == pytest.approx(rest, abs=1e-6)
    for k in range(3):
        nodes[2] |= {"rotation": turn[k], "translation": moved[k]}
        nodes[5] |= {"rotation": turn[2 - k]}
        assert rig.skin(motion[k]) == pytest.approx(spec_skinning(nodes, [2, 5, 4], bind, rig), abs=1e-5)


def two_skins(second: list[list[float]]) -> Builder:
    """The triangle once on joints 1 and 2, then, four times over, on joints 2 and 3 by `second`."""
    made = skinned(joints=[[1, 0, 0, 0]] * 3)
    made.json["nodes"] += [{"name": "tip", "translation": [2, 0, 0]}, *({"mesh": 0, "skin": 1} for _ in range(4))]
    made.json["nodes"][2]["children"] = [3]
    made.json["skins"].append({"joints": [3, 2, 1], "inverseBindMatrices": made.add(second)})
    return made


def test_skins_that_agree_up_to_one_transform_are_one_rig(tmp_path: Path) -> None:
    # Every matrix of the second skin is the first one's after a shift by 10: X moves its points by 10.
    made = two_skins([shift(10 - 3), shift(10 - 1), shift(10)])
    rig = only(made.read(tmp_path))
    assert rig.skeleton.names == ("arm", "hand", "tip")
    moved = TRIANGLE + np.array([10, 0, 0])
    assert rig.mesh.points == pytest.approx(np.concatenate([TRIANGLE, *[moved] * 4]), abs=1e-5)
    assert rig.influences[:, 0].tolist() == [1] * 15
    assert rig.inverse_bind[:, 0, 3] == pytest.approx([0, -1, -3], abs=1e-5)
    assert rig.skin(rig.rest) == pytest.approx(rig.mesh.points, abs=1e-5)


def test_skins_that_disagree_are_rigs_of_their_own_the_largest_first(tmp_path: Path) -> None:
    made = two_skins([shift(10 - 3), shift(10 - 1), shift(11)])
    first, second = made.read(tmp_path).rigs.values()
    assert (len(first.mesh.points), len(second.mesh.points)) == (12, 3)
    assert first.skeleton.names == ("tip", "hand", "arm")
    assert first.skeleton.parents.tolist() == [1, 2, -1]


def test_a_skin_without_a_mesh_is_a_file_of_motion(tmp_path: Path) -> None:
    made = skinned()
    del made.json["nodes"][0]["mesh"]
    animate(made, (2, "rotation", "LINEAR", [0, 1], made.add([[0, 0, 0, 1], [1, 0, 0, 0]])))
    contents = made.read(tmp_path)
    assert not contents.rigs
    assert contents.skeleton is not None
    assert contents.motions["animation 0"].rotations.shape == (2, 2, 4)
