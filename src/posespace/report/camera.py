"""The camera of a picture: where it looks from, and how much it shows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from posespace import check
from posespace.check import Floats
from posespace.errors import InputError

# glTF's axes: y up, the front towards +z; left and right as the viewer of the front sees them.
DIRECTIONS = {
    "front": (0.0, 0.0, 1.0),
    "back": (0.0, 0.0, -1.0),
    "left": (-1.0, 0.0, 0.0),
    "right": (1.0, 0.0, 0.0),
    "top": (0.0, 1.0, 0.0),
    "bottom": (0.0, -1.0, 0.0),
    "three_quarter": (0.55, 0.4, 0.73),
}
FAR = 1e60
"""Points with larger coordinates are left out: products of these would overflow."""


@dataclass(frozen=True)
class Camera:
    """An orthographic view of a scene.

    Parameters
    ----------
    direction : (3,) a vector from the target to the eye, or a name in `DIRECTIONS`
    up : (3,) what points up in the picture; another axis replaces it if we look along it
    target : (3,) the middle of the picture; None is the middle of the mesh
    extent : half the height of the view in the units of the mesh; None makes the mesh fit
    half_width : the view grows beyond `extent` until half its width is this, so that pictures of any
        proportion show all that `fit` has framed
    """

    direction: str | ArrayLike = "three_quarter"
    up: ArrayLike = (0.0, 1.0, 0.0)
    target: ArrayLike | None = None
    extent: float | None = None
    half_width: float = 0.0

    def __post_init__(self) -> None:
        direction = self.direction
        if isinstance(direction, str):
            direction = DIRECTIONS[check.choice("camera direction", direction, list(DIRECTIONS))]
        # Plain tuples, so that cameras compare and hash whatever they were made from.
        for name, value in (("direction", direction), ("up", self.up), ("target", self.target)):
            if value is not None:
                vector = check.floats(f"camera {name}", value, (3,))
                length = 1.0 if name == "target" else float(np.linalg.norm(vector))
                if length == 0:
                    raise InputError(f"camera {name}: expected a direction, got zero")
                object.__setattr__(self, name, tuple((vector / length).tolist()))
        if self.extent is not None and not 0 < self.extent < math.inf:
            raise InputError(f"camera extent: expected a positive number, got {self.extent}")

    @classmethod
    def fit(
        cls,
        points: ArrayLike,
        direction: str | ArrayLike = "three_quarter",
        up: ArrayLike = (0.0, 1.0, 0.0),
        margin: float = 1.05,
    ) -> Camera:
        """Return the camera that frames all `points` (..., 3), of one shape or of many to be seen alike."""
        return cls(direction, up).framing(points, margin)

    def framing(self, points: ArrayLike, margin: float = 1.05) -> Camera:
        """Return this camera with what it leaves open, target or extent, chosen to show `points` (..., 3)."""
        axes = self.axes()
        local = np.asarray(points, dtype=np.float64).reshape(-1, 3)
        local = local[(np.abs(local) < FAR).all(axis=1)] @ axes.T
        low, high = (local.min(axis=0), local.max(axis=0)) if len(local) else (np.zeros(3), np.zeros(3))
        centre = (low + high) / 2 if self.target is None else axes @ np.asarray(self.target)
        width, height, _ = (margin * np.maximum(high - centre, centre - low)).tolist()
        aimed = replace(self, target=centre @ axes)
        return aimed if self.extent else replace(aimed, extent=height or width or 1.0, half_width=width)

    def axes(self) -> Floats:
        """Return the axes of the picture (3, 3): rows right, up and towards the viewer."""
        towards = np.array(self.direction, dtype=np.float64)
        spare = np.array([0.0, 0.0, -math.copysign(1.0, towards[1])])  # seen from the top, the front is below
        for up in (np.asarray(self.up), spare, np.array([0.0, 1.0, 0.0])):
            right = np.cross(up, towards)
            if np.linalg.norm(right) > 1e-6:
                break
        right /= np.linalg.norm(right)
        return np.stack([right, np.cross(towards, right), towards])
