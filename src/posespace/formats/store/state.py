"""What the poses of an example store are: their names, values and chunks, and what is said of single sculpts.

A store whose sculpts were changed keeps the states before, and those that were undone: see `journal`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from posespace.errors import FileError, InputError, quoted
from posespace.formats import records
from posespace.formats.checked_json import Fields
from posespace.formats.store.zarr_arrays import map_group
from posespace.motion import Motion
from posespace.sculpt import checked_radius

FIRST_GROUP = "motion"
GROUP = re.compile(r"motion(-[1-9][0-9]{0,8})?")
_MOST_ROWS = 10**8


@dataclass(frozen=True, eq=False)
class StoreState:
    """The poses of a store at one time.

    Parameters
    ----------
    motion : P poses
    rows : P numbers of the chunks that hold their shapes
    muted : names of sculpts that fits ignore
    radii : the reach of single sculpts, by name
    group : where the store has the arrays of the motion
    did : the change that led here; "" for none
    """

    motion: Motion
    rows: tuple[int, ...]
    muted: frozenset[str] = frozenset()
    radii: Mapping[str, float] = field(default_factory=dict)
    group: str = FIRST_GROUP
    did: str = ""

    def write(self, writer: records.Writer) -> records.Json:
        """Return the JSON of this state; its arrays go to `writer`. What is as in a new store is left out."""
        json = records.write_motion(self.motion, writer, self.group)
        if self.group != FIRST_GROUP:
            json["group"] = self.group
        if self.rows != tuple(range(len(self.motion))):
            json["rows"] = list(self.rows)
        if self.muted:
            json["muted"] = sorted(self.muted)
        if self.radii:
            json["radii"] = dict(self.radii)
        if self.did:
            json["did"] = self.did
        return json


def head_version(head: Fields) -> int:
    """Return the version that a store must have.

    Older readers know nothing of chunks in another order (2), and would remove those of changes to redo (3).
    """
    return 3 if "undone" in head else 2 if "history" in head else 1


def read_state(store: Path, entry: Fields, joints: int) -> StoreState:
    """Return a state of a store by its JSON; raise unless its poses have that many joints."""
    group = group_of(entry)
    arrays: dict[str, Any] = {name: np.array(array) for name, array in map_group(store, group).items()}
    motion = records.read_motion(records.Record(entry.values, arrays, group))
    if motion.rotations.shape[1] != joints:
        raise FileError(store, "is damaged (its poses and its rig have different joints)")
    known = set(motion.names)
    muted, radii = entry.texts("muted", []), entry.part("radii", {})
    for name in (*muted, *radii):
        if name not in known:
            raise InputError(f"{entry.where}: {quoted(name)} is said to be muted or to have a radius, and is no pose")
    reach = {name: checked_radius(name, radii.number(name)) for name in radii}
    rows = rows_of(entry, len(motion))
    return StoreState(motion, rows, frozenset(muted), reach, group, entry.text("did", ""))


def group_of(entry: Fields) -> str:
    """Return where the arrays of a state are: a group of the store, never a place outside of it."""
    group = entry.text("group", FIRST_GROUP)
    if not GROUP.fullmatch(group):
        raise InputError(f"{entry.where}: group: expected motion or motion-NUMBER, got {group[:40]!r}")
    return group


def rows_of(entry: Fields, count: int) -> tuple[int, ...]:
    """Return the chunks of a state of `count` poses."""
    rows = tuple(entry.integers("rows", _MOST_ROWS, range(count)))
    if len(rows) != count or len(set(rows)) != count:
        raise InputError(f"{entry.where}: rows: expected {count} different chunks, got {len(set(rows))}")
    return rows
