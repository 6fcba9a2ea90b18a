"""What a region of the skin depends on: the regression over its pose space."""

from __future__ import annotations

from dataclasses import dataclass

from posespace.check import Floats
from posespace.fit.regression import LeftOut, Regression
from posespace.poses.spaces import PoseSpace
from posespace.skin.driver import Driver


@dataclass(frozen=True, eq=False)
class Together:
    """What a region's term depends on; stands where a `Domain` does.

    Parameters
    ----------
    name : of the region
    regression : its nodes, and how values at the poses become values there
    left_out : how well it predicted poses that were left out
    """

    name: str
    regression: Regression
    left_out: LeftOut

    alone = False

    @property
    def space(self) -> PoseSpace:
        """The pose space."""
        return self.regression.places.space

    @property
    def nodes(self) -> Floats:
        """(M, D) the places that have values."""
        return self.regression.nodes

    def driver(self, values: Floats) -> Driver:
        """Return the driver that gives `values` (M, C) at the nodes and zero at rest."""
        return Driver(self.space, self.regression.interpolant(values))
