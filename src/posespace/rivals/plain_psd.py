"""Uncompressed pose space deformation: every correction kept, over one space of all joints and controls that move."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posespace.examples import Examples
from posespace.interpolate.rbf import RBF
from posespace.rivals.corrections import Corrections
from posespace.skin import Skin


@dataclass(frozen=True)
class PlainPSD:
    """Pose space deformation (Lewis, Cordner, Fong 2000) in one layer.

    Parameters
    ----------
    kernel : of the RBF, see `posespace.interpolate.RBF`
    radius : the falloff, above 0; None: chosen by leave-one-out
    smoothing : at least 0; above 0 contradictory examples are averaged
    method : what the layer is called
    """

    kernel: str = "gaussian"
    radius: float | None = None
    smoothing: float = 0.0
    method: str = "plain PSD"

    def fit(self, examples: Examples) -> Skin:
        """Return the skin that reproduces every example."""
        given = Corrections.of(examples)
        settings, metric = RBF(self.kernel, self.radius, smoothing=self.smoothing), given.space.metric
        if self.radius is None and given.values.size:
            chosen = settings.fit(given.where, given.columns, metric, given.names)
            settings = RBF(self.kernel, float(chosen.radius[0]), smoothing=self.smoothing)
        return given.skin(settings.fit(given.where, np.eye(len(given.names)), metric, given.names), self.method)
