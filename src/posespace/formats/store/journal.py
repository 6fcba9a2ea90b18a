"""StoreJournal: the sculpts of an example store, changed, undone and redone on the disk.

The head of the store, one file, says which poses there are and which chunk each has; replacing it is the change, so it
happens whole or not at all. The states before, up to a number, and those that were undone are kept in it, with the
chunks they need.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from posespace import check
from posespace.check import Floats
from posespace.errors import FileError, InputError, StoreChangedError, quoted
from posespace.formats import files, records
from posespace.formats.checked_json import Fields
from posespace.formats.store.example_store import ExampleStore, chunk_forms
from posespace.formats.store.state import GROUP, StoreState, group_of, read_state, rows_of, version_for
from posespace.formats.store.zarr_arrays import describe_arrays, read_group, replace_attributes, write_arrays
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.rig import Rig
from posespace.sculpt import MOST_STEPS, Sculpt, SculptState

_MOST_SCULPTS = 5000
"""All shapes are mapped at once, and a process may hold a limited number of maps."""


class StoreJournal:
    """The journal of a finished store."""

    def __init__(self, path: str | Path) -> None:
        self.store = ExampleStore.open(path)
        if len(self.store) > _MOST_SCULPTS:
            problem = f"holds {len(self.store):,} examples; sculpts are changed one by one in stores of up to"
            raise FileError(self.store.path, f"{problem} {_MOST_SCULPTS:,}")
        if not self.store.finished().all():
            missing = int((~self.store.finished()).sum())
            raise FileError(self.store.path, f"{missing} of its poses are not finished; resume the run that makes it")
        self._head = self._read_head()
        # The chunk of each shape, by the identity of the array, which is kept here so that it stays its own.
        self._rows: dict[int, tuple[Floats, int]] = {}
        # The sculpt that each chunk was last given out with: what is undone and redone stays the same to its users.
        self._known: dict[int, Sculpt] = {}

    @property
    def rig(self) -> Rig:
        """The rig of the store."""
        return self.store.rig

    @property
    def steps(self) -> tuple[str, ...]:
        """The changes that can be undone, the oldest first."""
        states = [*self._states("history")[1:], self._present] if self._states("history") else []
        return tuple(state.text("did", "") for state in states)

    @property
    def undone(self) -> tuple[str, ...]:
        """The changes that can be redone, the first to be redone last."""
        return tuple(state.text("did", "") for state in self._states("undone"))

    def stored(self, shape: Floats) -> Floats:
        """Return a shape (N, 3) as it is when it comes back from its chunk: in single precision."""
        return check.floats("a sculpt's shape", shape.astype("<f4"), shape.shape)

    def state(self) -> SculptState:
        """Return the sculpts of the store; shapes are mapped. What did not change is the same object as before."""
        store, by_name = self.store, dict[str, Sculpt]()
        for index, (name, at) in enumerate(zip(store.motion.names, store.motion, strict=True)):
            row = index if store.rows is None else store.rows[index]
            known = self._known.get(row)
            shape = store.shape(index) if known is None else known.shape
            pose = known.pose if known is not None and _same(known.pose, at) else at
            by_name[name] = Sculpt(pose, shape, name in store.muted, store.radii.get(name))
            self._remember(by_name[name], row)
        return SculptState(by_name, store.control_radii)

    def keep(self, did: str, state: SculptState) -> None:
        """Write the state after the change that `did` names."""
        if not state.sculpts:
            raise InputError(f"{did}: a store holds at least one sculpt; mute it instead")
        with self._alone():
            now = self._state(did, state)
            writer = records.Writer()
            entry = now.write(writer)
            if now.group != group_of(self._present):
                write_arrays(self.store.path, writer.arrays)
            before = [*self._head.get("history", []), self._head["motion"]][-MOST_STEPS:]
            self._replace_head(entry, before, [])
        # Only now: what failed on the way is not there.
        for sculpt, row in zip(state.sculpts.values(), now.rows, strict=True):
            self._remember(sculpt, row)

    def undo(self) -> tuple[str, SculptState]:
        """Return what the last change was and the state before it, which the store holds again."""
        if not self.steps:
            raise FileError(self.store.path, "there is no change to undo")
        did = self.steps[-1]
        *before, last = self._head["history"]
        self._return_to(last, before, [*self._head.get("undone", []), self._head["motion"]])
        return did, self.state()

    def redo(self) -> tuple[str, SculptState]:
        """Return what was undone last and the state after it, which the store holds again."""
        if not self.undone:
            raise FileError(self.store.path, "there is no change to redo")
        did = self.undone[-1]
        *left, after = self._head["undone"]
        self._return_to(after, [*self._head.get("history", []), self._head["motion"]][-MOST_STEPS:], left)
        return did, self.state()

    def _state(self, did: str, state: SculptState) -> StoreState:
        """The state of the store that holds these sculpts; shapes that it lacks are written to new chunks."""
        sculpts = state.sculpts
        names, poses = tuple(sculpts), [sculpt.pose for sculpt in sculpts.values()]
        # One array may be the shape of several sculpts, and each has a chunk of its own.
        known: dict[int, str] = {}
        for name, sculpt in sculpts.items():
            if id(sculpt.shape) in self._rows:
                known.setdefault(self._rows[id(sculpt.shape)][1], name)
        row_of = {name: row for row, name in known.items()}
        fresh = [name for name in names if name not in row_of]
        first = 1 + max((row for entry in self._entries() for row in self._rows_of(entry)), default=-1)
        row_of |= {name: row for row, name in enumerate(fresh, start=first)}
        rows = tuple(row_of[name] for name in names)
        motion = Motion.from_poses(poses, names, self._times(rows))
        if fresh:
            describe_arrays(self.store.path, chunk_forms(self.rig, first + len(fresh), self.store.levels))
            target = replace(self.store, motion=motion, rows=rows, _mapped={}, _verified=set())
            for name in fresh:
                target.write(names.index(name), sculpts[name].shape)
        muted = frozenset(name for name, sculpt in sculpts.items() if sculpt.muted)
        radii = {name: sculpt.radius for name, sculpt in sculpts.items() if sculpt.radius is not None}
        return StoreState(motion, rows, muted, radii, state.control_radii, self._group(motion), did)

    def _times(self, rows: tuple[int, ...]) -> Floats:
        """The times (P,) of the poses with these chunks: those they have; new ones come after."""
        times = dict(zip(rows_of(self._present, len(self.store)), self.store.motion.times.tolist(), strict=True))
        last = max(times.values(), default=0.0)
        known = [times.get(row) for row in rows]
        later = iter(last + (1 + np.arange(len(rows))) / 30)
        return np.array([next(later) if time is None else time for time in known])

    def _group(self, motion: Motion) -> str:
        """Where the arrays of these poses go: where they are already, or a new group."""
        known, old = group_of(self._present), self.store.motion
        parts = ("rotations", "translations", "times", "controls")
        if all(np.array_equal(getattr(old, part), getattr(motion, part)) for part in parts):
            return known
        used = [path.name.partition("-")[2] for path in self.store.path.glob("motion-*")]
        return f"motion-{1 + max((int(number) for number in used if number.isdigit()), default=0)}"

    def _return_to(self, entry: dict[str, Any], history: list[Any], undone: list[Any]) -> None:
        """Make one of the kept states the present one; raise, with nothing changed, where its shapes are gone."""
        path = self.store.path
        with self._alone():
            state = read_state(path, Fields(entry, "a state"), len(self.rig.skeleton))
            there = replace(self.store, motion=state.motion, rows=state.rows, _mapped={}, _verified=set()).finished()
            if not there.all():
                name = state.motion.names[int(there.argmin())]
                raise FileError(path, f"is damaged (the shape of {quoted(name)} is gone, which it would hold again)")
            self._replace_head(entry, history, undone)

    def _replace_head(self, entry: dict[str, Any], history: list[Any], undone: list[Any]) -> None:
        """Make `entry` the present state, between the states before and those that were undone."""
        path, head = self.store.path, {**self._head, "motion": entry, "history": history, "undone": undone}
        if not undone:
            del head["undone"]
        head["version"] = version_for([*history, entry], undone)
        replace_attributes(path, {**read_group(path), "posespace": head})
        self._head, self.store = head, ExampleStore.open(path)
        self._sweep()

    def _sweep(self) -> None:
        """Remove what no state needs any longer; what stays behind by mischance goes with the next change."""
        store = self.store.path
        rows = {row for state in self._entries() for row in self._rows_of(state)}
        groups = {group_of(state) for state in self._entries()}
        self._rows = {key: (shape, row) for key, (shape, row) in self._rows.items() if row in rows}
        self._known = {row: sculpt for row, sculpt in self._known.items() if row in rows}
        unused = [path for path in store.iterdir() if GROUP.fullmatch(path.name) and path.name not in groups]
        for part in ("shapes", "marks", "heights"):
            chunks = files.inside(store, part, "c").glob("*")
            unused += [path for path in chunks if path.name.isdecimal() and int(path.name) not in rows]
        for path in unused:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                with suppress(OSError):
                    path.unlink()

    def _remember(self, sculpt: Sculpt, row: int) -> None:
        self._rows[id(sculpt.shape)] = sculpt.shape, row
        self._known[row] = sculpt

    def _entries(self) -> list[Fields]:
        """All states of the store: those before, the present one, and those that were undone."""
        return [*self._states("history"), self._present, *self._states("undone")]

    @property
    def _present(self) -> Fields:
        return Fields(self._head["motion"], "motion")

    def _states(self, which: str) -> list[Fields]:
        """The states under "history", the oldest first, or under "undone", the last one first to be redone."""
        return Fields(self._head, "the file").parts(which, f"{which}:", [])

    def _rows_of(self, state: Fields) -> tuple[int, ...]:
        return rows_of(state, state.length("names"))

    def _read_head(self) -> dict[str, Any]:
        """The head of the store as it is on the disk; every state in it is checked."""
        path = self.store.path
        with files.naming(path):
            head = Fields(read_group(path).get("posespace"), "the file")
            for which in ("history", "undone"):
                for state in head.parts(which, f"{which}:", []):
                    read_state(path, state, len(self.rig.skeleton))
        return dict(head.values)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Let one process at a time change the store, and none that saw an older one."""
        path = self.store.path
        try:
            with _locked(path):
                if self._read_head() != self._head:
                    raise StoreChangedError(
                        path, "was changed by another process since it was opened; open it again, and repeat the change"
                    )
                yield
        except OSError as error:
            raise FileError(path, f"cannot be written ({(error.strerror or str(error)).lower()})") from error


def _same(pose: Pose, other: Pose) -> bool:
    """Whether two poses are the same to the last bit; a control that one of them does not name is zero there."""
    names = {*pose.controls, *other.controls}
    return (
        np.array_equal(pose.rotations, other.rotations)
        and np.array_equal(pose.translations, other.translations)
        and all(pose.controls.get(name, 0.0) == other.controls.get(name, 0.0) for name in names)
    )


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Wait until no other process holds the folder; the system lets go of it when a process ends, however it ends."""
    try:
        import fcntl
    except ImportError:  # Windows: of two changes at the same moment one may be lost
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
