"""How far a skin is from the truth on given examples. Give it poses the fit did not see."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posespace.check import Floats
from posespace.examples import Examples
from posespace.skin import Skin


@dataclass(frozen=True, eq=False)
class Score:
    """Errors of a skin over some examples.

    Parameters
    ----------
    names : P pose names
    per_vertex : (P, N) distance of each vertex from the truth, in the mesh's unit
    base : (P, N) the same for plain skinning of the rig
    size : the largest side of the rest shape's box
    """

    names: tuple[str, ...]
    per_vertex: Floats
    base: Floats
    size: float

    def __repr__(self) -> str:
        figures = f"rel_err {self.rel_err:.4g}, rms {self.rms:.4g}, max_error {self.max_error:.4g}"
        return f"Score({figures}, {len(self.names)} poses)"

    @property
    def rel_err(self) -> float:
        """The error over that of plain skinning: 1 is no better, 0 is the truth."""
        base = float(np.linalg.norm(self.base))
        return float(np.linalg.norm(self.per_vertex)) / base if base > 0 else 0.0

    @property
    def rms(self) -> float:
        """Root mean square of the vertex errors, the largest side of the box being 1."""
        return float(np.sqrt((self.per_vertex**2).mean())) / self.size

    @property
    def max_error(self) -> float:
        """The largest vertex error, in the mesh's unit."""
        return float(self.per_vertex.max())

    @property
    def per_pose(self) -> dict[str, float]:
        """The root mean square of each pose's vertex errors, in the mesh's unit."""
        each = np.sqrt((self.per_vertex**2).mean(axis=1))
        return dict(zip(self.names, each.tolist(), strict=True))


def evaluate(skin: Skin, examples: Examples) -> Score:
    """Compare what `skin` gives at each example's pose with the observed shape."""
    errors, base = [], []
    for pose, shape in examples:
        errors.append(np.linalg.norm(skin.pose(pose)[0] - shape, axis=1))
        base.append(np.linalg.norm(examples.rig.skin(pose) - shape, axis=1))
    size = float(np.ptp(examples.rig.mesh.points, axis=0).max())
    return Score(examples.motion.names, np.stack(errors), np.stack(base), size)
