"""Control points in the studio, over the protocol: takes of markers, clips, and exports."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.marker_files import tsv
from helpers.played import poses_of
from helpers.point_skins import point_motion, point_skin
from helpers.studio_client import Client, RefusedError, client, studio

import posespace as ps
from posespace.errors import InputError
from posespace.skin.edit import with_beta

RATE = 30
ROUNDING = 1e-4


@pytest.fixture
def skin() -> ps.Skin:
    return point_skin("corrections and detail")


@pytest.fixture
def file(skin: ps.Skin, tmp_path: Path) -> Path:
    skin.save(tmp_path / "arm.skin")
    return tmp_path / "arm.skin"


def box(skin: ps.Skin) -> float:
    return float(np.linalg.norm(np.ptp(skin.rig.mesh.points, axis=0)))


def sent(motion: ps.Motion, unit: float) -> dict[str, np.ndarray]:
    """The frames of a motion, as a page sends them."""
    return {"frames": np.array([pose["joints"] for pose in poses_of(motion, unit)], dtype=np.float32).ravel()}


def export(program: Client, folder: Path, form: str, motion: ps.Motion | None = None, **asked: object) -> Path:
    """What the studio exports."""
    arrays = None if motion is None else sent(motion, 1.0)
    data = {} if motion is None else {"rate": RATE}
    answer, files = program.request("export_skin", arrays, format=form, **data, **asked)
    path = folder / f"{len(list(folder.iterdir()))}-{answer['filename']}"
    path.write_bytes(files["file"].tobytes())
    return path


def test_key_poses_are_exported_with_the_skin(skin: ps.Skin, file: Path, tmp_path: Path) -> None:
    motion = point_motion(skin)
    with studio(file) as process, client(process) as program:
        glb = export(program, tmp_path, "glb", motion)
        page = export(program, tmp_path, "html", motion)
        again = export(program, tmp_path, "skin")
        soft = export(program, tmp_path, "skin", beta=0.5)
    shown, played = ps.Skin.load(glb), ps.load_motion(glb, skin.rig.skeleton, clip="key poses", rate="keys")
    assert len(played) == len(motion)
    for row in range(len(motion)):
        gap = np.linalg.norm(shown.pose(played[row])[0] - skin.pose(motion[row])[0], axis=1)
        assert gap.max() < ROUNDING * box(skin)
    assert b"posespace" in page.read_bytes()
    pose = motion[1]
    assert np.array_equal(ps.Skin.load(again).pose(pose)[0], skin.pose(pose)[0])
    assert ps.Skin.load(soft).bones.figures()["beta"] == 0.5


def test_what_is_no_export_is_refused(file: Path) -> None:
    with studio(file) as process, client(process) as program:
        frames = {"frames": np.zeros(10, dtype=np.float32)}
        for arrays, asked, words in [
            (None, {"format": "exe"}, "format: expected one of skin, glb, html"),
            (frames, {"format": "glb", "rate": 30}, "frames: expected 63 numbers for each frame, got 10"),
            (sent(point_motion(point_skin("corrections and detail")), 1.0), {"format": "glb", "rate": 0}, "rate:"),
            (None, {"format": "glb", "beta": -1}, "beta"),
        ]:
            with pytest.raises(RefusedError, match=words.replace("63", r"\d+")):
                program.request("export_skin", arrays, **asked)
        with pytest.raises(RefusedError, match="clip: 'dance' is no take of markers"):
            program.request("markers", clip="dance")


def test_a_take_of_markers_becomes_a_clip_with_its_markers(skin: ps.Skin, file: Path, tmp_path: Path) -> None:
    names, rest = skin.rig.skeleton.names[1:], skin.rig.skeleton.rest_world[1:, :3, 3]
    positions = np.tile(rest, (40, 1, 1))
    positions[:, 0, 2] += 0.2 * box(skin) * np.sin(np.linspace(0, 6, 40))
    positions, seen = 1000 * positions + 50, np.ones(positions.shape[:2], dtype=bool)
    seen[20:25, 2] = False
    take = tsv(tmp_path / "take.tsv", ps.Markers(names, positions, seen, rate=30.0))
    with studio(file, "--motion", take) as process, client(process) as program:
        assert program.request("project")[0]["takes"] == ["take"]
        answer, arrays = program.request("markers", clip="take")
        glb = tmp_path / "shown.glb"
        glb.write_bytes(program.request("skin")[1]["glb"].tobytes())
    assert tuple(answer["names"]) == names
    assert answer["rate"] == 30
    shown = ps.Skin.load(glb)
    assert shown.bones.figures()["beta"] == pytest.approx(0.3)
    assert np.array_equal(arrays["seen"], seen)
    played = ps.load_motion(glb, shown.rig.skeleton, clip="take", rate="keys")
    points = shown.rig.skeleton.world(played.rotations, played.translations)[:, 1:, :3, 3]
    gaps = np.linalg.norm(arrays["positions"] - points, axis=2)[seen]
    assert gaps.max() < 0.01 * box(skin)
    assert np.ptp(points[:, 0], axis=0).max() > 0.2 * box(skin)


def test_clips_of_a_file_are_in_what_is_shown(store: Path, tmp_path: Path) -> None:
    rig, motion = ps.Examples.open(store).rig, ps.Examples.open(store).motion
    clips = {"bend": motion, "rest": ps.Motion.from_poses([rig.rest, rig.rest])}
    ps.export(ps.Skin(rig), tmp_path / "clips.glb", clips)
    words = (store, "--motion", tmp_path / "clips.glb", "--clip", "rest", "--clip", "bend")
    with studio(*words) as process, client(process) as program:
        assert program.request("project")[0]["takes"] == []
        glb = tmp_path / "shown.glb"
        glb.write_bytes(program.request("skin")[1]["glb"].tobytes())
        exported = export(program, tmp_path, "glb")
    for file in (glb, exported):
        assert list(ps.clips(file)) == ["rest", "bend"]
        for name, wanted in clips.items():
            shown = ps.load_motion(file, rig.skeleton, clip=name, rate="keys")
            assert shown.rotations[-1] == pytest.approx(wanted.rotations[-1], abs=1e-6)


def test_another_beta_is_one_edit(skin: ps.Skin, file: Path, tmp_path: Path) -> None:
    with studio(file) as process, client(process) as program:
        program.request("edit_skin", beta=2.0)
        glb = tmp_path / "shown.glb"
        glb.write_bytes(program.request("skin")[1]["glb"].tobytes())
    pose = point_motion(skin)[2]
    wanted = with_beta(skin, 2.0).pose(pose)[0]
    assert np.linalg.norm(ps.Skin.load(glb).pose(pose)[0] - wanted, axis=1).max() < ROUNDING * box(skin)


def test_a_fit_of_control_points_shows_the_sculpts_at_its_points(tmp_path: Path) -> None:
    from posespace.studio.opening import opened

    examples = ps.datasets.bending_arm(rings=14, sides=9)[0][::3]
    examples.save(tmp_path / "arm.examples")
    project = opened(tmp_path / "arm.examples")
    project.show(ps.ControlPoints(points=8, bones=10).fit(examples))
    name = examples.motion.names[1]
    pose = project.pose_of(name)
    shape, skin, plain = project.errors_at(name)
    assert pose.rotations.shape == (9, 4)
    world = project.skin.rig.skeleton.world(pose.rotations[None], pose.translations[None])
    assert world[0, 1:, :3, 3] == pytest.approx(shape[project.skin.bones.points], abs=1e-6)
    assert skin.max() < plain.max()
    assert project.scores()[0]["ratio"] < 1
    with pytest.raises(InputError, match="the skin shown has control points"):
        project.require_sculptable()
    project.solve()
    project.require_sculptable()
    assert project.pose_of(name).rotations.shape == (3, 4)
