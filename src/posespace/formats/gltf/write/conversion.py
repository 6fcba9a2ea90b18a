"""Conversion: from the unit and axes of a skin to those of glTF, which is in metres with y up.

The numbers themselves are changed, rather than put below a node that scales: so they are right in every program, also
in one that leaves out skins, and no engine has to carry a scale down a skeleton.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.rig import Rig

UPS = {"y": np.eye(3), "z": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])}
"""Rotations (3, 3) that take the up axis of that name to y."""


@dataclass(frozen=True, eq=False)
class Conversion:
    """Converts from the unit and axes of a skin to those of a file.

    Parameters
    ----------
    scale : of all lengths
    rotation : (3, 3) from the axes of the skin to those of the file
    """

    scale: float
    rotation: Floats

    def offsets(self, values: Floats) -> Floats:
        """Return points or displacements (..., 3) of the rest shape in the file."""
        moved: Floats = self.scale * self.directions(values)
        return moved

    def directions(self, values: Floats) -> Floats:
        """Return directions (..., 3) in the file."""
        if np.array_equal(self.rotation, np.eye(3)):
            return values
        rotated: Floats = values @ self.rotation.T
        return rotated

    def steps(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return whole numbers of steps (..., 3) along the axes of the file, of the same type and not scaled."""
        most = np.iinfo(values.dtype).max
        return np.clip(self.directions(values.astype(np.float64)), -most, most).astype(values.dtype)

    def quaternions(self, values: Floats) -> Floats:
        """Return numbers (..., V) of which the first four are a quaternion: as rotations of the file's axes."""
        return np.concatenate([self.directions(values[..., :3]).astype(values.dtype), values[..., 3:]], axis=-1)

    def rig(self, rig: Rig) -> Rig:
        """Return the rig in the file: rotations of its joints stay the same, translations are scaled."""
        if self.scale == rig.mesh.unit == 1.0 and np.array_equal(self.rotation, np.eye(3)):
            return rig
        frames, bind = rig.skeleton.local_frames.astype(np.float64), rig.inverse_bind.astype(np.float64)
        roots = rig.skeleton.parents < 0
        frames[roots, :3] = self.rotation @ frames[roots, :3]
        bind[:, :3, :3] = bind[:, :3, :3] @ self.rotation.T
        frames[:, :3, 3] *= self.scale
        bind[:, :3, 3] *= self.scale
        mesh = replace(rig.mesh.with_points(self.offsets(rig.mesh.points)), unit=1.0)
        skeleton = replace(rig.skeleton, local_frames=frames)
        return Rig(mesh, skeleton, rig.influences, rig.weights, bind, rig.blending)
