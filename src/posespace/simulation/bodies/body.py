"""A body to simulate: a rig, and its bones as rounded cones that the tissue is fixed to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posespace import check
from posespace.check import Floats
from posespace.errors import InputError
from posespace.rig import Rig


@dataclass(frozen=True, eq=False)
class Bone:
    """A rounded cone inside the rest shape.

    Parameters
    ----------
    joint : index of the joint it moves with
    start, end : (3,) centres of its two ends, in the rest shape
    start_radius, end_radius : their radii, above 0
    """

    joint: int
    start: Floats
    end: Floats
    start_radius: float
    end_radius: float

    def __post_init__(self) -> None:
        for name in ("start", "end"):
            object.__setattr__(self, name, check.floats(f"bone {name}", getattr(self, name), (3,)))
        if not (self.start_radius > 0 and self.end_radius > 0):
            raise InputError(f"bone radii: expected above 0, got {self.start_radius} and {self.end_radius}")

    @property
    def length(self) -> float:
        """Distance between the centres of its ends."""
        return float(np.linalg.norm(self.end - self.start))


@dataclass(frozen=True, eq=False)
class Cut:
    """Where a limb was cut off a longer one: the skin there is held by the nearest bone.

    Parameters
    ----------
    point : (3,) on the plane from which on the skin is held
    outward : (3,) unit vector across that plane, away from the body
    radius : how far from `point`, across, the cut reaches
    """

    point: Floats
    outward: Floats
    radius: float = np.inf

    def __post_init__(self) -> None:
        for name in ("point", "outward"):
            object.__setattr__(self, name, check.floats(f"cut {name}", getattr(self, name), (3,)))

    def holds(self, points: Floats) -> NDArray[np.bool_]:
        """Return which of the points (N, 3) of a skin are held."""
        away = points - self.point
        along = away @ self.outward
        held: NDArray[np.bool_] = (along >= 0) & (np.linalg.norm(away, axis=1) <= self.radius)
        return held


@dataclass(frozen=True, eq=False)
class Body:
    """What the simulation starts from: a rig in millimetres and the bones inside its flesh.

    Parameters
    ----------
    rig : the skin at rest, its joints and weights
    bones : inside the skin and apart from each other
    cuts : where it was cut off the rest of a body
    level : how often the coarsest skin was subdivided; the vertices of each level are the first ones of the next
    """

    rig: Rig
    bones: tuple[Bone, ...]
    cuts: tuple[Cut, ...] = ()
    level: int = 0
