"""Real assets as examples."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from posespace.examples import Examples
from posespace.formats.store.example_store import ExampleStore
from posespace.motion import Motion
from posespace.rig import Rig


def dembones(data: Path) -> Examples:
    found = dict(np.load(data / "meshseq-dembones" / "bone_train.npz"))
    rig = Rig.from_arrays(
        found["rest_verts"],
        found["tris"],
        found["weights"],
        found["bone_parents"],
        found["rest_bone_world"],
        found["bone_names"].tolist(),
    )
    return Examples.from_shapes(rig, Motion.from_world(rig.skeleton, found["bone_world"]), found["verts"])


def write_every_fourth(path: str, data: str, first: int) -> None:
    """One of four writers of a store, in a process of its own: it must be importable there."""
    shapes = dembones(Path(data)).shapes
    store = ExampleStore.open(path)
    for index in range(first, len(store), 4):
        store.write(index, shapes[index])
