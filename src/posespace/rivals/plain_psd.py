"""Uncompressed pose space deformation: all corrections, over one space of all joints and controls that move."""

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
    radius : of the kernel, above 0; None: chosen by leave-one-out
    smoothing : at least 0; above 0 contradictory examples are averaged
    """

    kernel: str = "gaussian"
    radius: float | None = None
    smoothing: float = 0.0

    def fit(self, examples: Examples) -> Skin:
        """Return the skin that reproduces every example."""
        return one_layer(examples, RBF(self.kernel, self.radius, smoothing=self.smoothing), "plain PSD", self)


def one_layer(examples: Examples, rbf: RBF, method: str, settings: object) -> Skin:
    """Return the skin of all corrections in one layer; `method` and `settings` go into its `about`."""
    corrections = Corrections.of(examples)
    metric = corrections.space.metric
    if rbf.radius is None and corrections.values.size:
        chosen = rbf.fit(corrections.samples, corrections.columns, metric, corrections.names)
        rbf = replace(rbf, radius=float(chosen.radius[0]))
    return corrections.skin(
        rbf.fit(corrections.samples, np.eye(len(corrections.names)), metric, corrections.names), method, settings
    )
