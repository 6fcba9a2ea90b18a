"""Driver: from a pose to the coordinates of a basis, by a pose space and an interpolant over it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from posespace import check
from posespace.check import Floats
from posespace.errors import InputError, quoted
from posespace.interpolate.fitted import RBFInterpolant, ShepardInterpolant
from posespace.motion import Motion
from posespace.pose import Pose
from posespace.poses.spaces import PoseSpace
from posespace.skeleton import Skeleton

Interpolant = RBFInterpolant | ShepardInterpolant


@dataclass(frozen=True, eq=False)
class Driver:
    """From a pose to coordinates: a pose space and the interpolant over it."""

    space: PoseSpace
    interpolant: Interpolant

    def __post_init__(self) -> None:
        dimensions = self.interpolant.centres.shape[1]
        if dimensions != self.space.dimensions:
            raise InputError(f"interpolant: expected {self.space.dimensions} numbers per sample, got {dimensions}")
        if self.interpolant.metric != self.space.metric:
            raise InputError(f"interpolant: expected metric {self.space.metric!r}, got {self.interpolant.metric!r}")
        if not self.components:
            raise InputError("interpolant: expected at least one component, got none")
        if self.interpolant.flat:
            raise InputError("interpolant: expected a column of weights or values per component, got one dimension")

    @property
    def components(self) -> int:
        """The number of coordinates: one for each component of a layer."""
        return self.interpolant.columns

    def coordinates(
        self, pose: Pose | Motion, skeleton: Skeleton, parts: tuple[Floats, Floats] | None = None
    ) -> Floats:
        """Return the coordinates (C,) of a pose, or (P, C) of a motion; its `parts` may be given: see `Parts.of`."""
        with np.errstate(over="ignore", invalid="ignore"):
            points = self.space.coordinates(pose, skeleton, parts)
            values: Floats = self.interpolant(points[None])[0] if isinstance(pose, Pose) else self.interpolant(points)
        check.ordinary(f"coordinates over {quoted(', '.join(self.space.names))}", values)
        return values

    def truncated(self, components: int) -> Driver:
        """Return a driver of at most the first `components` coordinates (at least 1)."""
        interpolant = self.interpolant
        if components >= self.components:
            return self
        if isinstance(interpolant, RBFInterpolant):
            return replace(self, interpolant=replace(interpolant, weights=interpolant.weights[:, :components]))
        return replace(self, interpolant=replace(interpolant, values=interpolant.values[:, :components]))
