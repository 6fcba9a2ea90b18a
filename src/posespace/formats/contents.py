"""Contents: what a reader found in a file, as meshes, rigs, skeletons and motions with distinct names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from posespace.budget import Budget
from posespace.check import Floats
from posespace.formats.frames import Clip
from posespace.markers.markers import Markers
from posespace.mesh import Mesh
from posespace.motion import Motion
from posespace.rig import Rig
from posespace.skeleton import Skeleton


@dataclass(frozen=True, eq=False)
class Contents:
    """What a file holds; every part may be empty.

    Parameters
    ----------
    path : the file
    format : its format, as people call it: glTF, OBJ, ...
    meshes : unrigged meshes by name
    rigs : rigs by name, the one with most vertices first
    skeleton : the joints of a motion file that has its own (BVH)
    motions : the clips that were wanted, by name; their joints are those of `skeleton`, or of the first rig
    morphs : (N, 3) displacements by name, of the first rig's mesh or else the first mesh
    notes : one line each about something repaired or left out
    clips : what is known of every clip, by name
    markers : the take of a file of markers
    budget : what the file may still ask for, in what is derived from it; None where its reader does not count
    """

    path: Path
    format: str
    meshes: dict[str, Mesh] = field(default_factory=dict)
    rigs: dict[str, Rig] = field(default_factory=dict)
    skeleton: Skeleton | None = None
    motions: dict[str, Motion] = field(default_factory=dict)
    morphs: dict[str, Floats] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    clips: dict[str, Clip] = field(default_factory=dict)
    markers: Markers | None = None
    budget: Budget | None = None


def unique(names: Iterable[str], what: str) -> list[str]:
    """Return the names made distinct: the second "arm" becomes "arm#2", one without a name "`what` 5"."""
    distinct: dict[str, None] = {}
    repeats: dict[str, int] = {}
    for k, name in enumerate(names):
        base = name or f"{what} {k}"
        candidate = base
        while candidate in distinct:
            repeats[base] = repeats.get(base, 1) + 1
            candidate = f"{base}#{repeats[base]}"
        distinct[candidate] = None
    return list(distinct)
