"""Cardinal linear and radial functions: a hyperplane by least squares, then radial functions for its residual."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posespace.examples import Examples
from posespace.interpolate.fitted import RBFInterpolant, tail_columns
from posespace.interpolate.rbf import RBF
from posespace.rivals.corrections import Corrections
from posespace.skin.skin import Skin


@dataclass(frozen=True)
class LinearRadial:
    """Shape by example (Sloan, Rose, Cohen 2001) on corrections in the rest shape.

    The space is the angles of the joints' degrees of freedom. Gaussians stand for the paper's B-splines, with one
    width, chosen by leave-one-out on the residual, instead of the spacing of each example.

    Parameters
    ----------
    smoothing : at least 0; above 0 contradictory examples are averaged
    """

    smoothing: float = 0.0

    def fit(self, examples: Examples) -> Skin:
        """Return the skin that reproduces every example."""
        corrections = Corrections.of(examples, kind="freedoms")
        samples, count = corrections.samples.astype(np.float64), len(corrections.names)
        plane = tail_columns(samples, samples[0], "linear", "euclidean")
        linear = np.linalg.pinv(plane)
        # The residual of each example's cardinal function, 1 there and 0 at the others.
        residual = np.eye(count) - plane @ linear
        chosen = RBF("gaussian", smoothing=self.smoothing).fit(
            samples, residual @ corrections.columns, names=corrections.names
        )
        radial = RBF("gaussian", float(chosen.radius[0]), smoothing=self.smoothing).fit(
            samples, residual, names=corrections.names
        )
        weights = np.vstack([radial.weights, linear])
        cardinal = RBFInterpolant("gaussian", "euclidean", "linear", radial.radius, samples, weights)
        return corrections.skin(cardinal, "linear + radial", self)
