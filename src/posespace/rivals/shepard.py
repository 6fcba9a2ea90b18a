"""Shepard's inverse-distance weighting of the corrections, which Lewis et al. discuss before they choose RBFs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posespace.examples import Examples
from posespace.interpolate.shepard import Shepard
from posespace.rivals.corrections import Corrections
from posespace.skin.skin import Skin


@dataclass(frozen=True)
class ShepardCorrections:
    """The same corrections as `PlainPSD`, mixed by Shepard's weights.

    Parameters
    ----------
    power : above 0; high powers make plateaus around the examples
    """

    power: float = 2.0

    def fit(self, examples: Examples) -> Skin:
        """Return the skin that reproduces every example."""
        given = Corrections.of(examples)
        cardinal = Shepard(self.power).fit(given.where, np.eye(len(given.names)), given.space.metric, given.names)
        return given.skin(cardinal, "Shepard", self)
