"""Bad input of the simulate command: exit code 2, one line with the thing and the remedy, and nothing left behind."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.commands import run_forked
from helpers.gltf_files import Builder, shift
from helpers.small_arm import COMMAND, SMALL_ARM
from numpy.typing import ArrayLike

from posespace.cluster.machines import Machines
from posespace.errors import InputError
from posespace.formats import pose_json
from posespace.formats.pose_choice import PoseChoice
from posespace.mesh import Mesh
from posespace.motion import Motion
from posespace.simulation.bodies import capsules
from posespace.simulation.bodies.arm import arm
from posespace.simulation.bodies.body import Bone
from posespace.simulation.poses import poses_to_simulate
from posespace.simulation.settings import Settings, require_extras

pytest.importorskip("netgen")
pytest.importorskip("distributed")

NEVER = "netgen.meshing"
"""Where this name is made to fail at import, any run that comes as far as meshing ends with its own message."""


def files_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def run_alone(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, as Netgen needs it."""
    command = [sys.executable, "-c", COMMAND, *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)


def assert_refused(
    folder: Path,
    words: tuple[str | Path, ...],
    *expected: str,
    without: str = "",
    fork: bool = True,
    first: str = SMALL_ARM,
) -> None:
    before = files_below(folder)
    line = ["simulate", *map(str, words), "-o", "out.examples"]
    done = run_forked(line, folder, without, first) if fork else run_alone(line, folder)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("posespace: ")
    assert done.stderr.count("\n") == 1, done.stderr
    for word in expected:
        assert word in done.stderr
    assert files_below(folder) == before


def limb() -> Mesh:
    """A closed limb along x from -0.5 to 2.5, of radius 0.5."""
    return Mesh(*capsules.surface(Bone(0, np.zeros(3), np.array([2.0, 0, 0]), 0.5, 0.5), 0.2))


def rig_file(folder: Path, points: ArrayLike, triangles: ArrayLike, start: float = 0.0) -> Path:
    """A rig of two joints on the x axis, one unit apart, the first at `start`."""
    places = np.asarray(points, np.float32)
    made = Builder(
        nodes=[
            {"mesh": 0, "skin": 0},
            {"name": "arm", "children": [2], "translation": [start, 0, 0]},
            {"name": "hand", "translation": [1, 0, 0]},
        ],
        skins=[{"joints": [1, 2]}],
    )
    share = np.clip(places[:, 0] - start - 0.5, 0, 1)
    corners = made.add(np.asarray(triangles).ravel(), np.uint32)
    attributes = {
        "POSITION": made.add(places),
        "JOINTS_0": made.add(np.tile([0, 1, 0, 0], (len(places), 1)), np.uint8),
        "WEIGHTS_0": made.add(np.stack([1 - share, share, 0 * share, 0 * share], axis=1)),
    }
    made.json["meshes"] = [{"primitives": [{"attributes": attributes, "indices": corners}]}]
    made.json["skins"][0]["inverseBindMatrices"] = made.add([shift(-start), shift(-start - 1)])
    return made.write(folder)


@pytest.fixture
def poses(tmp_path: Path) -> Path:
    """One pose of the rig of two joints."""
    path = tmp_path / "poses.json"
    path.write_text(json.dumps({"bent": {"hand": [0, 0, 0.2, 0.9798]}}))
    return path


def test_a_rig_that_cannot_be_read(tmp_path: Path) -> None:
    assert_refused(tmp_path, ("none.glb",), "none.glb: does not exist")
    assert_refused(tmp_path, ("foot",), "'foot'", "expected hand, slender-hand, arm, or the file of a rig")
    (tmp_path / "cut.glb").write_bytes(b"glTF\x02\0\0\0\xff\0\0\0")
    assert_refused(tmp_path, ("cut.glb",), "cut.glb")
    (tmp_path / "odd.xyz").write_text("x")
    assert_refused(tmp_path, ("odd.xyz",), "odd.xyz", "known endings")


def test_skin_that_touches_itself_at_rest_is_simulated_without_contact(tmp_path: Path, poses: Path) -> None:
    mesh = limb()
    shifted = mesh.points + np.array([0.3, 0.4, 0.1])
    points, triangles = np.vstack([mesh.points, shifted]), np.vstack([mesh.triangles, mesh.triangles + len(shifted)])
    rig_file(tmp_path, points, triangles)
    words = ["simulate", "made.gltf", "--poses", str(poses), "-o", "out.examples"]
    done = run_forked(words, tmp_path, without=NEVER)
    assert "the skin passes through itself at rest: simulated without contact" in done.stderr
    quiet = run_forked([*words, "--no-contact"], tmp_path, without=NEVER)
    assert "contact" not in quiet.stderr


def test_a_rig_without_limits_needs_poses(tmp_path: Path) -> None:
    rig_file(tmp_path, limb().points, limb().triangles)
    assert_refused(tmp_path, ("made.gltf",), "made.gltf", "no limits", "by --poses", without=NEVER)


def test_surfaces_that_cannot_be_filled(tmp_path: Path, poses: Path) -> None:
    words = ("made.gltf", "--poses", poses)
    mesh = limb()
    middle = mesh.points[mesh.triangles].mean(axis=1)[:, 0]
    rig_file(tmp_path, mesh.points, mesh.triangles[(middle > 0) & (middle < 2)])
    assert_refused(tmp_path, words, "made.gltf: surface has 2 holes", "close all but one", without=NEVER)
    rig_file(tmp_path, mesh.points * [1, 1, 0], mesh.triangles)
    assert_refused(tmp_path, words, "made.gltf: surface", "encloses a volume", without=NEVER)
    rig_file(tmp_path, [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]])
    assert_refused(tmp_path, words, "made.gltf: surface", "encloses a volume", without=NEVER)


def test_joints_outside_the_skin(tmp_path: Path, poses: Path) -> None:
    rig_file(tmp_path, limb().points, limb().triangles, start=40.0)
    words = ("made.gltf", "--poses", poses)
    assert_refused(tmp_path, words, "made.gltf: rig: none of its joints lies inside", "check scale", without=NEVER)


def test_elements_too_few_for_the_room_round_the_bones_are_more_with_a_warning(tmp_path: Path, poses: Path) -> None:
    rig_file(tmp_path, limb().points, limb().triangles)
    words = ["made.gltf", "--poses", str(poses), "--elements", "200", "--order", "1", "-o", "out.examples", "--json"]
    done = run_alone(["simulate", *words], tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    note = f"200 elements are too few for these bones: {found['tetrahedra']} are used"
    assert done.stderr == f"posespace: warning: {note}\n"
    assert note in found["notes"]
    assert found["finished"] == found["poses"]


def test_poses_that_cannot_be_used(tmp_path: Path) -> None:
    assert_refused(tmp_path, ("arm", "--poses", "none.json"), "none.json", "no such file", without=NEVER)
    (tmp_path / "cut.json").write_text('{"bent": ')
    assert_refused(tmp_path, ("arm", "--poses", "cut.json"), "cut.json", "not valid JSON", without=NEVER)
    (tmp_path / "other.json").write_text(json.dumps({"bent": {"hnad": [0, 0, 0.2, 0.98]}}))
    words = ("arm", "--poses", "other.json")
    assert_refused(tmp_path, words, "other.json", "'hnad' is not in the skeleton; known are 'upper_arm'", without=NEVER)
    words = (*words, "--partial")
    assert_refused(tmp_path, words, "other.json", "no pose is left: each names joints", without=NEVER)
    assert_refused(tmp_path, ("arm", "--only", "fist*"), "only 'fist*': matches none of the", without=NEVER)


def test_poses_are_chosen_by_name_and_by_the_joints_of_the_rig(tmp_path: Path) -> None:
    rig = arm().rig
    chosen = poses_to_simulate(rig, Settings(choice=PoseChoice(only=("forearm*", "!*-*")), random=2))
    every = poses_to_simulate(rig, Settings(random=2))
    assert chosen.names == ("rest", *(name for name in every.names if name.startswith("forearm") and "-" not in name))
    assert 1 < len(chosen) < len(every)
    (tmp_path / "two.json").write_text(json.dumps({"a": {"forearm": [0, 0, 0.2, 0.98]}, "b": {"nose": [0, 0, 0, 1]}}))
    with pytest.warns(UserWarning, match="1 of 2 poses skipped"):
        partial = poses_to_simulate(rig, Settings(tmp_path / "two.json", choice=PoseChoice(partial=True)))
    assert partial.names == ("rest", "a")


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("--level", "3", "level: expected 0 to 2, got 3"),
        ("--side", "both", "side: expected"),
        ("--step", "0", "step: expected 0.1 to 360"),
        ("--step", "nan", "step: expected 0.1 to 360"),
        ("--random", "-1", "random: expected 0 to 100000"),
        ("--seed", "-1", "seed: expected 0 or more"),
        ("--elements", "10", "elements: expected 200 to 5000000"),
        ("--order", "3", "order: expected 1 or 2"),
        ("--poisson", "0.5", "poisson: expected 0 to 0.499"),
        ("--poisson", "soft", "'--poisson': 'soft' is not a valid float"),
        ("--workers", "0", "workers: expected 1 to 1024"),
        ("--retries", "-1", "retries: expected 0 to 100"),
        ("--memory", "much", "memory: expected a size, e.g. 2GB"),
        ("--memory", "5MB", "memory: expected at least 400MB"),
    ],
)
def test_settings_out_of_range(tmp_path: Path, option: str, value: str, expected: str) -> None:
    assert_refused(tmp_path, ("arm", option, value), expected, without=NEVER)


def test_a_store_that_exists_is_refused_before_the_long_work(tmp_path: Path) -> None:
    (tmp_path / "out.examples").mkdir()
    assert_refused(tmp_path, ("hand",), "out.examples", "exists already", "--resume", without=NEVER)
    assert_refused(tmp_path, ("arm", "--resume"), "out.examples", "not an example store", without=NEVER)


def test_a_scheduler_is_sought_before_the_long_work(tmp_path: Path) -> None:
    brief = "from posespace.cluster import machines\nmachines._PATIENCE = 0.5"
    words, said = ("arm", "--scheduler", "tcp://127.0.0.1:9"), ("9: cannot be reached", "is it running?")
    assert_refused(tmp_path, words, *said, without=NEVER, first=brief)
    assert_refused(tmp_path, ("arm", "--scheduler", "near"), "scheduler near: cannot be reached", without=NEVER)
    assert_refused(tmp_path, (*words, "--memory", "2GB"), "memory: workers of a cluster", without=NEVER)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        assert_refused(tmp_path, ("arm", "--scheduler", address), "cannot be reached", without=NEVER, first=brief)


def test_a_scheduler_without_workers_is_told_and_then_given_up() -> None:
    import distributed

    told: list[str] = []
    with distributed.LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address=None) as cluster:
        address = cluster.scheduler_address
        machines = Machines(scheduler=address, patience=0.4)
        refused = pytest.raises(InputError, match=f"scheduler {address}: has no worker; start some: dask worker")
        with refused, machines.cluster(told.append):
            pass
    assert told == [f"scheduler {address}: waiting for workers, 0.4 s at most; start some: dask worker {address}"]


def test_all_missing_extras_are_named_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs = "simulating needs the extra 'cluster': pip install 'posespace[cluster]', or uv sync --extra"
    assert_refused(tmp_path, ("arm",), needs, without="distributed")
    assert_refused(tmp_path, ("foot",), "'foot'", "expected hand", without="distributed")
    for module in ("netgen", "distributed", "pxr"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=r"'simulate' and 'cluster': pip install 'posespace\[simulate,cluster\]'"):
        require_extras("hand", None)
    with pytest.raises(InputError, match=r"'posespace\[simulate,cluster,usd\]'"):
        require_extras("hand.glb", tmp_path / "clip.usda")


@pytest.mark.slow
def test_a_pose_beyond_the_limits_is_solved_with_a_warning(tmp_path: Path) -> None:
    skeleton = arm().rig.skeleton
    assert skeleton.limits is not None
    joint, axis = np.argwhere((skeleton.limits[..., 1] > 0) & (skeleton.limits[..., 1] < 2))[0]
    angles = np.zeros((1, len(skeleton), 3))
    angles[0, joint, axis] = skeleton.limits[joint, axis, 1] + 0.1
    pose_json.write(tmp_path / "far.json", Motion(skeleton.rotations(angles), names=("far",)), skeleton)
    (tmp_path / "out.examples.log").write_text("of a run whose store was removed\n")
    words = ["arm", "--poses", "far.json", "--elements", "1000", "--order", "1", "-o", "out.examples", "--json"]
    done = run_alone(["simulate", *words], tmp_path)
    assert done.returncode == 0, done.stderr
    note = f"pose 'far' rotates {skeleton.names[joint]} beyond the limits; simulated anyway"
    assert done.stderr == f"posespace: warning: {note}\n"
    found = json.loads(done.stdout)
    assert found["finished"] == 2
    assert note in found["notes"]
    logged = [json.loads(line)["name"] for line in (tmp_path / "out.examples.log").read_text().splitlines()]
    assert sorted(logged) == ["far", "rest"]
    assert {path.name for path in tmp_path.iterdir()} == {"far.json", "out.examples", "out.examples.log"}
    shutil.rmtree(tmp_path / "out.examples")
