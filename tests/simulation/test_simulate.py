"""Simulating many poses: processes, clusters, killed workers and killed runs."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.commands import run_forked
from helpers.hungry import Hungry
from helpers.json_keys import wrong_keys
from helpers.small_arm import COMMAND, SMALL_ARM

from posespace.cluster import machines
from posespace.cluster.machines import Machines
from posespace.errors import InputError
from posespace.examples import Examples
from posespace.formats import pose_json
from posespace.formats.store.example_store import ExampleStore
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.simulation.batch import Job, run
from posespace.simulation.bodies.arm import arm
from posespace.simulation.bodies.body import Body
from posespace.simulation.mesh.tetmesh import TetMesh, tetrahedralise
from posespace.simulation.settings import Tissue
from posespace.simulation.solver.simulation import Simulation

pytest.importorskip("netgen")
pytest.importorskip("distributed")


@cache
def small_body() -> Body:
    """An arm of 400 vertices; not made where tests are only collected, as that may compile."""
    return arm(400)


@pytest.fixture(scope="module")
def mesh() -> TetMesh:
    body = small_body()
    return tetrahedralise(body.rig.mesh, body.bones, 1200, cuts=body.cuts)


def turned(joint: int, degrees: float) -> Pose:
    """A pose in which one joint of the arm turns by its first angle."""
    angles = np.zeros((3, 3))
    angles[joint, 0] = np.radians(degrees)
    return Pose(small_body().rig.skeleton.rotations(angles))


@pytest.mark.parametrize("order", [1, 2])
def test_a_bent_arm_keeps_its_volume_and_rest_stays_rest(mesh: TetMesh, order: int) -> None:
    simulation = Simulation(small_body().rig, mesh, Tissue(order))
    rest = simulation.solve(small_body().rig.rest)
    np.testing.assert_allclose(rest.skin, small_body().rig.mesh.points, atol=1e-3)
    bent = simulation.solve(turned(1, 40))
    assert bent.solution.converged
    assert bent.solution.least_jacobian > 0
    assert abs(bent.solution.volume_change) < 0.02
    again = simulation.solve(turned(1, 40))
    assert again.skin.tobytes() == bent.skin.tobytes()


def test_contact_changes_nothing_where_nothing_touches(mesh: TetMesh) -> None:
    touching, without = (Simulation(small_body().rig, mesh, tissue) for tissue in (Tissue(1), Tissue(1, contact=None)))
    for pose in (small_body().rig.rest, turned(1, 40), turned(2, 40)):
        one, other = touching.solve(pose), without.solve(pose)
        assert one.solution.converged
        np.testing.assert_allclose(one.skin, other.skin, atol=1e-6 * small_body().rig.mesh.diagonal)


def test_an_unreachable_scheduler_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machines, "_PATIENCE", 0.5)
    unreachable = pytest.raises(InputError, match=r"scheduler tcp://127\.0\.0\.1:9: cannot be reached")
    with unreachable, Machines(scheduler="tcp://127.0.0.1:9").cluster():
        pass


@pytest.fixture(scope="module")
def poses(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight easy poses of the arm."""
    bends = np.radians([10, 20, 30, 40, 10, 20, 30, 40])
    angles = np.zeros((8, 3, 3))
    angles[:4, 1, 0], angles[4:, 2, 0] = bends[:4], bends[4:]
    path = tmp_path_factory.mktemp("poses") / "poses.json"
    motion = Motion(small_body().rig.skeleton.rotations(angles), names=tuple(f"pose {k}" for k in range(8)))
    pose_json.write(path, motion, small_body().rig.skeleton)
    return path


def command(poses: Path, out: Path, *more: str) -> list[str]:
    start = [sys.executable, "-c", COMMAND, "simulate", "arm", "-o", str(out)]
    # An option may be given once: those of `more` take the place of these.
    usual = {"--elements": "1000", "--order": "1"}
    kept = [word for option, value in usual.items() if option not in more for word in (option, value)]
    return [*start, "--poses", str(poses), *kept, "--json", *more]


@pytest.fixture(scope="module")
def whole(poses: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of a run that nothing disturbed."""
    out = tmp_path_factory.mktemp("whole") / "arm.examples"
    done = subprocess.run(command(poses, out), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert wrong_keys(found) == set()
    assert (found["poses"], found["finished"], found["failed"]) == (9, 9, {})
    assert found["least_jacobian"] > 0
    return out


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def wait_for_poses(out: Path, count: int, going: subprocess.Popen[Any]) -> None:
    while len(list((out / "marks" / "c").glob("[0-9]*"))) < count:
        assert going.poll() is None, f"{out} has not reached {count} poses"
        time.sleep(0.02)


@pytest.mark.slow
def test_a_killed_run_of_two_workers_resumes_to_the_store_of_one(poses: Path, whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.examples"
    words = command(poses, out, "--workers", "2")
    with subprocess.Popen(words, stdout=subprocess.PIPE, start_new_session=True) as killed:
        wait_for_poses(out, 3, killed)
        os.killpg(killed.pid, signal.SIGKILL)
    store = ExampleStore.open(out)
    kept = {k: store.shape(k).tobytes() for k in np.flatnonzero(store.finished())}
    assert len(kept) >= 3
    done = subprocess.run([*words, "--resume"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["finished"] == 9
    again = ExampleStore.open(out)
    assert all(again.shape(k).tobytes() == content for k, content in kept.items())
    settled = {name: content for name, content in files_of(out).items() if not name.endswith(".part")}
    assert settled == files_of(whole)
    assert Examples.open(out).motion.names == ("rest", *(f"pose {k}" for k in range(8)))


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("--elements 2000", "was made with elements 1000, now elements is 2000"),
        ("--order 2", "was made with order 1, now order is 2"),
        ("--poisson 0.4", "was made with poisson 0.49, now poisson is 0.4"),
        ("--skin 0.5", "was made with skin 0.1, now skin is 0.5"),
        ("--law stable", "was made with law calculix, now law is stable"),
        ("--no-contact", "was made with contact distance 0.0012 stiffness 1, now contact is off"),
    ],
)
def test_a_store_is_not_resumed_with_other_settings(poses: Path, whole: Path, option: str, expected: str) -> None:
    words = command(poses, whole, "--resume", *option.split())[3:]
    done = run_forked(words, whole.parent, "netgen.meshing", SMALL_ARM)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert f"arm.examples: {expected}; give the same" in done.stderr


def test_resuming_a_finished_store_measures_nothing(poses: Path, whole: Path, tmp_path: Path) -> None:
    words = command(poses, whole, "--resume")[3:]
    done = run_forked(words, whole.parent, "netgen.meshing", SMALL_ARM)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert set(found) == {"file", "poses", "finished", "failed", "notes"}
    assert found["notes"] == ["every pose was finished already"]
    old = shutil.copytree(whole, tmp_path / "old.examples")
    description = json.loads((old / "zarr.json").read_text())
    assert description["attributes"]["posespace"].pop("made")["elements"] == 1000
    (old / "zarr.json").write_text(json.dumps(description))
    words = command(poses, old, "--resume", "--elements", "2000")[3:]
    done = run_forked(words, tmp_path, "netgen.meshing", SMALL_ARM)
    assert done.returncode == 0
    assert "old.examples does not record its settings" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_real_cluster_that_loses_a_worker_completes(poses: Path, whole: Path, tmp_path: Path) -> None:
    python = [sys.executable, "-m"]
    address = f"tcp://127.0.0.1:{free_port()}"
    scheduler = [*python, "distributed.cli.dask_scheduler", "--host", address, "--no-dashboard"]
    worker = [*python, "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
    helpers = [subprocess.Popen(scheduler, **quiet), *[subprocess.Popen(worker, **quiet) for _ in range(2)]]  # type: ignore[call-overload]
    try:
        out = tmp_path / "a.examples"
        with subprocess.Popen(command(poses, out, "--scheduler", address), stdout=subprocess.PIPE) as going:
            wait_for_poses(out, 2, going)
            os.killpg(helpers[1].pid, signal.SIGKILL)
            assert going.stdout is not None
            found = json.loads(going.stdout.read())
        assert found["finished"] == 9
        assert files_of(out) == files_of(whole)
    finally:
        for helper in helpers:
            os.killpg(helper.pid, signal.SIGKILL)
            helper.wait()


@pytest.mark.slow
def test_poses_that_were_lost_are_counted_and_fail_the_run(poses: Path, tmp_path: Path) -> None:
    import psutil

    out = tmp_path / "a.examples"
    line = command(poses, out, "--retries", "0")
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as going:
        wait_for_poses(out, 1, going)
        for child in psutil.Process(going.pid).children(recursive=True):
            if "spawn_main" in " ".join(child.cmdline()):
                child.kill()
        said, told = going.communicate()
    found = json.loads(said)
    missing = found["poses"] - found["finished"]
    assert missing == len(found["failed"]) > 0
    assert told == f"posespace: {out}: {missing} of its 9 poses are missing; solve them again with --resume\n"
    assert going.returncode == 1


@pytest.mark.slow
def test_a_pose_whose_worker_has_too_little_memory_is_listed_as_failed(mesh: TetMesh, tmp_path: Path) -> None:
    hungry = Hungry(*(getattr(mesh, name) for name in mesh.__dataclass_fields__))
    poses = Motion.from_poses([small_body().rig.rest], ["rest"])
    store = ExampleStore.create(tmp_path / "a.examples", small_body().rig, poses)
    few = Machines(memory="800MB", retries=1)
    with few.cluster() as cluster:
        (figures,) = run(Job(small_body().rig, hungry, Tissue(1)), poses, store, cluster, few.retries)
    assert not figures["converged"]
    assert "its workers died, 2 in all; if for lack of memory, give each more memory" in figures["reason"]
    assert store.failures() == {"rest": figures["reason"]}
    assert not store.finished().any()


@pytest.mark.slow
def test_an_outside_rig_gets_bones_and_bends(data: Path, tmp_path: Path) -> None:
    folder = data / "hand-godot-xr"
    chosen = json.loads((folder / "poses_left.json").read_text())["left"]
    few = {name: chosen[name] for name in ("Default pose", "Grip 5")}
    (tmp_path / "few.json").write_text(json.dumps({"left": few}))
    start = [sys.executable, "-c", "from posespace.cli import main; main()", "simulate", str(folder / "hand_l.gltf")]
    words = ["--poses", "few.json", "-o", "hand.examples", "--elements", "4000", "--order", "1", "--json"]
    done = subprocess.run([*start, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["failed"] == {}
    assert found["finished"] == found["poses"]
    assert found["largest_volume_change"] < 0.02
    made = Examples.open(tmp_path / "hand.examples")
    finger = 0.08
    for k, pose in enumerate(made.motion):
        shape = made.shapes[k]
        assert np.isfinite(shape).all()
        assert np.linalg.norm(shape - made.rig.skin(pose), axis=1).max() < finger / 3


def free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
