"""What a session keeps between solves: what each sculpt adds, and the layers of each plan with their inputs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.fit.psd.layers import Deltas
from posespace.sculpt import Sculpt
from posespace.skin.layer import Layer


@dataclass(frozen=True, eq=False)
class Residual:
    """What a sculpt adds to plain skinning.

    Parameters
    ----------
    sculpt : the pose and the shape
    displacement : (N, 3) of the rest shape
    moved : (N,) bool, the vertices that it moves
    damped : number of vertices that are damped
    normals : (N, 3) what it adds to the rest normals, or None where normals are not corrected
    """

    sculpt: Sculpt
    displacement: Floats
    moved: NDArray[np.bool_]
    damped: int
    normals: Floats | None


@dataclass(frozen=True, eq=False)
class Solved:
    """The layers of one plan, and their inputs, which tell whether they must be solved again.

    Sculpts that have a radius of their own make a layer for each radius: in it all other samples are zero, so that the
    sum of the layers reproduces every sculpt. `error` is the leave-one-out error as a fraction of plain skinning's,
    `note` a line for the user, or "".
    """

    deltas: Deltas
    deltas_from: tuple[object, ...]
    layers: tuple[Layer, ...]
    layer_from: tuple[object, ...]
    radius: tuple[float, ...]
    error: float | None = None
    note: str = ""
