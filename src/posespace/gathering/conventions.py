"""Conventions of shape files: their unit, axes and vertex order, where these are not the rig's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TypeVar

import numpy as np

from posespace import check
from posespace.check import Floats
from posespace.errors import InputError

UPS = {"z": "x,z,-y", "y": "x,-z,y"}
"""Short names of the two usual conversions of axes: from z up to y up, and from y up to z up."""

ORDER, POSITIONS = "order", "positions"

T = TypeVar("T")


@dataclass(frozen=True)
class Conventions:
    """The unit, axes and vertex order of shape files.

    Parameters
    ----------
    unit : factor that converts the shapes' coordinates to the rig's, e.g. 0.01; or a factor by pattern of pose names,
        e.g. ``{"fist*": 0.01}``
    up : "z" for shapes with z up where the rig has y up, "y" for the opposite, or which of a shape's axes are the rig's
        x, y and z, such as "x,z,-y"; or one of these by pattern of pose names
    match : "order", or "positions" for shapes with as many vertices as the rig in another order; shapes with
        another number of vertices, such as those whose seams are merged, are matched by position either way
    """

    unit: float | Mapping[str, float] = field(default_factory=dict)
    up: str | Mapping[str, str] = field(default_factory=dict)
    match: str = ORDER

    def __post_init__(self) -> None:
        for factor in self.units.values():
            if not 0 < check.number("unit", factor) < np.inf:
                raise InputError(f"unit: expected a number above 0, got {factor}")
        for axes in self.ups.values():
            axes_matrix(axes)
        check.choice("match", self.match, (ORDER, POSITIONS))

    @property
    def units(self) -> Mapping[str, float]:
        """Factors by pattern of pose names."""
        return _by_pattern(self.unit)

    @property
    def ups(self) -> Mapping[str, str]:
        """Axes by pattern of pose names."""
        return _by_pattern(self.up)

    def require_used(self, names: tuple[str, ...]) -> None:
        """Raise if a pattern matches none of the pose names."""
        for what, patterns in (("unit", self.units), ("up", self.ups)):
            for pattern in patterns:
                if not any(fnmatchcase(name, pattern) for name in names):
                    known = ", ".join(names[:4])
                    raise InputError(f"{what} {pattern!r}: no pose with a shape is called that; they are {known}, ...")

    def converted(self, name: str, points: Floats) -> Floats:
        """Return the points (N, 3) of the shape of a pose in the rig's unit and axes."""
        for pattern, axes in self.ups.items():
            if fnmatchcase(name, pattern):
                points = points @ axes_matrix(axes).T
        for pattern, factor in self.units.items():
            if fnmatchcase(name, pattern):
                points = points * factor
        return points

    def recorded(self) -> dict[str, str]:
        """Return the settings as a store records them: by name, in words."""
        words = {
            "unit": ", ".join(f"{pattern}={value:g}" for pattern, value in self.units.items()),
            "up": ", ".join(f"{pattern}={value}" for pattern, value in self.ups.items()),
        }
        return {name: value or "as it is" for name, value in words.items()} | {"match": self.match}


def axes_matrix(axes: str) -> Floats:
    """Return the matrix (3, 3) that takes a shape's axes to the rig's: "x,z,-y", or a short name."""
    words = [word.strip() for word in UPS.get(axes, axes).split(",")]
    if sorted(word.removeprefix("-") for word in words) != ["x", "y", "z"]:
        raise InputError(f"up: expected y, z or three axes such as x,z,-y, got {axes[:40]!r}")
    matrix = np.zeros((3, 3))
    for row, word in enumerate(words):
        matrix[row, "xyz".index(word[-1])] = -1.0 if word.startswith("-") else 1.0
    return matrix


def _by_pattern(value: T | Mapping[str, T]) -> Mapping[str, T]:
    """A setting by pattern of pose names; one value is for all poses."""
    return value if isinstance(value, Mapping) else {"*": value}
