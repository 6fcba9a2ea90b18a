"""What the poses of an example store are: their names, values and chunks, and what is said of single sculpts.

A store whose sculpts were changed keeps the states before, and those that were undone: see `journal`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from posespace.errors import FileError, InputError, quoted
from posespace.formats import records
from posespace.formats.checked_json import Fields
from posespace.formats.store.zarr_arrays import map_group
from posespace.motion import Motion
from posespace.sculpt import Radii, checked_radius, radius_label

FIRST_GROUP = "motion"
GROUP = re.compile(r"motion(-[1-9][0-9]{0,8})?")
_MOST_ROWS = 10**8
_VERSION = 3
_CONTROL_RADII = "control_radii"


@dataclass(frozen=True, eq=False)
class StoreState:
    """The poses of a store at one time.

    Parameters
    ----------
    motion : P poses
    rows : P numbers of the chunks that hold their shapes
    muted : names of sculpts that fits ignore
    radii : the reach of single sculpts, by name
    control_radii : the reach of all, by joint, control or layer
    group : where the store has the arrays of the motion
    did : the change that led here; "" for none
    """

    motion: Motion
    rows: tuple[int, ...]
    muted: frozenset[str] = frozenset()
    radii: Mapping[str, float] = field(default_factory=dict)
    control_radii: Radii = field(default_factory=dict)
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
        if self.control_radii:
            json[_CONTROL_RADII] = [_written(name, radius) for name, radius in self.control_radii.items()]
        if self.did:
            json["did"] = self.did
        return json


def head_version(head: Fields) -> int:
    """Return the version that a store must have, which is that of the file where it is higher and known.

    Older readers know nothing of chunks in another order (2); they would remove those of changes to redo, and fit
    without radii by control (3).
    """
    newest = "undone" in head or _CONTROL_RADII in head.part("motion")
    least = _VERSION if newest else 2 if "history" in head else 1
    return max(least, min(head.integer("version"), _VERSION))


def version_for(states: Sequence[records.Json], undone: Sequence[records.Json]) -> int:
    """Return the version of a store whose sculpts were changed: of the states before and now, and those undone."""
    return _VERSION if undone or any(_CONTROL_RADII in state for state in states) else 2


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
    reach = {name: checked_radius(f"sculpt {quoted(name)}", radii.number(name)) for name in radii}
    by_control = dict(_read(part) for part in entry.parts(_CONTROL_RADII, "radius", []))
    rows = rows_of(entry, len(motion))
    return StoreState(motion, rows, frozenset(muted), reach, by_control, group, entry.text("did", ""))


def _written(name: str | tuple[str, ...], radius: float) -> records.Json:
    return {"axis": name, "radius": radius} if isinstance(name, str) else {"layer": list(name), "radius": radius}


def _read(part: Fields) -> tuple[str | tuple[str, ...], float]:
    name = tuple(sorted(part.texts("layer"))) if "layer" in part else part.text("axis")
    if not name:
        raise InputError(f"{part.where}: layer: expected at least one name, got none")
    return name, checked_radius(quoted(radius_label(name)), part.number("radius"))


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
