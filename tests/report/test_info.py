"""`posespace info` on every real asset of a known ending: the counts are those of the SOURCE.txt files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import posespace as ps
from posespace.cli.shortening import folded
from posespace.datasets import bending_arm
from posespace.formats.registry import CONTENTS, read_endings
from posespace.formats.registry import POSES as POSE_KIND
from posespace.report.info import describe
from posespace.skin.skin import Skin

RIGS: dict[str, dict[str, Any]] = {
    "gltf-khronos/CesiumMan.glb": {"vertices": 3273, "triangles": 4672, "joints": 19, "clips": 1, "seconds": 2.0},
    "gltf-khronos/RiggedSimple.glb": {"vertices": 160, "triangles": 188, "joints": 2, "clips": 1},
    "gltf-khronos/SimpleSkin.gltf": {"vertices": 10, "joints": 2, "clips": 1},
    "hand-godot-xr/hand_l.gltf": {
        "vertices": 1764,
        "unique_positions": 1528,
        "triangles": 3052,
        "joints": 26,
        "watertight": True,
        "most_influences": 4,
    },
    "hand-godot-xr/Hand_low_L.gltf": {"vertices": 603, "unique_positions": 471, "triangles": 938, "joints": 26},
    "hand-godot-xr/Hand_Nails_low_L.gltf": {"vertices": 642, "triangles": 1006, "joints": 26},
    "hand-webxr-generic/left.glb": {"vertices": 1360, "unique_positions": 1159, "triangles": 2314, "joints": 25},
    "hand-webxr-generic/right.glb": {"vertices": 1360, "unique_positions": 1159, "triangles": 2314, "joints": 25},
    "humanoid-rocketbox/Female_Adult_01_cheer_03.glb": {
        "vertices": 5563,
        "triangles": 8732,
        "joints": 80,
        "clips": 1,
        "poses": 96,
        "seconds": pytest.approx(3.17, abs=0.005),
    },
    "quadrupeds-rocketbox/Horse_Brown_01.glb": {
        "vertices": 1933,
        "unique_positions": 1644,
        "triangles": 3272,
        "joints": 39,
        "clips": 0,
    },
    "quadrupeds-rocketbox/Camel_OneHump_01.glb": {
        "vertices": 1858,
        "unique_positions": 1556,
        "triangles": 3092,
        "joints": 39,
        "clips": 0,
    },
    "usdskel/HIK_Export.usda": {"vertices": 2240, "triangles": 4236, "joints": 70, "poses": 101},
    "usdskel/openusd/lbs.usda": {"joints": 3, "poses": 30, "blending": "linear"},
    "usdskel/openusd/dqs.usda": {"joints": 3, "poses": 30, "blending": "dual_quaternion"},
}
MESHES: dict[str, dict[str, Any]] = {
    "face-ict-facekit/generic_neutral_mesh.obj": {"vertices": 26719},
    "face-ict-facekit/jawOpen.obj": {"vertices": 26719},
    "makehuman-cc0/base.obj": {"vertices": 19158, "faces": 18486, "faces_by_corners": {"4": 18486}},
    "hand-target-odedstein/hand_lowres.obj": {"vertices": 810, "triangles": 1602, "watertight": False},
    "hand-target-odedstein/hand_closed.obj": {"vertices": 7993, "triangles": 15982, "watertight": True},
    "meshposes-wolf/wolf_rest.obj": {"vertices": 5075, "triangles": 10018},
    **{f"meshposes-wolf/poses/wolf-{k:02d}.obj": {"vertices": 5075, "triangles": 10018} for k in range(1, 16)},
    "gltf-khronos/SimpleMorph.gltf": {"vertices": 3},
}
POSES = {"hand-godot-xr/poses_left.json": (25, 19), "hand-webxr-generic/iwer_hand_poses.json": (3, 25)}
READABLE = set(read_endings(*CONTENTS, POSE_KIND))


@pytest.mark.parametrize("name", RIGS)
def test_a_real_rig_has_the_stated_counts(data: Path, name: str) -> None:
    found = describe(data / name)
    clips = list(found.get("motions", {}).values())
    rig = next(iter(found["rigs"].values())) | {"clips": len(clips)}
    for clip in clips:
        rig |= {"poses": clip["poses"], "seconds": clip["seconds"]}
    assert {key: rig[key] for key in RIGS[name]} == RIGS[name]


@pytest.mark.parametrize("name", MESHES)
def test_a_real_mesh_keeps_the_order_and_number_of_its_vertices(data: Path, name: str) -> None:
    mesh = next(iter(describe(data / name)["meshes"].values()))
    assert {key: mesh[key] for key in MESHES[name]} == MESHES[name]


@pytest.mark.parametrize("name", POSES)
def test_a_real_pose_file_has_the_stated_counts(data: Path, name: str) -> None:
    found = describe(data / name)
    assert (found["poses"], found["joints"]) == POSES[name]


def test_the_morph_sample_has_two_targets(data: Path) -> None:
    assert len(describe(data / "gltf-khronos/SimpleMorph.gltf")["morph_targets"]) == 2
    assert len(describe(data / "usdskel/openusd/blendshapes.usda")["morph_targets"]) == 6


def test_bvh_files_have_the_stated_joints_and_frames(data: Path) -> None:
    cheer = describe(data / "humanoid-rocketbox/Female_Adult_01_cheer_03.bvh")
    assert cheer["skeleton"]["joints"] == 80
    assert "Bip01 L Finger0" in cheer["skeleton"]["joint_names"]
    motion = next(iter(cheer["motions"].values()))
    assert (motion["poses"], round(motion["seconds"], 2)) == (96, 3.17)
    poses = sorted((data / "makehuman-cc0/poses").glob("*.bvh"))
    assert len(poses) == 9
    for path in poses:
        found = describe(path)
        assert 163 <= found["skeleton"]["joints"] <= 173
        assert next(iter(found["motions"].values()))["poses"] == 1


def test_the_knight_is_a_rig_with_what_it_carries_and_its_clips(data: Path) -> None:
    found = describe(data / "humanoid-kaykit-knight/Knight.glb")
    (rig,) = found["rigs"].values()
    meshes = [rig, *found["meshes"].values()]
    assert (sum(mesh["vertices"] for mesh in meshes), sum(mesh["triangles"] for mesh in meshes)) == (7024, 6952)
    assert (len(meshes), rig["joints"], len(found["motions"])) == (1 + 9, 41, 76)
    short = folded(found)
    assert (len(short["motions"]), len(short["meshes"])) == (3, 3)
    assert short["73 more motions (--all shows them)"].endswith("Walking_Backwards, Walking_C")
    assert rig["look"]["materials"] == ["knight_texture"]
    assert len(rig["look"]["meshes"]) == 6
    assert rig["look"]["images"] == ["14172 bytes"]


def test_every_real_file_of_a_known_ending_is_read(data: Path) -> None:
    found = {path for path in data.rglob("*") if path.suffix.lower() in READABLE}
    assert found >= {data / name for name in [*RIGS, *MESHES, *POSES]}
    # Those with counts are read above.
    for path in sorted(found - {data / name for name in [*RIGS, *MESHES, *POSES]}):
        figures = describe(path)
        assert {"rigs", "meshes", "skeleton", "motions", "poses", "markers"} & figures.keys(), path


def test_a_rest_pose_misfit_says_what_it_is_and_what_to_do(tmp_path: Path) -> None:
    rig = bending_arm(rings=6, sides=6)[0].rig
    Skin(rig).save(tmp_path / "good.skin")
    good = describe(tmp_path / "good.skin")["rig"]
    assert good["rest_pose_misfit"] == 0
    assert "about_the_misfit" not in good
    Skin(replace(rig, inverse_bind=rig.inverse_bind @ np.diag([2.0, 2, 2, 1]))).save(tmp_path / "odd.skin")
    odd = describe(tmp_path / "odd.skin")["rig"]
    assert odd["rest_pose_misfit"] > 0.1
    assert "bind the mesh again" in odd["about_the_misfit"]


def test_a_skin_in_gltf_is_described_as_a_skin(tmp_path: Path) -> None:
    train, _ = ps.datasets.bending_arm(rings=6, sides=6)
    skin = ps.EigenSkin().fit(train)
    skin.save(tmp_path / "arm.skin")
    ps.export(skin, tmp_path / "arm.glb", warn=lambda _: None)
    plain, exported = (describe(tmp_path / name) for name in ("arm.skin", "arm.glb"))
    assert exported["format"] == "glTF"
    assert exported["skin"]["layers"] == plain["layers"]
    assert exported["skin"]["about"] == plain["about"]
