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
    """The corrections of `PlainPSD`, blended by Shepard's weights.

    Parameters
    ----------
    power : above 0; high powers make plateaus around the examples
    """

    power: float = 2.0

    def fit(self, examples: Examples) -> Skin:
        """Return the skin that reproduces every example."""
        corrections = Corrections.of(examples)
        cardinal = Shepard(self.power).fit(
            corrections.samples, np.eye(len(corrections.names)), corrections.space.metric, corrections.names
        )
        return corrections.skin(cardinal, "Shepard", self)
