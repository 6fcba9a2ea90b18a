"""Lengths and axes of a file: glTF is in metres with y up, and a skin may be in anything.

The numbers themselves are changed, rather than put below a node that scales: so they are right in every program, also
in one that leaves out skins, and no engine has to carry a scale down a skeleton.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from posespace.check import Floats
from posespace.rig import Rig

UPS = {"y": np.eye(3), "z": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])}
"""What turns the axis of that name up to y."""


@dataclass(frozen=True, eq=False)
class Placement:
    """From a skin's unit and axes to those of a file.

    Parameters
    ----------
    scale : of all lengths
    turn : (3, 3) rotation of the whole
    """

    scale: float
    turn: Floats

    def offsets(self, values: Floats) -> Floats:
        """Return points or displacements (..., 3) of the rest shape in the file."""
        moved: Floats = self.scale * self.directions(values)
        return moved

    def directions(self, values: Floats) -> Floats:
        """Return directions (..., 3) in the file."""
        if np.array_equal(self.turn, np.eye(3)):
            return values
        turned: Floats = values @ self.turn.T
        return turned

    def rig(self, rig: Rig) -> Rig:
        """Return the rig in the file: poses turn its joints as before, shifts are scaled."""
        frames, bind = rig.skeleton.local_frames.astype(np.float64), rig.inverse_bind.astype(np.float64)
        roots = rig.skeleton.parents < 0
        frames[roots, :3] = self.turn @ frames[roots, :3]
        bind[:, :3, :3] = bind[:, :3, :3] @ self.turn.T
        frames[:, :3, 3] *= self.scale
        bind[:, :3, 3] *= self.scale
        mesh = replace(rig.mesh.with_points(self.offsets(rig.mesh.points)), unit=1.0)
        skeleton = replace(rig.skeleton, local_frames=frames)
        return Rig(mesh, skeleton, rig.influences, rig.weights, bind, rig.blending)
