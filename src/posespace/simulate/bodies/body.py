"""A body to simulate: a rig, and its bones as rounded cones that the tissue is fixed to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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
class Body:
    """What the simulation starts from: a rig in millimetres and the bones inside its flesh.

    Parameters
    ----------
    rig : the skin at rest, its joints and weights
    bones : inside the skin and apart from each other
    level : how often the coarsest skin was subdivided; the vertices of each level are the first ones of the next
    """

    rig: Rig
    bones: tuple[Bone, ...]
    level: int = 0
