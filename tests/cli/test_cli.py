"""The command line as a user meets it: real processes, exit codes, one line on bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest
from helpers.commands import assert_one_line, run

import posespace as ps
from posespace import datasets
from posespace.cli.app import app
from posespace.cli.printing import print_figures
from posespace.formats import obj, pose_json
from posespace.motion import Motion
from posespace.skin.skin import Skin

EXAMPLES = datasets.bending_arm(rings=12, sides=8)[0]


def test_version_and_help_with_an_example_for_every_command() -> None:
    assert run("--version").stdout.startswith("posespace 0.")
    overview = run("--help").stdout
    listed = [line.split()[0] for line in overview.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()]
    work = ["demo", "info", "examples", "simulate", "fit", "evaluate", "edit", "retarget", "export", "bench"]
    assert [command for command in listed if command in work] == work
    for command in ("demo", "info", "examples", "simulate", "fit", "evaluate", "edit", "retarget", "export", "bench"):
        assert command in overview
        assert f"Example: posespace {command}" in run(command, "--help").stdout
    assert "..." not in overview.partition("Commands:")[2]
    assert "[default: 2002]" in run("simulate", "--help").stdout
    assert "--install-completion" in overview


def help_texts(command: click.Command, name: str = "posespace") -> dict[str, str]:
    """The help of a command and of all below it, each on one line."""
    context = click.Context(command, info_name=name)
    texts = {name: " ".join(command.get_help(context).split())}
    for below in command.list_commands(context) if isinstance(command, click.Group) else ():
        found = command.get_command(context, below)
        assert found is not None
        texts |= help_texts(found, f"{name} {below}")
    return texts


def test_help_says_what_the_default_is_in_the_usual_words() -> None:
    texts = help_texts(app)
    assert {"posespace fit psd", "posespace retarget"} <= set(texts)
    for name, text in texts.items():
        assert "ithout it:" not in text, name
    assert "Apply the change from X1 to X2 to another character, Y1." in texts["posespace retarget"]
    assert "Default: a quarter of RAM." in texts["posespace fit eigenskin"]
    assert "Format of the mesh files." in texts["posespace pose"]
    assert "Suspicious shapes are reported with the option that fixes them." in texts["posespace examples"]


@pytest.mark.parametrize(
    ("words", "heavy"),
    [(["--help"], {"numpy", "rich", "importlib.metadata"}), (["info", "a.obj"], {"scipy", "numba", "rich", "PIL"})],
)
def test_a_command_loads_only_what_it_needs(tmp_path: Path, words: list[str], heavy: set[str]) -> None:
    obj.write(tmp_path / "a.obj", EXAMPLES.rig.mesh)
    code = (
        f"import sys; sys.argv[1:] = {words}\nfrom posespace.cli import main\ntry: main()\n"
        f"except SystemExit as stop: print(stop.code, sorted({heavy} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert done.stderr.split(maxsplit=1)[1].strip() == "[]"
    assert done.stdout


def test_info_for_people_and_for_programs(tmp_path: Path) -> None:
    Skin(EXAMPLES.rig).save(tmp_path / "arm.skin")
    obj.write(tmp_path / "arm.obj", EXAMPLES.rig.mesh)
    done = run("info", tmp_path / "arm.skin", tmp_path / "arm.obj")
    assert done.returncode == 0
    assert "joints: 3" in done.stdout
    assert "watertight: yes" in done.stdout
    assert done.stderr == ""
    found = json.loads(run("info", "--json", tmp_path / "arm.skin", tmp_path / "arm.obj").stdout)
    assert found[0]["rig"]["vertices"] == len(EXAMPLES.rig.mesh.points)
    assert found[1]["meshes"]["arm"]["faces_by_corners"] == {"3": 16, "4": 88}


def test_bad_input_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    assert_one_line(run("info", tmp_path / "none.glb"), "none.glb", "does not exist")
    (tmp_path / "odd.xyz").write_text("x")
    assert_one_line(run("info", tmp_path / "odd.xyz"), "odd.xyz", "known endings")
    (tmp_path / "cut.skin").write_bytes(b"\x10")
    assert_one_line(run("info", tmp_path / "cut.skin"), "cut.skin", "too short")
    (tmp_path / "empty.glb").write_bytes(b"")
    assert_one_line(run("info", tmp_path / "empty.glb"), "empty.glb")
    (tmp_path / "folder").mkdir()
    assert_one_line(run("info", tmp_path / "folder"), "folder", "not an example store")
    assert_one_line(run("info"), "FILE...")
    assert_one_line(run("evalute"), "command 'evalute': expected one of demo, info,", "the closest is 'evaluate'")
    assert "the closest" not in run("mirror").stderr
    assert_one_line(
        run("evaluate", "--xyzzy"), "option --xyzzy: posespace evaluate has none of that name; --help lists"
    )
    assert_one_line(run("evaluate", "--reprot"), "option --reprot: posespace evaluate has none", "'--report'")
    assert_one_line(run("examples", "x.glb", "-o", "x.examples"), "--shapes")


@pytest.fixture
def sculpts(tmp_path: Path) -> Path:
    """A folder with a mesh, a pose file and a sculpt a pose, as an artist would have it; controls only."""
    mesh = EXAMPLES.rig.mesh
    obj.write(tmp_path / "face.obj", mesh)
    motion = Motion(
        np.tile([0, 0, 0, 1.0], (3, 1, 1)),
        names=("smile", "frown", "smile10"),
        controls=np.array([[1.0, 0], [0, 1], [0.5, 0]]),
        control_names=("smile", "frown"),
    )
    from posespace.rig import Rig

    pose_json.write(tmp_path / "poses.json", motion, Rig.from_mesh(mesh).skeleton)
    (tmp_path / "sculpts").mkdir()
    for k, name in enumerate(motion.names):
        obj.write(tmp_path / "sculpts" / f"{name}.obj", mesh, mesh.points + 0.01 * (k + 1))
    return tmp_path


def gather(folder: Path, *more: str, out: str = "face.examples") -> subprocess.CompletedProcess[str]:
    words = ("examples", "face.obj", "--poses", "poses.json", "--shapes", "sculpts/*.obj", "-o", out, *more)
    return run(*words, folder=folder)


def test_examples_match_sculpts_to_poses_by_name_and_add_the_rest(sculpts: Path) -> None:
    done = gather(sculpts, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["poses"], found["finished"], found["controls"]) == (4, 4, ["smile", "frown"])
    from posespace.examples import Examples

    opened = Examples.open(sculpts / "face.examples")
    assert opened.motion.names == ("smile", "frown", "smile10", "rest")
    points = EXAMPLES.rig.mesh.points
    for k, offset in enumerate((0.01, 0.02, 0.03, 0.0)):
        np.testing.assert_allclose(opened.shapes[k], points + offset, atol=1e-6)


def test_examples_print_how_far_each_shape_is_and_an_option_mends_one(sculpts: Path) -> None:
    mesh = EXAMPLES.rig.mesh
    obj.write(sculpts / "sculpts" / "frown.obj", mesh, 100 * (mesh.points + 0.01))
    done = gather(sculpts)
    assert done.returncode == 0, done.stderr
    assert "shapes matched: by name" in done.stdout
    assert "| pose | file | RMS | largest | at vertex | near | in doubt |" in done.stdout
    assert "| smile | smile.obj | 0." in done.stdout
    said = "posespace: warning: 'frown': another unit: it is 100 times too large; give --unit 'frown=0.01'\n"
    assert done.stderr == said
    mended = gather(sculpts, "--unit", "frown=0.01", "--json", out="mended.examples")
    assert mended.stderr == ""
    found = json.loads(mended.stdout)
    assert "notes" not in found
    assert [row["pose"] for row in found["shapes"]] == ["smile", "frown", "smile10", "rest"]
    assert found["shapes"][1].keys() >= {"rms", "largest", "vertex", "near", "stands_out", "cause", "mended_by", "file"}
    assert found["shapes"][1]["rms"] < 0.01


def test_examples_check_the_options_of_shapes(sculpts: Path) -> None:
    assert_one_line(gather(sculpts, "--unit", "inch"), "--unit", "0.01")
    assert_one_line(gather(sculpts, "--up", "north"), "x,z,-y")
    assert_one_line(gather(sculpts, "--unit", "grin=2"), "grin", "no pose")


def test_examples_resume_and_refuse(sculpts: Path) -> None:
    assert gather(sculpts).returncode == 0
    assert_one_line(gather(sculpts), "face.examples", "exists already", "--resume")
    (sculpts / "face.examples" / "marks" / "c" / "1").unlink()
    done = gather(sculpts, "--resume", "--json")
    assert json.loads(done.stdout)["finished"] == 4
    assert_one_line(gather(sculpts, "--resume", "--no-rest"), "holds other poses")


def test_examples_name_the_wrong_sculpt(sculpts: Path) -> None:
    odd = sculpts / "sculpts" / "wink.obj"
    obj.write(odd, EXAMPLES.rig.mesh)
    assert_one_line(gather(sculpts), "wink.obj", "no pose")
    odd.unlink()
    (sculpts / "sculpts" / "frown.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    assert_one_line(gather(sculpts), "frown.obj", "has 3 vertices at 3 positions; the rig has 98 at 98", "another mesh")
    words = ("examples", "face.obj", "--poses", "poses.json", "--shapes", "none/*.obj", "-o", "x.examples")
    assert_one_line(run(*words, folder=sculpts), "no file matches")


def test_examples_from_one_array(sculpts: Path) -> None:
    points = EXAMPLES.rig.mesh.points
    np.save(sculpts / "shapes.npy", np.stack([points, points + 1, points + 2]))
    words = ("examples", "face.obj", "--poses", "poses.json", "--shapes", "shapes.npy", "-o", "x.examples", "--json")
    assert json.loads(run(*words, folder=sculpts).stdout)["finished"] == 4
    np.save(sculpts / "shapes.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    assert_one_line(run(*words[:-2], "y.examples", folder=sculpts), "shapes.npy", "without pickled objects")


def test_one_bad_file_does_not_hide_the_others(tmp_path: Path) -> None:
    obj.write(tmp_path / "arm[left].obj", EXAMPLES.rig.mesh)
    done = run("info", tmp_path / "none.glb", tmp_path / "arm[left].obj")
    assert done.returncode == 2
    assert "arm[left].obj" in done.stdout
    assert done.stderr.count("\n") == 1
    found = json.loads(run("info", "--json", tmp_path / "none.glb", tmp_path / "arm[left].obj").stdout)
    assert "does not exist" in found[0]["error"]
    assert "meshes" in found[1]


def test_no_arguments_show_the_help() -> None:
    done = run()
    assert "Usage" in done.stdout
    assert done.stderr == ""


def test_usual_mistakes_with_shapes_get_a_remedy(sculpts: Path) -> None:
    base = ("examples", "face.obj", "--poses", "poses.json", "-o", "x.examples", "--shapes")
    assert_one_line(run(*base, "sculpts/smile.obj", "sculpts/frown.obj", folder=sculpts), "put it in quotes")
    assert_one_line(run(*base, "sculpts", folder=sculpts), "is a folder", "sculpts/*.obj")
    assert_one_line(run(*base, "shapes.npz", folder=sculpts), "shapes.npz", "no file matches")
    assert_one_line(run(*base, "none.npy", folder=sculpts), "none.npy")
    assert not (sculpts / "x.examples").exists()


def test_a_refused_run_leaves_nothing_in_the_way_and_a_newer_sculpt_is_read_again(sculpts: Path) -> None:
    good = (sculpts / "sculpts" / "frown.obj").read_bytes()
    (sculpts / "sculpts" / "frown.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    assert gather(sculpts).returncode == 2
    assert not (sculpts / "face.examples").exists()
    (sculpts / "sculpts" / "frown.obj").write_bytes(good)
    assert gather(sculpts).returncode == 0
    mesh = EXAMPLES.rig.mesh
    obj.write(sculpts / "sculpts" / "smile.obj", mesh, 100 * mesh.points)
    done = gather(sculpts, "--resume", "--json")
    assert "'smile': another unit: it is 100 times too large" in json.loads(done.stdout)["notes"][0]
    from posespace.examples import Examples

    np.testing.assert_allclose(Examples.open(sculpts / "face.examples").shapes[0], 100 * mesh.points, rtol=1e-6)


def test_a_skin_can_be_read_by_others(tmp_path: Path) -> None:
    Skin(EXAMPLES.rig).save(tmp_path / "arm.skin")
    (tmp_path / "plain").write_text("")
    assert (tmp_path / "arm.skin").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize(
    ("unit", "said"),
    [
        (1.0, "m, assumed as the rig names none: the skin is 7 m across; use --unit to change it"),
        (0.01, "cm, from the rig; the skin is 0.07 m across"),
    ],
)
def test_export_says_which_unit_it_took(tmp_path: Path, unit: float, said: str) -> None:
    triangle = ps.Mesh(np.array([(0, 0, 0), (2, 3, 0), (0, 3, 6.0)]), np.array([[0, 1, 2]]), unit=unit)
    ps.Skin(ps.Rig.from_mesh(triangle)).save(tmp_path / "a.skin")
    done = run("export", "a.skin", "-o", "a.glb", "--json", folder=tmp_path)
    assert json.loads(done.stdout)["unit"] == said
    done = run("export", "a.skin", "-o", "a.glb", "--json", "--unit", "mm", folder=tmp_path)
    assert json.loads(done.stdout)["unit"] == "mm, from --unit; the skin is 0.007 m across"


def test_whole_numbers_in_a_list_have_no_commas_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    print_figures("hand.skin", {"vertices": 14047, "points": [4047, 512, 1270]})
    shown = capsys.readouterr().out
    assert "vertices: 14,047\n" in shown
    assert "points: 4047, 512, 1270\n" in shown


def test_many_links_are_shortened_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    links = {f"finger{k}": "palm" for k in range(20)}
    print_figures("hand.glb", {"rigs": {"hand": {"linked_for_pose_spaces": links}}})
    shown = "finger0 to palm, finger1 to palm, finger2 to palm, ... (20 joints; --json lists all)"
    assert f"linked for pose spaces: {shown}\n" in capsys.readouterr().out
    print_figures("hand.glb", {"rigs": {"hand": {"linked_for_pose_spaces": {"thumb": "palm"}}}})
    assert "linked for pose spaces: thumb to palm\n" in capsys.readouterr().out
