"""What morph targets are called, and that those of sculpts carry their normals."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import posespace as ps
from posespace.formats import gltf
from posespace.formats.gltf.buffers import Document
from posespace.geometry import skinning

GRID = np.array([[x, y, 0.0] for x in range(4) for y in range(4)])
CORNERS = [(4 * x + y, 4 * x + 4 + y, 4 * x + 5 + y, 4 * x + 1 + y) for x in range(3) for y in range(3)]
FACE = ps.Rig.from_mesh(ps.Mesh.from_polygons(GRID, np.ravel(CORNERS), np.full(9, 4)))


def dial(**controls: float) -> ps.Pose:
    return ps.Pose(FACE.rest.rotations, controls=controls)


def raised(*heights: tuple[int, float]) -> np.ndarray:
    shape = GRID.copy()
    for vertex, height in heights:
        shape[vertex, 2] = height
    return shape


def face() -> ps.Sculpts:
    session = ps.Sculpts(FACE, ps.PSD(normals="shared"))
    session.add("frown", dial(browDown_R=1.0), raised((5, 0.4)))
    session.add("other frown", dial(browDown_L=1.0), raised((6, 0.4)))
    session.add("half open", dial(jawOpen=0.5), raised((9, -0.3)))
    session.add("open", dial(jawOpen=1.0), raised((9, -0.5), (10, -0.2)))
    return session


def test_a_target_of_one_sculpt_has_the_artists_name(tmp_path: Path) -> None:
    ps.export(face().skin(), tmp_path / "face.glb")
    assert list(gltf.read(tmp_path / "face.glb").morphs) == ["browDown_R", "browDown_L", "jawOpen 1", "jawOpen 2"]


def test_names_of_targets_are_distinct(tmp_path: Path) -> None:
    session = face()
    session.add("clash", ps.Pose(FACE.rest.rotations, controls={"jawOpen 1": 1.0}), raised((2, 0.3)))
    ps.export(session.skin(), tmp_path / "face.glb")
    names = list(gltf.read(tmp_path / "face.glb").morphs)
    assert len(set(names)) == len(names) == 5
    assert {"browDown_R", "browDown_L"} < set(names)


def test_targets_of_sculpts_carry_their_normals(tmp_path: Path) -> None:
    skin, poses = face().skin(), ps.Motion.from_poses([dial(browDown_R=1.0), dial(jawOpen=0.7)])
    ps.export(skin, tmp_path / "face.glb", poses)
    document = Document(tmp_path / "face.glb")
    (primitive,) = document.root.parts("meshes", "mesh")[0].parts("primitives", "primitive")
    targets = primitive.parts("targets", "target")
    rest = document.floats(primitive.part("attributes").integer("NORMAL"), "VEC3", "normals")
    (played,) = gltf.read(tmp_path / "face.glb").motions.values()
    for wanted, pose in zip(poses, played, strict=True):
        normals = rest.astype(np.float64)
        for weight, target in zip(pose.controls.values(), targets, strict=True):
            normals = normals + weight * document.floats(target.integer("NORMAL"), "VEC3", "normals")
        found = skinning.cofactor_normals(FACE.blend(FACE.rest), normals)
        np.testing.assert_allclose(found, skin.pose(wanted)[1], atol=1e-5)
