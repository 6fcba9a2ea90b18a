"""Sculpts are defined, changed and undone over the protocol; what is saved fits to the same skin by the library."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from helpers.studio_client import Client, Process, RefusedError, client, studio

import posespace as ps
from posespace.skin.skin import Skin

ROUNDING = 1e-6


def sculpted(program: Client, pose: dict[str, object], by: float = 0.1) -> dict[str, np.ndarray]:
    """Return the surface at a pose, every third vertex of its middle moved as a stroke would."""
    surface = program.request("surface", pose=pose)[1]
    points = surface["points"].copy()
    points[len(points) // 3 : len(points) // 2, 1] += by * np.ptp(points)
    return {"points": points}


def skin_of(program: Client, folder: Path) -> Skin:
    """Return the skin that the studio shows."""
    file = folder / "shown.glb"
    file.write_bytes(program.request("skin")[1]["glb"].tobytes())
    return ps.Skin.load(file)


def bent(program: Client, amount: float) -> dict[str, object]:
    """Return the pose of the sculpt `bent`, scaled towards rest or beyond."""
    pose = program.request("pose_of", name="bent")[0]["pose"]
    rest = program.request("pose_of", name="rest")[0]["pose"]
    both = np.array(pose["joints"]), np.array(rest["joints"])
    return {"joints": ((1 - amount) * both[1] + amount * both[0]).tolist(), "controls": {}}


def test_define_changes_the_skin_and_the_store(store: Path, tmp_path: Path) -> None:
    with studio(store) as process, client(process) as program:
        pose = bent(program, 0.5)
        arrays = sculpted(program, pose)
        assert "half" in program.request("define", arrays, name="half", pose=pose)[0]["did"]
        shape = program.request("surface", pose=pose)[1]["points"]
        assert np.abs(shape - arrays["points"]).max() < 1e-5
        shown = skin_of(program, tmp_path)
        process.end()
    fitted = ps.PSD().fit(ps.Examples.open(store))
    assert fitted.rig.mesh.points.dtype == shown.rig.mesh.points.dtype
    motion = ps.Examples.open(store).motion
    for index in range(len(motion)):
        assert np.abs(fitted.pose(motion[index])[0] - shown.pose(motion[index])[0]).max() < ROUNDING * 10


def test_the_session_solves_what_fit_solves_bit_for_bit(store: Path) -> None:
    from posespace.studio.opening import opened

    project = opened(store)
    project.begin()
    fitted = ps.PSD().fit(ps.Examples.open(store))
    assert len(project.skin.layers) == len(fitted.layers)
    for ours, theirs in zip(project.skin.layers, fitted.layers, strict=True):
        assert np.array_equal(np.asarray(ours.basis), np.asarray(theirs.basis))
        assert np.array_equal(ours.support, theirs.support)


def test_each_change_can_be_undone_and_redone(store: Path) -> None:
    with studio(store) as process, client(process) as program:
        names = lambda: [row["name"] for row in program.request("project")[0]["sculpts"]]  # noqa: E731
        program.request("rename", name="bent", to="elbow")
        program.request("mute", name="elbow", muted=True)
        program.request("mute", name="elbow", muted=False)
        program.request("radius", name="elbow", radius=0.5)
        assert program.request("project")[0]["sculpts"][1]["radius"] == 0.5
        program.request("undo")
        assert program.request("project")[0]["sculpts"][1]["radius"] is None
        program.request("redo")
        assert program.request("project")[0]["sculpts"][1]["radius"] == 0.5
        program.request("remove", name="elbow")
        assert names() == ["rest"]
        program.request("undo")
        assert names() == ["rest", "elbow"]
        with pytest.raises(RefusedError, match="none has that name"):
            program.request("remove", name="nothing")


def test_strokes_that_were_not_defined_are_offered_again(store: Path) -> None:
    with studio(store) as process, client(process) as program:
        pose = bent(program, 0.7)
        arrays = sculpted(program, pose)
        program.request("draft", arrays, name="unsaved", pose=pose)
        process.kill()
    with studio(store) as process, client(process) as program:
        assert program.request("project")[0]["draft"] == {"name": "unsaved"}
        answer, kept = program.request("take_draft")
        assert answer["pose"]["joints"] == pose["joints"]
        assert np.array_equal(kept["points"], arrays["points"])
        program.request("define", {"points": kept["points"]}, name="unsaved", pose=answer["pose"])
        assert program.request("project")[0]["draft"] is None


def test_shapes_go_out_as_obj_and_come_back(store: Path) -> None:
    with studio(store) as process, client(process) as program:
        pose = bent(program, 1.0)
        file = program.request("export", pose=pose)[1]["file"]
        assert file.tobytes().count(b"\nv ") > 50
        points = program.request("import", {"file": file}, pose=pose, filename="x.obj")[1]["points"]
        surface = program.request("surface", pose=pose)[1]["points"]
        assert np.abs(points.ravel() - surface.ravel()).max() < 1e-4
        with pytest.raises(RefusedError, match=r"\.obj"):
            program.request("import", {"file": file}, pose=pose, filename="x.exe")


def test_of_two_pages_the_second_looks_until_the_first_leaves(store: Path) -> None:
    with studio(store) as process, client(process) as second_later:
        assert second_later.role() == "editor"
        with client(process) as viewer:
            assert viewer.role() == "viewer"
            with pytest.raises(RefusedError, match="another page edits"):
                viewer.request("remove", name="bent")
            second_later.request("rename", name="bent", to="elbow")
            assert [row["name"] for row in viewer.request("project")[0]["sculpts"]] == ["rest", "elbow"]
            second_later.connection.close()
            while viewer.events[-1][0]["role"] != "editor":
                viewer.receive()
            viewer.request("rename", name="elbow", to="bent")


@pytest.mark.slow
def test_kills_during_saves_lose_nothing_that_was_answered(store: Path) -> None:
    saved: list[str] = []
    for round_ in range(20):
        with studio(store) as process, client(process) as program:
            names = [row["name"] for row in program.request("project")[0]["sculpts"]]
            assert set(saved) <= set(names), round_
            # Whatever else is there was on its way when the process was killed, and is whole.
            saved = [name for name in names if name not in ("rest", "bent")]
            killing = threading.Timer(0.02 + 0.013 * round_, process.kill)
            _define_until_killed(program, process, saved, round_, killing)
    examples = ps.Examples.open(store)
    assert set(saved) <= set(examples.motion.names)
    assert all(np.isfinite(np.asarray(shape)).all() for _, shape in examples)


def _define_until_killed(
    program: Client, process: Process, saved: list[str], round_: int, killing: threading.Timer
) -> None:
    from websockets.exceptions import ConnectionClosed

    pose = bent(program, 0.2 + 0.03 * round_)
    arrays = sculpted(program, pose)
    killing.start()
    try:
        for number in range(1000):
            name = f"sculpt {round_} {number}"
            at = {**pose, "joints": [value + 1e-4 * number for value in pose["joints"]]}  # type: ignore[attr-defined]
            program.request("define", arrays, name=name, pose=at)
            saved.append(name)
    except (ConnectionClosed, OSError):
        pass
    finally:
        killing.join()
    assert process.process.poll() is not None


def test_a_hundred_reconnects_leave_nothing_behind(store: Path) -> None:
    with studio(store) as process:
        with client(process) as program:
            program.request("skin")
        status = Path(f"/proc/{process.process.pid}/status")
        files = Path(f"/proc/{process.process.pid}/fd")
        before = len(list(files.iterdir())) if files.exists() else 0
        for _ in range(100):
            with client(process) as program:
                program.request("project")
        if status.exists():
            assert len(list(files.iterdir())) <= before + 2
