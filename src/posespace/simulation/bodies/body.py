"""A body to simulate: a rig, and its bones as rounded cones to which the tissue is fixed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posespace import check
from posespace.check import Floats
from posespace.errors import InputError
from posespace.rig import Rig

Accept = Callable[[Floats], NDArray[np.bool_]]
"""Which poses of a batch may be kept (P,), from their joint angles (P, J, 3) in radians from rest."""


@dataclass(frozen=True, eq=False)
class Bone:
    """A rounded cone inside the rest shape.

    Parameters
    ----------
    joint : index of the joint that moves it
    start, end : (3,) centres of its two ends, in the rest shape
    start_radius, end_radius : radii of its ends, above 0
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
    """A plane at which a limb was cut off: the skin beyond it is fixed to the nearest bone.

    Parameters
    ----------
    point : (3,) on the plane
    outward : (3,) unit normal of the plane, away from the body
    radius : distance from `point` within which skin is fixed
    """

    point: Floats
    outward: Floats
    radius: float = np.inf

    def __post_init__(self) -> None:
        for name in ("point", "outward"):
            object.__setattr__(self, name, check.floats(f"cut {name}", getattr(self, name), (3,)))

    def holds(self, points: Floats) -> NDArray[np.bool_]:
        """Return which points (N, 3) of a skin are fixed."""
        offset = points - self.point
        beyond = offset @ self.outward >= 0
        held: NDArray[np.bool_] = beyond & (np.linalg.norm(offset, axis=1) <= self.radius)
        return held


@dataclass(frozen=True, eq=False)
class Body:
    """A rig and the bones inside its flesh: what the simulation starts from.

    Parameters
    ----------
    rig : the skin at rest, its joints and weights
    bones : inside the skin and apart from each other
    cuts : where it was cut off a larger body
    level : how often the coarsest skin was subdivided; the vertices of each level are the first ones of the next
    accept : which random poses may be simulated; None: all
    """

    rig: Rig
    bones: tuple[Bone, ...]
    cuts: tuple[Cut, ...] = ()
    level: int = 0
    accept: Accept | None = None
