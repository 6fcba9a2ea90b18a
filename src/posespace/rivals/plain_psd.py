"""Uncompressed pose space deformation: every correction kept, over one space of all joints and controls that move."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from posespace.examples import Examples
from posespace.interpolate.rbf import RBF
from posespace.rivals.corrections import Corrections
from posespace.skin.skin import Skin


@dataclass(frozen=True)
class PlainPSD:
    """Pose space deformation (Lewis, Cordner, Fong 2000) in one layer.

    Parameters
    ----------
    kernel : of the RBF, see `posespace.interpolate.RBF`
    radius : how far an example reaches, above 0; None: chosen by leave-one-out
    smoothing : at least 0; above 0 contradictory examples are averaged
    """

    kernel: str = "gaussian"
    radius: float | None = None
    smoothing: float = 0.0

    def fit(self, examples: Examples) -> Skin:
        """Return the skin that reproduces every example."""
        return one_layer(examples, RBF(self.kernel, self.radius, smoothing=self.smoothing), "plain PSD", self)


def one_layer(examples: Examples, rbf: RBF, method: str, settings: object) -> Skin:
    """Return the skin of all corrections in one layer; `method` and `settings` are what it says about itself."""
    given = Corrections.of(examples)
    metric = given.space.metric
    if rbf.radius is None and given.values.size:
        chosen = rbf.fit(given.where, given.columns, metric, given.names)
        rbf = replace(rbf, radius=float(chosen.radius[0]))
    return given.skin(rbf.fit(given.where, np.eye(len(given.names)), metric, given.names), method, settings)
