"""Registering files: what is stored, what is said of scans that fail, and that a killed run goes on where it was."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from distributed import Client
from helpers.bean import bean, landmarks, placed, scanned, sphere, template
from helpers.commands import assert_one_line, run_forked
from helpers.json_keys import wrong_keys

import posespace as ps
from posespace.cluster import batch
from posespace.formats.landmarks import read_landmarks, write_landmarks
from posespace.formats.store.example_store import ExampleStore
from posespace.geometry.subdivision import subdivide

BENDS = {"straight": 0.0, "half": 0.7, "bent": 1.2}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A template, three scans and their landmarks; one scan is no mesh."""
    made = tmp_path_factory.mktemp("scans")
    ps.save_mesh(template(3), made / "template.obj")
    for name, bend in BENDS.items():
        ps.save_mesh(scanned(bend, 4), made / f"{name}.ply")
    (made / "broken.ply").write_bytes(b"ply\nnothing of the kind")
    marks = {f"{name}.ply": landmarks(bend)[1] for name, bend in BENDS.items()}
    write_landmarks(made / "marks.json", landmarks(0.0)[0], marks | {"broken": {}})
    return made


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return run_forked([str(word) for word in words], Path.cwd())


def words(folder: Path, out: Path, *scans: str) -> list[str]:
    files = [str(folder / scan) for scan in scans]
    return ["register", str(folder / "template.obj"), *files, "--landmarks", str(folder / "marks.json"), "-o", str(out)]


def test_a_scan_that_fails_is_named_and_the_others_are_stored(folder: Path, tmp_path: Path) -> None:
    out, page = tmp_path / "a.examples", tmp_path / "page.html"
    line = words(folder, out, "half.ply", "broken.ply", "bent.ply")
    done = run(*line, "--levels", "1", "--report", page, "--json")
    assert done.returncode == 1
    rows = {row["name"]: row for row in json.loads(done.stdout)["scans"]}
    assert wrong_keys(list(rows.values())) == set()
    assert rows["half"]["figures"]["mean_distance"] < 0.002
    assert done.stderr.count("broken.ply") == 1
    assert "1 of 3 scans are left out" in done.stderr
    assert page.read_text().count("<img") == 8
    with pytest.warns(UserWarning, match="1 of its 3 poses"):
        examples = ps.Examples.open(out)
    assert examples.motion.names == ("half", "bent")
    assert examples.levels == 1
    assert examples.heights is not None
    assert examples.heights[1].shape == (1026,)
    again = tmp_path / "b.examples"
    examples[[1]].save(again)
    kept = ps.Examples.open(again)
    assert kept.heights is not None
    assert np.array_equal(kept.heights[0], examples.heights[1])
    assert_one_line(run(*line), "exists already")
    assert_one_line(run(*line, "--resume", "--smoothing", "9"), "was made with smoothing 3, now smoothing is 9")


@pytest.mark.slow
def test_a_scan_may_start_from_the_nearest_shape_that_was_registered(folder: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first.examples", tmp_path / "second.examples"
    assert run(*words(folder, first, "straight.ply", "half.ply")).returncode == 0
    line = words(folder, second, "bent.ply", "half.ply")
    done = run(*line, "--start", first, "--json")
    rows = {row["name"]: row for row in json.loads(done.stdout)["scans"]}
    assert rows["bent"]["notes"] == ["it was started from 'half'"]
    # The scan's own registration is no start for it.
    assert all("'half'" not in note for note in rows["half"]["notes"])
    assert all(row["figures"]["mean_distance"] < 0.002 for row in rows.values())
    assert_one_line(run(*line, "--resume", "--start", second), "was made with starts")
    ps.save_mesh(template(2), tmp_path / "other.obj")
    other = ["register", str(tmp_path / "other.obj"), str(folder / "bent.ply"), *line[4:6]]
    refused = run(*other, "--start", first, "-o", tmp_path / "third.examples")
    assert_one_line(refused, "its shapes are not of this template")
    assert not (tmp_path / "third.examples").exists()


def test_a_killed_run_goes_on_where_it_was(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.examples"
    line = words(folder, out, *(f"{name}.ply" for name in BENDS))
    start = [sys.executable, "-c", "from posespace.cli import main; main()"]
    with subprocess.Popen([*start, *line], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as going:
        wait_for(lambda: out.exists() and ExampleStore.open(out).finished().any(), going)
        going.kill()
    store = ExampleStore.open(out)
    first = int(np.flatnonzero(store.finished())[0])
    when = store.written_at(first)
    done = run(*line, "--resume")
    assert done.returncode == 0, done.stderr
    assert ExampleStore.open(out).finished().all()
    assert ExampleStore.open(out).written_at(first) == when
    assert all(f"| {name} | 0.0" in done.stdout for name in BENDS)


def wait_for(ready: object, going: subprocess.Popen[bytes]) -> None:
    while not ready() and going.poll() is None:  # type: ignore[operator]
        time.sleep(0.05)


def test_a_rigged_template_keeps_its_rig_and_gets_poses(tmp_path: Path) -> None:
    from posespace.register.rig_poses import rig_poses

    train, _ = ps.datasets.bending_arm(rings=12, sides=8)
    shapes = [train.rig.skin(pose) for pose in train.motion[:4]]
    found = rig_poses(train.rig, shapes, [f"{k}" for k in range(4)])
    for pose, shape in zip(found, shapes, strict=True):
        plain = np.linalg.norm(train.rig.skin(pose) - shape, axis=1).mean()
        assert plain < 0.01 * train.rig.mesh.diagonal
    store = ExampleStore.create(tmp_path / "a.examples", train.rig, train.motion[:4])
    store.write(2, shapes[2])
    moved = store.reposed(ps.Motion(found.rotations, found.translations, names=train.motion[:4].names))
    assert moved.finished().tolist() == [False, False, True, False]
    assert np.allclose(moved.motion.rotations, found.rotations)
    assert np.array_equal(moved.shape(2), shapes[2].astype(np.float32))
    assert [path.name for path in tmp_path.iterdir()] == ["a.examples"]


def test_a_rig_is_registered_from_its_file_to_poses_that_a_fit_can_use(tmp_path: Path) -> None:
    train, _ = ps.datasets.bending_arm(rings=24, sides=16)
    rig = train.rig
    ps.export(ps.Skin(rig), tmp_path / "arm.glb")
    ring = np.linspace(0, len(rig.mesh.points) - 1, 40).astype(int)
    marks = {}
    for name, pose in (("bent", 17), ("half", 7)):
        shape = np.asarray(train.shapes[pose], dtype=np.float64)
        finer = subdivide(rig.mesh.triangles, len(shape))
        ps.save_mesh(ps.Mesh(placed(finer.refine(shape)), finer.triangles), tmp_path / f"{name}.ply")
        marks[name] = {f"mark {k}": tuple(placed(shape[[k]])[0].tolist()) for k in ring}
    at_rest = {f"mark {k}": tuple(rig.mesh.points[k].tolist()) for k in ring}
    write_landmarks(tmp_path / "marks.json", at_rest, marks)
    scans = [tmp_path / f"{name}.ply" for name in marks]
    out, landmark_file = tmp_path / "arm.examples", tmp_path / "marks.json"
    done = run("register", tmp_path / "arm.glb", *scans, "--landmarks", landmark_file, "-o", out)
    assert done.returncode == 0, done.stderr
    found = ps.Examples.open(out)
    assert found.rig.skeleton.names == rig.skeleton.names
    for index, pose in enumerate((17, 7)):
        elbow, wanted = (each.rotations[k, 1] for each, k in ((found.motion, index), (train.motion, pose)))
        # A round elbow is nearest to a pose that is bent less; a straight one would be 72 degrees off.
        assert np.degrees(2 * np.arccos(min(abs(elbow @ wanted), 1.0))) < 15
    plain = ps.evaluate(ps.Skin(found.rig), found).rms
    assert plain < 0.02
    assert ps.evaluate(ps.EigenSkin(components=1).fit(found), found).rms < 0.5 * plain


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("[]", "expected an object"),
        ("{}", "expected landmarks, .* got an object with nothing in it"),
        ('{"template": {"a": 1}}', r'expected landmarks, {"template": .* got an object with \'template\'$'),
        ('{"version": "1", "seed": 2, "scans": [{"file": "a.ply"}]}', "got an object with 'version', 'seed', 'scans'"),
        ('{"template": {"a": [1, 2]}, "scans": {}}', "expected 3 numbers"),
        ('{"template": {"a": 1}, "scans": {"x": {"b": 2}}}', "the template has none of that name; known are 'a'"),
        ('{"template": {"a": -1}, "scans": {}}', "expected a number from 0"),
        ('{"template": {"a": 1, ', "JSON"),
    ],
)
def test_a_bad_file_of_landmarks_is_refused_in_one_line(text: str, word: str, tmp_path: Path) -> None:
    path = tmp_path / "marks.json"
    path.write_text(text)
    with pytest.raises(ps.FileError, match=word):
        read_landmarks(path)


def test_bad_input_is_refused_before_the_work(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.examples"
    twice = words(folder, out, "half.ply")
    twice.insert(3, str(folder / "half.ply"))
    assert_one_line(run(*twice), "two are called 'half'")
    line = words(folder, out, "half.ply")
    assert_one_line(run(*line, "--levels", "9"), "levels: expected 0 to 6, got 9")
    assert_one_line(run(*line[:3], "--landmarks", tmp_path / "no.json", "-o", out), "no.json")
    missing = run(*words(folder, out, "half.ply", "no.ply"))
    assert_one_line(missing, "no.ply: cannot be read")
    assert missing.stderr.count("no.ply") == 1
    ps.save_mesh(scanned(0.7, 2), tmp_path / "halv.ply")
    assert_one_line(
        run(*words(folder, out, "half.ply", str(tmp_path / "halv.ply"))), "none for 'halv.ply'", "'half.ply'"
    )
    assert not out.exists()


def test_scans_are_read_when_their_turn_comes() -> None:
    taken: list[int] = []

    def pieces() -> Iterator[tuple[int, int]]:
        for number in range(20):
            taken.append(number)
            yield number, number

    with Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as client:
        ahead = [len(taken) - k for k, _ in enumerate(batch.finished(client, added, 100, pieces(), 0, "less"))]
    assert taken == list(range(20))
    assert max(ahead) <= 2


def added(job: int, number: int, piece: int) -> int:
    return job + number + piece


def test_shapes_of_files_are_transferred(folder: Path, tmp_path: Path) -> None:
    source, out = tmp_path / "rest.obj", tmp_path / "b.examples"
    points, triangles = sphere(2)
    ps.save_mesh(ps.Mesh(bean(points), triangles), source)
    ps.save_mesh(ps.Mesh(bean(points, 1.0), triangles), tmp_path / "bent.obj")
    target = folder / "template.obj"
    write_landmarks(tmp_path / "marks.json", landmarks(0.0)[0], {"template": landmarks(0.0)[0]})
    line = ["transfer", source, tmp_path / "bent.obj", "--onto", target, "-o", out]
    assert_one_line(run(*line), "its triangles are not those of", "give --landmarks")
    done = run(*line, "--landmarks", tmp_path / "marks.json", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["shapes"] == 1
    again = run(*line[:-1], tmp_path / "again.examples", "--landmarks", tmp_path / "marks.json")
    assert "triangles that follow the source: 100.0%" in again.stdout
    found = ps.Examples.open(out).shapes[0]
    truth = bean(sphere(3)[0], 1.0)
    gaps = np.linalg.norm(found - found.mean(axis=0) - truth + truth.mean(axis=0), axis=1)
    assert gaps.mean() < 0.02 * template(3).diagonal
    assert_one_line(
        run("transfer", source, "--onto", target, "-o", tmp_path / "c.examples"),
        "is a single mesh; also give its other shapes",
    )
