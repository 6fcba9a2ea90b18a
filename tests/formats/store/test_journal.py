"""Sculpts changed on the disk: each change whole or not at all, undone and redone by any process, damaged heads."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

import posespace as ps
from posespace import datasets
from posespace.errors import FileError, InputError
from posespace.formats import files
from posespace.formats.store.example_store import ExampleStore
from posespace.sculpt import MOST_STEPS

TRAIN = datasets.bending_arm(rings=6, sides=4)[0]
NAMES = TRAIN.motion.names[:4]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "arm.examples"
    TRAIN[:4].save(path)
    return path


@pytest.fixture
def store(whole: Path, tmp_path: Path) -> Path:
    return shutil.copytree(whole, tmp_path / "arm.examples")


def contents(path: Path) -> dict[str, object]:
    """All that a store holds of each sculpt, and the radii of all."""
    session = ps.Sculpts.open(path)
    return {"control radii": dict(session.control_radii)} | {
        name: (each.pose.rotations.tobytes(), np.asarray(each.shape).tobytes(), each.muted, each.radius)
        for name, each in session.sculpts.items()
    }


def add(path: Path, number: int = 9, name: str = "new") -> None:
    ps.Sculpts.open(path).add(name, TRAIN.motion[number], TRAIN.shapes[number])


CHANGES = {
    "add": add,
    "replace": lambda path: ps.Sculpts.open(path).replace(NAMES[1], TRAIN.shapes[3]),
    "remove": lambda path: ps.Sculpts.open(path).remove(NAMES[0], NAMES[2]),
    "rename": lambda path: ps.Sculpts.open(path).rename(NAMES[1], "other"),
    "mute": lambda path: ps.Sculpts.open(path).mute(NAMES[1]),
    "radius": lambda path: ps.Sculpts.open(path).set_sculpt_radius(NAMES[3], 0.25),
    "control radius": lambda path: ps.Sculpts.open(path).set_radius(("forearm", "hand"), 0.5),
}
STEPS = {"undo": lambda path: ps.Sculpts.open(path).undo(), "redo": lambda path: ps.Sculpts.open(path).redo()}


def chunks(path: Path) -> list[str]:
    return sorted(os.listdir(path / "shapes" / "c"))


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_there_for_the_next_process_and_undo_takes_it_back(store: Path, change: str) -> None:
    before = contents(store)
    CHANGES[change](store)
    after = contents(store)
    assert after != before
    session = ps.Sculpts.open(store)
    steps = session.steps
    assert (session.undo(),) == steps
    assert (session.steps, session.undone) == ((), steps)
    assert contents(store) == before
    with pytest.raises(InputError, match="there is no change to undo"):
        session.undo()
    later = ps.Sculpts.open(store)
    assert (later.redo(),) == steps
    assert (later.steps, later.undone) == (steps, ())
    assert contents(store) == after
    with pytest.raises(InputError, match="there is no change to redo"):
        later.redo()
    later.undo()
    later.mute(NAMES[0])
    assert later.undone == ()
    assert chunks(store) == ["0", "1", "2", "3"]


def test_a_whole_session_is_undone_step_by_step(store: Path) -> None:
    states = [contents(store)]
    for change in ("add", "radius", "control radius", "mute", "replace", "remove"):
        CHANGES[change](store)
        states.append(contents(store))
    for state in reversed(states[:-1]):
        ps.Sculpts.open(store).undo()
        assert contents(store) == state
    for state in states[1:]:
        ps.Sculpts.open(store).redo()
        assert contents(store) == state


def test_a_new_change_forgets_what_was_undone(store: Path) -> None:
    add(store)
    session = ps.Sculpts.open(store)
    session.undo()
    assert chunks(store) == ["0", "1", "2", "3", "4"]
    session.rename(NAMES[0], "first")
    assert chunks(store) == ["0", "1", "2", "3"]
    with pytest.raises(FileError, match=r"arm\.examples: there is no change to redo"):
        session.redo()
    session.undo()
    assert session.undone == (f"renamed {NAMES[0]!r} to 'first'",)


def test_versions_are_as_low_as_older_readers_need(store: Path) -> None:
    def version() -> int:
        return int(json.loads((store / "zarr.json").read_text())["attributes"]["posespace"]["version"])

    assert version() == 1
    add(store)
    assert version() == 2
    STEPS["undo"](store)
    assert version() == 3
    STEPS["redo"](store)
    assert version() == 2
    CHANGES["control radius"](store)
    assert version() == 3
    ps.Examples.open(store).save(store.with_name("again.examples"))
    store = store.with_name("again.examples")
    assert version() == 3
    change_head(store, version=2)
    with pytest.raises(FileError, match="expected examples of version 3, got 'examples' of version 2"):
        ps.Examples.open(store)
    change_head(store, version=4)
    with pytest.raises(FileError, match="expected examples of version 3, got 'examples' of version 4"):
        ps.Examples.open(store)


def test_a_session_gets_the_same_objects_back_so_that_they_are_not_solved_again(store: Path) -> None:
    session = ps.Sculpts.open(store)
    before = dict(session.sculpts)
    session.add("new", TRAIN.motion[9], TRAIN.shapes[9])
    added = session["new"]
    session.undo()
    assert all(session[name].shape is before[name].shape and session[name].pose is before[name].pose for name in NAMES)
    session.redo()
    assert session["new"].shape is added.shape
    assert session["new"].pose is added.pose


def test_muted_sculpts_are_no_examples_and_radii_go_along(store: Path) -> None:
    CHANGES["mute"](store)
    CHANGES["radius"](store)
    with pytest.warns(UserWarning, match=f"muted sculpts are left out: {NAMES[1]}"):
        examples = ps.Examples.open(store)
    assert examples.motion.names == (NAMES[0], *NAMES[2:])
    assert examples.radii == {NAMES[3]: 0.25}
    examples.save(store.with_name("again.examples"))
    assert ps.Examples.open(store.with_name("again.examples")).radii == {NAMES[3]: 0.25}


def test_times_and_controls_of_other_poses_stay(tmp_path: Path) -> None:
    motion = ps.Motion(
        TRAIN.motion.rotations[:3],
        times=np.array([0.5, 2.0, 1.0]),
        names=("a", "b", "c"),
        controls=np.array([[0.0, 1.0], [0.0, 0.0], [2.0, 0.0]]),
        control_names=("load", "smile"),
    )
    path = tmp_path / "a.examples"
    ps.Examples.from_shapes(TRAIN.rig, motion, [TRAIN.shapes[k] for k in range(3)]).save(path)
    ps.Sculpts.open(path).remove("b")
    kept = ExampleStore.open(path).motion
    np.testing.assert_array_equal(kept.times, [0.5, 1.0])
    assert kept.control_names == ("load", "smile")
    np.testing.assert_array_equal(kept.controls, [[0.0, 1.0], [2.0, 0.0]])


def test_history_is_bounded_and_what_it_no_longer_needs_is_removed(store: Path) -> None:
    session = ps.Sculpts.open(store)
    session.remove(NAMES[0])
    for step in range(MOST_STEPS):
        session.mute(NAMES[1], muted=step % 2 == 0)
    assert len(session.steps) == MOST_STEPS
    assert session.steps[0] == f"muted {NAMES[1]!r}"
    assert sorted(os.listdir(store / "shapes" / "c")) == ["1", "2", "3"]
    assert not (store / "motion").exists()


def dying(path: Path, change: str, calls: int) -> bool:
    """Make a change in a process that dies at its nth renaming of a file; return whether it came to its end."""
    child = os.fork()
    if child == 0:
        left, rename = [calls], os.replace

        def killed(*names: str) -> None:
            left[0] -= 1
            if left[0] < 0:
                os._exit(9)
            rename(*names)

        files.os.replace = killed  # type: ignore[assignment]
        try:
            (CHANGES | STEPS)[change](path)
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("change", ["add", "remove"])
def test_a_change_that_is_killed_leaves_what_was_there(store: Path, change: str) -> None:
    before, calls = contents(store), 0
    while not dying(store, change, calls):
        assert contents(store) == before
        calls += 1
    assert calls == {"add": 5, "remove": 1}[change]
    assert contents(store) != before
    ps.Sculpts.open(store).undo()
    assert contents(store) == before
    # What the killed ones left goes with the next change.
    ps.Sculpts.open(store).mute(NAMES[1])
    assert chunks(store) == ["0", "1", "2", "3"]


@pytest.mark.parametrize("step", STEPS)
def test_undo_and_redo_that_are_killed_leave_what_was_there(store: Path, step: str) -> None:
    states = [contents(store)]
    add(store)
    states.append(contents(store))
    if step == "redo":
        STEPS["undo"](store)
        states.reverse()
    calls = 0
    while not dying(store, step, calls):
        assert contents(store) == states[1]
        calls += 1
    assert calls == 1
    assert contents(store) == states[0]
    # Neither lost what the other needs.
    STEPS["redo" if step == "undo" else "undo"](store)
    assert contents(store) == states[1]


def test_a_session_that_saw_an_older_store_changes_nothing(store: Path) -> None:
    late = ps.Sculpts.open(store)
    add(store)
    after = contents(store)
    with pytest.raises(FileError, match="was changed by another process since it was opened; open it again"):
        late.remove(NAMES[0])
    assert late.names == NAMES
    assert contents(store) == after


def test_a_store_that_cannot_be_written_is_named(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, session = contents(store), ps.Sculpts.open(store)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(FileError, match=r"arm\.examples.*: cannot be written \(no space left on device\)"):
        session.add("new", TRAIN.motion[9], TRAIN.shapes[9])
    monkeypatch.undo()
    assert session.names == NAMES
    assert contents(store) == before
    # The chunk that was not written does not count as there.
    session.add("new", TRAIN.motion[9], TRAIN.shapes[9])
    np.testing.assert_allclose(ps.Sculpts.open(store)["new"].shape, TRAIN.shapes[9], atol=1e-6)


def test_one_array_may_be_the_shape_of_several_sculpts(store: Path) -> None:
    session, shape = ps.Sculpts.open(store), np.array(TRAIN.shapes[9])
    for number in (9, 10, 11):
        session.add(f"at {number}", TRAIN.motion[number], shape)
    session.remove("at 9")
    session.mute("at 11")
    found = ps.Sculpts.open(store)
    assert found.names == (*NAMES, "at 10", "at 11")
    for name in found.names[4:]:
        np.testing.assert_allclose(found[name].shape, shape, atol=1e-6)
    session.undo()
    session.undo()
    assert contents(store).keys() == {"control radii", *NAMES, "at 9", "at 10", "at 11"}


def test_the_last_sculpt_and_unfinished_stores_are_refused(store: Path) -> None:
    session = ps.Sculpts.open(store)
    with pytest.raises(InputError, match="holds at least one sculpt"):
        session.remove(*NAMES)
    (store / "marks" / "c" / "1").unlink()
    with pytest.raises(FileError, match="1 of its poses are not finished; resume the run that makes it"):
        ps.Sculpts.open(store)


def tampered(store: Path, **entries: object) -> None:
    CHANGES["remove"](store)
    file = store / "zarr.json"
    head = json.loads(file.read_text())
    head["attributes"]["posespace"]["motion"] |= entries
    head["attributes"]["posespace"]["version"] = 3
    file.write_text(json.dumps(head))


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        ({"group": "../../elsewhere"}, "expected motion or motion-NUMBER"),
        ({"group": "rig"}, "expected motion or motion-NUMBER"),
        ({"group": "motion-77"}, "is missing or cannot be read"),
        ({"rows": [1, 1]}, "expected 2 different chunks, got 1"),
        ({"rows": [1]}, "expected 2 different chunks, got 1"),
        ({"rows": [1, -4]}, "rows"),
        ({"rows": [1, 2**60]}, "rows"),
        ({"rows": [1, 99]}, "1 of its poses are not finished"),
        ({"rows": "all"}, "rows"),
        ({"muted": ["nobody"]}, "is no pose"),
        ({"muted": 3}, "muted"),
        ({"radii": {"nobody": 1.0}}, "is no pose"),
        ({"radii": {NAMES[1]: -1.0}}, "expected a finite number above 0"),
        ({"radii": []}, "radii"),
        ({"control_radii": {}}, "expected a list"),
        ({"control_radii": [3]}, "radius 0: expected an object"),
        ({"control_radii": [{"radius": 1.0}]}, "radius 0: axis is missing"),
        ({"control_radii": [{"axis": "", "radius": 1.0}]}, "expected at least one"),
        ({"control_radii": [{"layer": [], "radius": 1.0}]}, "expected at least one name, got none"),
        ({"control_radii": [{"layer": "tip", "radius": 1.0}]}, "expected a list"),
        ({"control_radii": [{"axis": "tip", "radius": 0}]}, "radius of 'tip': expected a finite number above 0"),
        ({"control_radii": [{"axis": "tip\nof\x1b", "radius": "wide"}]}, "radius: expected a finite number"),
    ],
)
def test_a_damaged_head_is_refused_in_one_line(store: Path, entries: dict[str, object], problem: str) -> None:
    tampered(store, **entries)
    with pytest.raises(InputError, match=problem) as caught:
        ps.Sculpts.open(store)
    assert str(store) in str(caught.value)
    assert "\n" not in str(caught.value)


def change_head(store: Path, **entries: object) -> None:
    file = store / "zarr.json"
    head = json.loads(file.read_text())
    head["attributes"]["posespace"] |= entries
    file.write_text(json.dumps(head))


@pytest.mark.parametrize("which", ["history", "undone"])
@pytest.mark.parametrize(
    ("states", "problem"),
    [
        ([{"names": 3}], "names"),
        ([3], "expected an object"),
        ("all", "expected a list"),
        ([{"names": [], "controls": [], "group": "../elsewhere"}], "expected motion or motion-NUMBER"),
    ],
)
def test_damaged_states_are_refused_and_fits_go_on(store: Path, which: str, states: object, problem: str) -> None:
    CHANGES["remove"](store)
    STEPS["undo"](store)
    change_head(store, history=[])
    change_head(store, **{which: states})
    with pytest.raises(FileError, match=problem) as caught:
        ps.Sculpts.open(store)
    assert "\n" not in str(caught.value)
    assert len(ps.Examples.open(store)) == 4


@pytest.mark.parametrize("step", STEPS)
def test_a_state_whose_shape_is_gone_is_not_returned_to(store: Path, step: str) -> None:
    CHANGES["replace"](store)
    if step == "redo":
        STEPS["undo"](store)
    now, row = contents(store), {"undo": "1", "redo": "4"}[step]
    shutil.rmtree(store / "shapes" / "c" / row)
    (store / "marks" / "c" / row).unlink()
    with pytest.raises(FileError, match=f"is damaged .the shape of {NAMES[1]!r} is gone"):
        STEPS[step](store)
    assert contents(store) == now


def test_nothing_outside_the_store_is_swept_away(store: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "7").mkdir(parents=True)
    (store / "motion-9").symlink_to(outside)
    (store / "motion notes.txt").write_text("mine")
    CHANGES["remove"](store)
    assert (outside / "7").is_dir()
    assert (store / "motion notes.txt").is_file()
