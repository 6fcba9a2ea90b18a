"""Examples one subdivision finer, computed on request: the fine skin at rest, moved by the coarse shapes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from posespace.check import Floats
from posespace.examples import Examples
from posespace.formats import files
from posespace.geometry.subdivision import Subdivision, subdivide
from posespace.mesh import Mesh
from posespace.rig import Rig, pack_weights

_STEPS = 32767


@dataclass(frozen=True, eq=False)
class FinerShapes:
    """Plain skinning of the fine rig, plus the coarse shapes' difference from theirs, halfway on new vertices.

    Parameters
    ----------
    coarse : the examples whose shapes are refined
    rig : of the fine level
    level : the subdivision from the coarse level to the fine one
    """

    coarse: Examples
    rig: Rig
    level: Subdivision

    def __len__(self) -> int:
        return len(self.coarse)

    def __getitem__(self, index: int, /) -> Floats:
        pose = self.coarse.motion[index]
        difference = self.coarse.shapes[index] - self.coarse.rig.skin(pose)
        shape: Floats = self.rig.skin(pose) + self.level.refine(difference)
        return shape


def refined(coarse: Examples, rest: Path) -> Examples:
    """Return examples of the next level; `rest` is the file that `write_rest` made."""
    rig = coarse.rig
    level = subdivide(rig.mesh.triangles, len(rig.mesh.points))
    points = level.refine(rig.mesh.points)
    with np.load(rest, allow_pickle=False) as arrays:
        points[len(rig.mesh.points) :] += arrays["step"] * arrays["offsets"]
    weights = pack_weights(level.refine(rig.dense_weights()), rig.weights.shape[1])
    fine = Rig(
        Mesh(points, level.triangles, unit=rig.mesh.unit), rig.skeleton, *weights, rig.inverse_bind, rig.blending
    )
    return Examples(fine, coarse.motion, FinerShapes(coarse, fine, level))


def write_rest(path: Path, coarse: Mesh, fine: Mesh) -> float:
    """Write the offsets of the new vertices of `fine` from the middles of their edges; return the rounding error."""
    count = len(coarse.points)
    exact = fine.points[count:] - subdivide(coarse.triangles, count).refine(coarse.points)[count:]
    step = float(np.abs(exact).max()) / _STEPS
    offsets = np.rint(exact / step).astype(np.int16)
    with files.atomic_write(path) as temporary, temporary.open("wb") as handle:
        np.savez_compressed(handle, offsets=offsets, step=step)
    return float(np.abs(exact - step * offsets).max())
