"""What an export leaves out of the rig's own file is said by the command, also from a skin whose source is gone."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from helpers.commands import run
from helpers.gltf_files import TRIANGLE, Builder, skinned

import posespace as ps


def armed(folder: Path) -> Path:
    """A skinned triangle, a sword that hangs from its hand, and a cape with a skin of its own."""
    made: Builder = skinned()
    bare = {"POSITION": made.add(TRIANGLE)}
    joints = {"JOINTS_0": made.add(((0, 0, 0, 0),) * 3, np.uint8), "WEIGHTS_0": made.add(((1, 0, 0, 0),) * 3)}
    made.json["meshes"] += [{"primitives": [{"attributes": bare}]}, {"primitives": [{"attributes": bare | joints}]}]
    made.json["nodes"] += [
        {"name": "sword", "mesh": 1},
        {"name": "cape", "mesh": 2, "skin": 1},
        {"name": "cape joint"},
    ]
    made.json["nodes"][2]["children"] = [3]
    made.json["skins"].append({"joints": [5]})
    return made.write(folder, glb=True)


def test_the_command_names_the_meshes_that_it_leaves_out(tmp_path: Path) -> None:
    source = armed(tmp_path)
    ps.Skin(ps.load_rig(source)).save(tmp_path / "a.skin")
    source.unlink()
    for out in ("a.glb", "a.gltf"):
        done = run("export", "a.skin", "-o", out, folder=tmp_path)
        assert done.returncode == 0
        assert [line for line in done.stderr.splitlines() if "left out" in line] == [
            "posespace: warning: meshes of the rig's file that its joints do not skin are left out: 'cape', 'sword'"
        ]
    (line,) = json.loads(run("export", "a.skin", "-o", "b.glb", "--json", folder=tmp_path).stdout)["left_out"]
    assert "'cape', 'sword'" in line
    assert "omitted meshes: cape, sword" in run("info", "a.skin", folder=tmp_path).stdout


def test_examples_carry_what_was_left_out(tmp_path: Path) -> None:
    rig = ps.load_rig(armed(tmp_path))
    ps.Examples.from_shapes(rig, ps.Motion.from_poses([rig.rest]), rig.mesh.points[None]).save(tmp_path / "a.examples")
    done = run("export", "a.examples", "-o", "a.glb", folder=tmp_path)
    assert "are left out: 'cape', 'sword'" in done.stderr


def test_nothing_is_said_where_nothing_is_left_out(tmp_path: Path) -> None:
    ps.Skin(ps.load_rig(skinned().write(tmp_path, glb=True))).save(tmp_path / "a.skin")
    assert run("export", "a.skin", "-o", "a.glb", folder=tmp_path).stderr == ""
