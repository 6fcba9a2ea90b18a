"""Shepard's interpolation: the settings and the fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from posespace.errors import InputError
from posespace.interpolate.distances import distances
from posespace.interpolate.fitted import ShepardInterpolant
from posespace.interpolate.samples import Samples


@dataclass(frozen=True)
class Shepard:
    """Shepard's interpolation: the mean of the sample values, weighted by distance to the power -`power`.

    Attributes
    ----------
    power : above 0; high powers make plateaus around the samples
    epsilon : at least 0 and below 1; a query nearer to a sample than this fraction of the largest distance between
        samples takes its value exactly
    """

    power: float = 2.0
    epsilon: float = 1e-9

    def __post_init__(self) -> None:
        if not 0.0 < self.power < math.inf:
            raise InputError(f"power: expected finite and above 0, got {self.power}")
        if not 0.0 <= self.epsilon < 1.0:
            raise InputError(f"epsilon: expected at least 0 and below 1, got {self.epsilon}")

    def fit(
        self, samples: ArrayLike, values: ArrayLike, metric: str = "euclidean", names: Sequence[str] | None = None
    ) -> ShepardInterpolant:
        """Return the interpolant of values (M, C) or (M,) at samples (M, D); `names` (M) are for errors."""
        data = Samples.check(samples, values, metric, names)
        gaps = distances(data.points, data.points, metric)
        data.check_apart(gaps)
        reach = float(self.epsilon * gaps.max())
        return ShepardInterpolant(metric, float(self.power), reach, data.points, data.as_given(data.values))
