"""The animations of a glTF file, sampled at their own key times, as motions of a skeleton and its morphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posespace import rotations
from posespace.check import Floats
from posespace.errors import InputError
from posespace.formats.gltf_buffers import Document, Fields
from posespace.formats.gltf_meshes import Morphs
from posespace.formats.gltf_nodes import Nodes, unique
from posespace.pose import Motion
from posespace.skeleton import Skeleton

_WIDTHS = {"translation": 3, "rotation": 4, "scale": 3}
_INTERPOLATIONS = ("LINEAR", "STEP", "CUBICSPLINE")
_SAME_SCALE = 1e-3


@dataclass(frozen=True, eq=False)
class Track:
    """One channel: how a property of a node changes over time.

    Parameters
    ----------
    node : its number
    path : "translation", "rotation", "scale" or "weights"
    interpolation : "LINEAR", "STEP" or "CUBICSPLINE"
    times : (n,) seconds, increasing
    values : (n, D), or for CUBICSPLINE (n, 3, D): the tangent coming in, the value, the tangent going out
    """

    node: int
    path: str
    interpolation: str
    times: Floats
    values: Floats

    def sample(self, times: Floats) -> Floats:
        """Return the values (P, D) at `times` (P,); before the first key and after the last one they stand still."""
        last = len(self.times) - 1
        key = np.clip(np.searchsorted(self.times, times, side="right") - 1, 0, last)
        after = np.minimum(key + 1, last)
        span = self.times[after] - self.times[key]
        along = np.clip((times - self.times[key]) / np.where(span > 0, span, 1), 0, 1)
        if self.interpolation == "STEP":
            return self.values[key]
        if self.interpolation == "CUBICSPLINE":
            return self._spline(key, after, along[:, None], span[:, None])
        if self.path == "rotation":
            return rotations.slerp(self.values[key], self.values[after], along)
        mixed: Floats = self.values[key] + along[:, None] * (self.values[after] - self.values[key])
        return mixed

    def _spline(self, key: np.ndarray, after: np.ndarray, t: Floats, span: Floats) -> Floats:
        """Cubic Hermite spline, as in appendix C of the specification."""
        start, leaving = self.values[key, 1], self.values[key, 2] * span
        end, arriving = self.values[after, 1], self.values[after, 0] * span
        value: Floats = (
            (2 * t**3 - 3 * t**2 + 1) * start
            + (t**3 - 2 * t**2 + t) * leaving
            + (-2 * t**3 + 3 * t**2) * end
            + (t**3 - t**2) * arriving
        )
        return value
