"""Cardinal linear and radial functions: a hyperplane by least squares, then radial functions for what it leaves."""

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
    width, chosen by leave-one-out on what the hyperplane leaves, where the paper takes each example's spacing.

    Parameters
    ----------
    smoothing : at least 0; above 0 contradictory examples are averaged
    """

    smoothing: float = 0.0

    def fit(self, examples: Examples) -> Skin:
        """Return the skin that reproduces every example."""
        given = Corrections.of(examples, kind="freedoms")
        where, count = given.where.astype(np.float64), len(given.names)
        plane = tail_columns(where, where[0], "linear", "euclidean")
        linear = np.linalg.pinv(plane)
        # Each example's own function: 1 there and 0 at the others, less its best hyperplane.
        left = np.eye(count) - plane @ linear
        chosen = RBF("gaussian", smoothing=self.smoothing).fit(where, left @ given.columns, names=given.names)
        radial = RBF("gaussian", float(chosen.radius[0]), smoothing=self.smoothing).fit(where, left, names=given.names)
        weights = np.vstack([radial.weights, linear])
        cardinal = RBFInterpolant("gaussian", "euclidean", "linear", radial.radius, where, weights)
        return given.skin(cardinal, "linear + radial", self)
