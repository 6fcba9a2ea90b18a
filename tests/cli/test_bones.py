"""`posespace bones` as a user meets it: files in, a store out, and the animation as a skinned file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from helpers.commands import assert_one_line, run_forked

import posespace as ps
from posespace.formats import obj

ARM = ps.datasets.bending_arm(rings=12, sides=8)[0]


@pytest.fixture
def shapes(tmp_path: Path) -> Path:
    """Shapes 0.obj to 10.obj, the first at rest."""
    for number in range(11):
        obj.write(tmp_path / f"{number}.obj", ARM.rig.mesh.with_points(ARM.shapes[number]))
    return tmp_path


def test_meshes_become_examples_and_a_skinned_animation(shapes: Path) -> None:
    done = run_forked(["bones", "*.obj", "--count", "5", "-o", "arm.examples", "--json"], shapes)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["bones"] == 5
    made = ps.Examples.open(shapes / "arm.examples")
    assert made.motion.names[:3] == ("0", "1", "2")
    assert made.motion.names[-1] == "10"
    assert figures["e_rms"] == pytest.approx(ps.evaluate(ps.Skin(made.rig), made).e_rms)
    done = run_forked(["export", "arm.examples", "-o", "arm.glb"], shapes)
    assert done.returncode == 0, done.stderr
    played = ps.load_shapes(shapes / "arm.glb", rate="keys")
    want = np.stack([made.rig.skin(pose) for pose in made.motion])
    assert np.abs(np.asarray(played.shapes) - want).max() < 1e-4 * made.rig.mesh.diagonal
    again = run_forked(["bones", "arm.glb", "--count", "2", "--affine", "-o", "again.examples", "--json"], shapes)
    assert json.loads(again.stdout)["bones"] == 2
    assert len(ps.Examples.open(shapes / "again.examples").rig.skeleton) == 8


def test_an_array_needs_the_mesh_at_rest(shapes: Path) -> None:
    np.save(shapes / "all.npy", np.stack([ARM.shapes[k] for k in range(4)]))
    assert_one_line(run_forked(["bones", "all.npy", "-o", "a.examples"], shapes), "all.npy", "--rest")
    done = run_forked(["bones", "all.npy", "--rest", "0.obj", "-o", "a.examples", "--json"], shapes)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["bones"] >= 1


def test_what_cannot_be_done_is_one_line(shapes: Path) -> None:
    obj.write(shapes / "b0.obj", ps.Mesh(np.eye(3), np.array([[0, 1, 2]])))
    obj.write(shapes / "b1.obj", ps.Mesh(np.eye(4)[:, :3], np.array([[0, 1, 2]])))
    done = run_forked(["bones", "b*.obj", "-o", "b.examples"], shapes)
    assert_one_line(done, "b1.obj", "expected 3 vertices", "got 4")
    assert_one_line(run_forked(["bones", "none*.obj", "-o", "b.examples"], shapes), "no file matches")
    assert_one_line(run_forked(["bones", "0.obj", "-o", "b.examples"], shapes), "0.obj: is a single shape", "--rest")
    assert_one_line(run_forked(["bones", "0.obj", "1.obj", "-o", "b.examples"], shapes), "put it in quotes")
    assert_one_line(run_forked(["bones", "*.obj", "--count", "9999", "-o", "b.examples"], shapes), "b0.obj")
    (shapes / "5.mtl").write_text("")
    assert_one_line(run_forked(["bones", "[0-9]*", "-o", "b.examples"], shapes), "5.mtl", "no mesh", "such as *.obj")
    words = ["bones", "[0-9]*.obj", "--count", "9999", "-o", "b.examples"]
    assert_one_line(run_forked(words, shapes), "posespace: --count: expected 1 to", "got 9999")
    assert not (shapes / "b.examples").exists()


def test_control_points_are_judged_on_shapes_that_have_bones_and_it_is_said_how(shapes: Path) -> None:
    ps.ControlPoints(picked=(3, 20, 41, 60, 79, 91), bones=6, near_points=3).fit(ARM[:30:3]).save(
        shapes / "points.skin"
    )
    assert run_forked(["bones", "*.obj", "--count", "5", "-o", "arm.examples"], shapes).returncode == 0
    done = run_forked(["evaluate", "points.skin", "arm.examples", "--json"], shapes)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)) == 2
    said = f"its control points, so their positions are taken from 6 of the {len(ARM.rig.mesh.points)} vertices"
    assert said in done.stderr
    assert "plain skinning uses the 5 joints of the examples" in done.stderr
