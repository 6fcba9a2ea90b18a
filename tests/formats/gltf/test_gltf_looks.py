"""What a rig's file shows besides its shape: read, stored, written again, and left out where it is wrong."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.gltf_files import Builder, only
from helpers.textured import png, textured

import posespace as ps
from posespace.formats import gltf, look_record
from posespace.formats.checked_json import Fields
from posespace.formats.records import Record
from posespace.formats.store.example_store import ExampleStore
from posespace.look import Look
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.skin.skin import Skin


def look_of(made: Builder, folder: Path) -> Look:
    look = only(made.read(folder)).mesh.look
    assert look is not None
    return look


def assert_same(found: Look | None, wanted: Look) -> None:
    assert found is not None
    assert found.meshes == wanted.meshes
    assert found.materials == wanted.materials
    assert found.textures == wanted.textures
    assert [image.tobytes() for image in found.images] == [image.tobytes() for image in wanted.images]
    np.testing.assert_array_equal(found.blocks, wanted.blocks)
    np.testing.assert_array_equal(found.groups, wanted.groups)
    assert set(found.attributes) == set(wanted.attributes)
    for name, values in wanted.attributes.items():
        np.testing.assert_allclose(found.attributes[name], values, atol=1e-6)
    assert list(found.morphs) == list(wanted.morphs)
    for name, (rows, values) in wanted.morphs.items():
        np.testing.assert_array_equal(found.morphs[name][0], rows)
        np.testing.assert_allclose(found.morphs[name][1], values, atol=1e-6)


def test_a_look_has_meshes_materials_images_attributes_and_blend_shapes(tmp_path: Path) -> None:
    look = look_of(textured(), tmp_path)
    assert look.meshes == ("body", "hat")
    assert look.blocks.tolist() == [[0, 3], [0, 3], [1, 3]]
    assert look.groups.tolist() == [[0, 1, 1], [1, 0, 1], [2, 0, 1]]
    # Only what a triangle uses is kept, under new numbers; another program's extensions are not.
    assert [material["name"] for material in look.materials] == ["red", "skin"]
    assert look.materials[0]["extensions"] == {"KHR_materials_unlit": {}}
    assert "extensions" not in look.materials[1]
    moved = {"KHR_texture_transform": {"offset": [0.5, 0.0]}}
    assert look.materials[1]["normalTexture"] == {"index": 0, "scale": 0.5, "extensions": moved}
    assert look.textures == ({"source": 0, "sampler": {"minFilter": 9987, "wrapS": 33071}},)
    assert [image.tobytes() for image in look.images] == [png(200, 100, 50)]
    assert set(look.attributes) == {"NORMAL", "TEXCOORD_0", "COLOR_0", "TANGENT"}
    np.testing.assert_array_equal(look.attributes["COLOR_0"][5:7], [[1, 1, 1, 1], [1, 0, 0, 1]])
    assert look.morphs["smile"][0].tolist() == [1]


def test_a_look_survives_store_fit_skin_file_and_export(tmp_path: Path) -> None:
    rig = only(textured().read(tmp_path))
    look = rig.mesh.look
    assert look is not None
    bent = Pose(np.array([[0, 0, 0, 1], [0, 0, 0.6, 0.8]]))
    motion = Motion.from_poses([Pose.rest(rig.skeleton), bent], ["rest", "bent"])
    shapes = [rig.mesh.points, rig.skin(bent) + 0.01]
    store = ExampleStore.create(tmp_path / "a.examples", rig, motion)
    for k, shape in enumerate(shapes):
        store.write(k, shape)
    opened = ps.Examples.open(tmp_path / "a.examples")
    assert_same(opened.rig.mesh.look, look)
    ps.PSD().fit(opened).save(tmp_path / "a.skin")
    skin = Skin.load(tmp_path / "a.skin")
    assert_same(skin.rig.mesh.look, look)
    ps.export(skin, tmp_path / "a.glb", motion)
    contents = gltf.read(tmp_path / "a.glb")
    again = only(contents).mesh.look
    assert again is not None
    assert set(look.morphs) < set(again.morphs)
    assert_same(replace(again, morphs={"smile": again.morphs["smile"]}), look)
    assert contents.notes == ()


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("skin\n#define gl_Position hacked", "skin_#define gl_Position hacked"),
        ("skin\\", "skin_"),
        ("skin /* 2", "skin _ 2"),
        ("Haut/Körper 肌", "Haut/Körper 肌"),
        (1000 * "s", 256 * "s"),
    ],
)
def test_names_of_materials_are_written_without_what_is_code_in_a_shader(
    name: str, wanted: str, tmp_path: Path
) -> None:
    made = textured()
    made.json["materials"][2]["name"] = name
    ps.export(Skin(only(made.read(tmp_path))), tmp_path / "a.gltf")
    assert wanted in [material["name"] for material in json.loads((tmp_path / "a.gltf").read_text())["materials"]]


def test_a_rig_without_a_look_has_none_and_old_files_still_open(tmp_path: Path) -> None:
    train, _ = ps.datasets.bending_arm(rings=6, sides=4)
    skin = Skin(train.rig)
    skin.save(tmp_path / "plain.skin")
    assert b"look" not in (tmp_path / "plain.skin").read_bytes()
    assert Skin.load(tmp_path / "plain.skin").rig.mesh.look is None


def wrong_image(made: Builder) -> None:
    made.json["images"][1] = {"bufferView": made.view(b"<html>"), "mimeType": "image/png"}


def missing_image(made: Builder) -> None:
    made.json["images"][1] = {"uri": "gone.png"}


def outside_image(made: Builder) -> None:
    made.json["images"][1] = {"uri": "../../etc/passwd"}


def short_coordinates(made: Builder) -> None:
    made.json["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_0"] = made.add([[0.0, 0.0]])


def bright_material(made: Builder) -> None:
    made.json["materials"][0]["pbrMetallicRoughness"]["baseColorFactor"] = [7, 0, 0, 1]


def far_texture(made: Builder) -> None:
    made.json["materials"][2]["normalTexture"]["index"] = 99


def odd_sampler(made: Builder) -> None:
    made.json["samplers"][0]["wrapS"] = 3


def flat_normals(made: Builder) -> None:
    made.json["meshes"][0]["primitives"][0]["attributes"]["TANGENT"] = made.add(np.zeros((3, 4)))


def far_material(made: Builder) -> None:
    made.json["meshes"][1]["primitives"][0]["material"] = 99


WRONGS: dict[Any, str] = {
    wrong_image: "image 1 is not a PNG, JPEG or WebP image",
    missing_image: "image 1 is left out",
    outside_image: "image 1 is left out",
    short_coordinates: "TEXCOORD_0",
    bright_material: "material 0: .*baseColorFactor",
    far_texture: "material 2: normalTexture",
    odd_sampler: "sampler 0: wrapS",
    flat_normals: "TANGENT",
    far_material: "material 99 is not in the file",
}


@pytest.mark.parametrize("spoil", WRONGS, ids=lambda spoil: spoil.__name__)
def test_what_is_wrong_with_a_look_is_left_out_with_a_note(tmp_path: Path, spoil: Any) -> None:
    made = textured()
    spoil(made)
    contents = made.read(tmp_path)
    (note,) = contents.notes
    assert "\n" not in note
    assert re.search(WRONGS[spoil], note)
    ps.export(Skin(only(contents)), tmp_path / "again.glb")
    assert gltf.read(tmp_path / "again.glb").notes == ()


def test_an_image_beside_the_file_is_taken_along(tmp_path: Path) -> None:
    made = textured()
    made.json["images"][1] = {"uri": "bark.png"}
    (tmp_path / "bark.png").write_bytes(png(1, 2, 3))
    look = look_of(made, tmp_path)
    assert look.images[0].tobytes() == png(1, 2, 3)


def test_a_skin_file_whose_look_was_tampered_with_is_refused_in_a_line(tmp_path: Path) -> None:
    def read(json: Any, arrays: Any) -> Look:
        return look_record.read(Fields(json, "look"), Record({}, arrays).array)

    arrays: dict[str, Any] = {}
    json = look_record.write(look_of(textured(), tmp_path), arrays.update)
    assert_same(read(json, arrays), look_of(textured(), tmp_path))
    for change in (
        {"look_image_0": np.frombuffer(b"#!/bin/sh", np.uint8)},
        {"look_groups": np.array([[0, 0, 1], [9, 0, 1]], np.int32)},
        {"look_groups": np.array([[0, 5, 1]], np.int32)},
        {"look_groups": np.array([[0, 0, -1]], np.int32)},
        {"look_TEXCOORD_0": np.zeros((2, 2), np.float32)},
        {"look_morph_starts": np.array([0, 7], np.int32)},
        {"look_morph_rows": np.array([100], np.int32)},
    ):
        with pytest.raises(ps.InputError):
            read(json, {**arrays, **change})
    for change in ({"materials": [{"alphaMode": "GLOW"}]}, {"attributes": ["POSITION"]}, {"textures": [{"source": 4}]}):
        with pytest.raises(ps.InputError):
            read({**json, **change}, arrays)
    with pytest.raises(ps.InputError, match="mesh look: expected that of 3 and 1, got one of 9 vertices"):
        ps.Mesh(np.zeros((3, 3)), np.array([[0, 1, 2]]), look=look_of(textured(), tmp_path))
    rig = only(textured().read(tmp_path))
    mixed = replace(rig, mesh=replace(rig.mesh, triangles=rig.mesh.triangles[::-1]))
    with pytest.raises(ps.InputError, match="look: expected triangles of the mesh 'body' on its own vertices"):
        ps.export(Skin(mixed), tmp_path / "mixed.glb")
