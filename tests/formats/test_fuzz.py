"""Damaged and hostile files of each format: each is read or refused with one line, in 2 s and 500 MB."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from helpers import marker_files
from helpers.fuzz import counts, fuzz
from helpers.gltf_files import everything
from helpers.strategies import random_skin
from helpers.textured import textured

from posespace import PSD, datasets, export
from posespace.formats import limits_json, obj, ply, pose_json
from posespace.formats.load import load_rig
from posespace.mesh import Mesh
from posespace.skin.skin import Skin

BVH = """HIERARCHY
ROOT Hips of Ada
{
    OFFSET 0 1 0
    CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
    JOINT Left Arm
    {
        OFFSET 1 0 0
        CHANNELS 3 Zrotation Yrotation Xrotation
        End Site
        {
            OFFSET 1 0 0
        }
    }
}
MOTION
Frames: 3
Frame Time: 0.033333
0 1 0 10 20 30 40 50 60
0 1 0 11 21 31 41 51 61
0 1 0 12 22 32 42 52 62
"""
PLY_TEXT = """ply
format ascii 1.0
element vertex 4
property float x
property float y
property float z
element face 3
property list uchar int vertex_indices
end_header
0 0 0
1 0 0
0 1 0
0 0 1
3 0 2 1
4 0 1 2 3
3 0 3 2
"""


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One good file of each format."""
    folder = tmp_path_factory.mktemp("samples")
    train = datasets.bending_arm(rings=8, sides=5)[0][:4]
    mesh = train.rig.mesh
    obj.write(folder / "arm.obj", mesh)
    ply.write(folder / "binary.ply", Mesh(mesh.points, mesh.triangles))
    (folder / "text.ply").write_text(PLY_TEXT)
    (folder / "clip.bvh").write_text(BVH)
    marker_files.c3d(folder / "floats.c3d", marker_files.take(), analogue=2)
    marker_files.c3d(folder / "whole.c3d", marker_files.take(), "dec", scale=0.01)
    marker_files.tsv(folder / "take.tsv", marker_files.take())
    marker_files.trc(folder / "take.trc", marker_files.take())
    pose_json.write(folder / "poses.json", train.motion, train.rig.skeleton)
    poses = json.loads((folder / "poses.json").read_text())
    bent = {train.rig.skeleton.names[1]: {"bend": 40, "axis": [1, 0, 0]}, train.rig.skeleton.names[2]: {"x": 5}}
    poses["poses"]["bent"] = {"rotations": bent}
    (folder / "poses.json").write_text(json.dumps(poses))
    limits_json.write(folder / "limits.json", train.rig.skeleton.ranges)
    skin = random_skin(np.random.default_rng(0))
    skin.save(folder / "all.skin")
    export(Skin(skin.rig, skin.layers), folder / "driven.glb", warn=lambda _: None)
    train.save(folder / "arm.examples")
    face = Mesh(mesh.points, mesh.triangles)
    obj.write(folder / "face.obj", face)
    controls = {f"pose{k}": {"controls": {"smile": k / 4}} for k in range(4)}
    (folder / "controls.json").write_text(json.dumps({"posespace": "poses", "version": 1, "poses": controls}))
    np.save(folder / "stack.npy", np.stack([face.points.astype(np.float32)] * 4))
    np.savez(folder / "stack.npz", shapes=np.stack([face.points.astype(np.float32)] * 4))
    everything().write(folder)
    shutil.move(textured().write(folder, glb=True), folder / "dressed.glb")
    everything().write(folder, glb=True)
    export(PSD(normals="shared").fit(train), folder / "compressed.glb", compression="meshopt")
    Skin(load_rig(folder / "dressed.glb")).save(folder / "dressed.skin")
    return folder


NAMES = [
    "arm.obj",
    "binary.ply",
    "text.ply",
    "clip.bvh",
    "floats.c3d",
    "whole.c3d",
    "take.tsv",
    "take.trc",
    "poses.json",
    "limits.json",
    "arm.examples",
    "made.gltf",
    "made.glb",
    "dressed.glb",
    "compressed.glb",
    "driven.glb",
]


@pytest.fixture
def folder(samples: Path, tmp_path: Path) -> Path:
    """Where bad copies go, with what some of them need beside them: a skeleton, a mesh and its poses."""
    rig = datasets.bending_arm(rings=8, sides=5)[0].rig
    Skin(rig).save(tmp_path / "rig.skin")
    shutil.copy(samples / "face.obj", tmp_path)
    shutil.copy(samples / "controls.json", tmp_path)
    return tmp_path


@counts(500)
@pytest.mark.parametrize("name", [*NAMES, "all.skin", "dressed.skin"])
def test_damaged_files_are_read_or_refused_in_one_line(samples: Path, folder: Path, name: str, count: int) -> None:
    lines = fuzz(samples / name, folder, count)["lines"]
    # Damage that does nothing must not make up the test.
    assert len(lines) > count / 4
    assert len(set(lines)) > min(count / 12, 10)


@counts(500)
@pytest.mark.parametrize("name", [*NAMES, "stack.npy", "stack.npz"])
def test_hostile_files_are_read_or_refused_in_one_line(samples: Path, folder: Path, name: str, count: int) -> None:
    lines = fuzz(samples / name, folder, count, "hostile")["lines"]
    assert len(set(lines)) > min(count / 12, 5)
