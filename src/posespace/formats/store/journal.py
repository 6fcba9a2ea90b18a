"""StoreJournal: the sculpts of an example store, changed and undone on the disk.

The head of the store, one file, says which poses there are and which chunk each has; replacing it is the change, so it
happens whole or not at all. The heads before are kept in it, up to a number, with the chunks they need.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from posespace.check import Floats
from posespace.errors import FileError, InputError
from posespace.formats import files, records
from posespace.formats.checked_json import Fields
from posespace.formats.store.example_store import ExampleStore, chunk_forms
from posespace.formats.store.state import GROUP, StoreState, group_of, read_state, rows_of
from posespace.formats.store.zarr_arrays import describe_arrays, read_group, replace_attributes, write_arrays
from posespace.motion import Motion
from posespace.rig import Rig
from posespace.sculpt import MOST_STEPS, Sculpt

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

    @property
    def rig(self) -> Rig:
        """The rig of the store."""
        return self.store.rig

    @property
    def steps(self) -> tuple[str, ...]:
        """The changes that can be undone, the oldest first."""
        states = [*self._states()[1:], Fields(self._head["motion"], "motion")] if self._states() else []
        return tuple(state.text("did", "") for state in states)

    def sculpts(self) -> dict[str, Sculpt]:
        """Return the sculpts of the store; shapes are mapped."""
        store, by_name = self.store, dict[str, Sculpt]()
        for index, (name, pose) in enumerate(zip(store.motion.names, store.motion, strict=True)):
            shape = store.shape(index)
            self._rows[id(shape)] = shape, index if store.rows is None else store.rows[index]
            by_name[name] = Sculpt(pose, shape, name in store.muted, store.radii.get(name))
        return by_name

    def keep(self, did: str, sculpts: Mapping[str, Sculpt]) -> None:
        """Write the sculpts as they are after the change that `did` names."""
        if not sculpts:
            raise InputError(f"{did}: a store holds at least one sculpt; mute it instead")
        with self._alone():
            now = self._state(did, sculpts)
            writer = records.Writer()
            entry = now.write(writer)
            if now.group != group_of(Fields(self._head["motion"], "motion")):
                write_arrays(self.store.path, writer.arrays)
            before = [*self._head.get("history", []), self._head["motion"]][-MOST_STEPS:]
            self._replace_head({**self._head, "version": 2, "motion": entry, "history": before})
        # Only now: what failed on the way is not there.
        self._rows |= {
            id(sculpt.shape): (sculpt.shape, row) for sculpt, row in zip(sculpts.values(), now.rows, strict=True)
        }

    def undo(self) -> tuple[str, dict[str, Sculpt]]:
        """Return what the last change was and the sculpts before it, which the store holds again."""
        if not self._states():
            raise FileError(self.store.path, "there is no change to undo")
        did = self.steps[-1]
        with self._alone():
            *before, last = self._head["history"]
            self._replace_head({**self._head, "motion": last, "history": before})
        self._rows.clear()
        return did, self.sculpts()

    def _state(self, did: str, sculpts: Mapping[str, Sculpt]) -> StoreState:
        """The state that holds these sculpts; shapes that the store lacks are written to new chunks."""
        names, poses = tuple(sculpts), [sculpt.pose for sculpt in sculpts.values()]
        # One array may be the shape of several sculpts, and each has a chunk of its own.
        known: dict[int, str] = {}
        for name, sculpt in sculpts.items():
            if id(sculpt.shape) in self._rows:
                known.setdefault(self._rows[id(sculpt.shape)][1], name)
        row_of = {name: row for row, name in known.items()}
        fresh = [name for name in names if name not in row_of]
        first = 1 + max((row for state in self._entries() for row in self._rows_of(state)), default=-1)
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
        return StoreState(motion, rows, muted, radii, self._group(motion), did)

    def _times(self, rows: tuple[int, ...]) -> Floats:
        """The times (P,) of the poses with these chunks: those they have; new ones come after."""
        times = dict(zip(rows_of(self._entries()[-1], len(self.store)), self.store.motion.times.tolist(), strict=True))
        last = max(times.values(), default=0.0)
        known = [times.get(row) for row in rows]
        later = iter(last + (1 + np.arange(len(rows))) / 30)
        return np.array([next(later) if time is None else time for time in known])

    def _group(self, motion: Motion) -> str:
        """Where the arrays of these poses go: where they are already, or a new group."""
        known, old = group_of(Fields(self._head["motion"], "motion")), self.store.motion
        parts = ("rotations", "translations", "times", "controls")
        if all(np.array_equal(getattr(old, part), getattr(motion, part)) for part in parts):
            return known
        used = [path.name.partition("-")[2] for path in self.store.path.glob("motion-*")]
        return f"motion-{1 + max((int(number) for number in used if number.isdigit()), default=0)}"

    def _replace_head(self, head: dict[str, Any]) -> None:
        path = self.store.path
        replace_attributes(path, {**read_group(path), "posespace": head})
        self._head, self.store = head, ExampleStore.open(path)
        self._sweep()

    def _sweep(self) -> None:
        """Remove what no state needs any longer; what stays behind by mischance goes with the next change."""
        store = self.store.path
        rows = {row for state in self._entries() for row in self._rows_of(state)}
        groups = {group_of(state) for state in self._entries()}
        self._rows = {key: (shape, row) for key, (shape, row) in self._rows.items() if row in rows}
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

    def _entries(self) -> list[Fields]:
        """All states of the store, the present one last."""
        return [*self._states(), Fields(self._head["motion"], "motion")]

    def _states(self) -> list[Fields]:
        """The states before the present one, the oldest first."""
        return Fields(self._head, "the file").parts("history", "a state", [])

    def _rows_of(self, state: Fields) -> tuple[int, ...]:
        return rows_of(state, state.length("names"))

    def _read_head(self) -> dict[str, Any]:
        """The head of the store as it is on the disk; every state in it is checked."""
        path = self.store.path
        with files.naming(path):
            head = Fields(read_group(path).get("posespace"), "the file")
            for state in head.parts("history", "a state", []):
                read_state(path, state, len(self.rig.skeleton))
        return dict(head.values)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Let one process at a time change the store, and none that saw an older one."""
        path = self.store.path
        try:
            with _locked(path):
                if self._read_head() != self._head:
                    raise FileError(path, "was changed by another process since it was opened; try again")
                yield
        except OSError as error:
            raise FileError(path, f"cannot be written ({(error.strerror or str(error)).lower()})") from error


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
