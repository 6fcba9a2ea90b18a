"""Examples stored small: 16-bit differences from plain skinning, compressed, in one NumPy archive without pickle."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.errors import FileError
from posespace.examples import Examples
from posespace.formats import files, records
from posespace.mesh import UNITS
from posespace.motion import Motion
from posespace.rig import Rig

VERSION = 1
_STEPS = 32767
_FINEST = 4e-6
"""The least length of a unit, as a fraction of the box diagonal: finer ones would only store noise."""


@dataclass(frozen=True, eq=False)
class StoredShapes:
    """Shapes computed on request: plain skinning plus the stored difference in posed space.

    Parameters
    ----------
    rig, motion : whose shapes they are
    differences : (P, N, 3) int16
    steps : (P,) float64, the length of one unit of each pose's differences
    """

    rig: Rig
    motion: Motion
    differences: NDArray[np.int16]
    steps: Floats

    def __len__(self) -> int:
        return len(self.motion)

    def __getitem__(self, index: int, /) -> Floats:
        shape: Floats = self.rig.skin(self.motion[index]) + self.steps[index] * self.differences[index]
        return shape


def write(path: Path, examples: Examples, about: dict[str, Any]) -> float:
    """Write examples to `path`, with `about` on how they were made; return the largest rounding error."""
    writer = records.Writer()
    description = {
        "kind": "stored examples",
        "version": VERSION,
        "about": about,
        "rig": records.write_rig(examples.rig, writer, "rig"),
        "motion": records.write_motion(examples.motion, writer, "motion"),
    }
    exact = np.stack([shape - examples.rig.skin(pose) for pose, shape in examples])
    steps = np.maximum(np.abs(exact).max(axis=(1, 2)) / _STEPS, _FINEST * examples.rig.mesh.diagonal)
    rounded = np.rint(exact / steps[:, None, None]).astype(np.int16)
    writer.put("shapes", differences=rounded, steps=steps)
    text = np.frombuffer(json.dumps(description).encode(), np.uint8)
    with files.atomic_write(path) as temporary, temporary.open("wb") as handle:
        np.savez_compressed(handle, description=text, **writer.arrays)  # type: ignore[arg-type]
    return float(np.abs(exact - steps[:, None, None] * rounded).max())


def read(path: Path) -> tuple[Examples, dict[str, Any]]:
    """Return the examples of a file and how they were made."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise FileError(path, f"cannot be read as stored examples ({error})") from error
    description = files.parse_json(path, arrays.pop("description", np.zeros(0, np.uint8)).tobytes())
    with files.naming(path):
        head = records.Record(description, arrays)
        head.require("stored examples", VERSION)
        rig, motion = records.read_rig(head.record("rig")), records.read_motion(head.record("motion"))
        rig = replace(rig, mesh=replace(rig.mesh, unit=UNITS["mm"]))  # as all that is stored
        shapes = records.Record({}, arrays, "shapes")
        stored = StoredShapes(rig, motion, shapes.array("differences"), shapes.array("steps"))
        return Examples(rig, motion, stored), head.part("about").values
