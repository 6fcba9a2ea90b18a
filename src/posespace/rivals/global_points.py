"""FKY08: all bones from all control points at once, by one kernel model each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from posespace.errors import InputError
from posespace.examples import Examples
from posespace.fit.points.points import ControlPoints
from posespace.skin import Skin


@dataclass(frozen=True)
class GlobalPoints:
    """Feng, Kim and Yu 2008: kernel CCA from where all control points are to each bone's rotation.

    Parameters
    ----------
    bones : how many virtual bones
    width, ridge : of the kernels, over the median distance and the mean variance
    """

    bones: int = 200
    width: float = 4.0
    ridge: float = 1e-3

    def fit(self, examples: Examples) -> Skin:
        """Return the skin of examples whose joints are control points, each resting on a vertex."""
        places = examples.rig.skeleton.rest_world[1:, :3, 3]
        if len(places) < 3:
            raise InputError(
                f"examples: expected control points, at least three, got {len(places)} joints below a root"
            )
        picked = tuple(int(vertex) for vertex in np.atleast_1d(cKDTree(examples.rig.mesh.points).query(places)[1]))
        return ControlPoints(picked=picked, bones=self.bones, local="none", width=self.width, ridge=self.ridge).fit(
            examples
        )
