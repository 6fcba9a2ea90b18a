"""Positions as whole numbers (`KHR_mesh_quantization`): of 16 bits, on one grid around a rig's mesh."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats
from posespace.errors import InputError
from posespace.formats.checked_json import Fields
from posespace.formats.gltf.extension import EXTENSION

QUANTIZED = "KHR_mesh_quantization"
STEPS = 32767


@dataclass(frozen=True, eq=False)
class Grid:
    """From numbers n of a file, within -1 and 1, to positions: centre + size n.

    Parameters
    ----------
    centre : (3,)
    size : the same along all axes, so that normals stay as they are
    """

    centre: Floats
    size: float

    @classmethod
    def around(cls, points: Floats, displacements: Iterable[Floats]) -> Grid:
        """Return a grid that holds points (N, 3), and displacements (..., 3) of them."""
        low, high = points.min(axis=0), points.max(axis=0)
        lengths = (float(np.linalg.norm(offsets, axis=-1).max(initial=0.0)) for offsets in displacements)
        size = max(float((high - low).max()) / 2, *lengths, 0.0)
        return cls((low + high).astype(np.float64) / 2, size or 1.0)

    @classmethod
    def of(cls, root: Fields) -> Grid | None:
        """Return the grid of a file that the library wrote, or None; `root` is all of its JSON."""
        fields = root.part("extensions", {}).part(EXTENSION, {})
        if "grid" not in fields:
            return None
        *centre, size = fields.numbers("grid", 4)
        if not size > 0:
            raise InputError(f"{EXTENSION}: grid: expected a size above 0, got {size}")
        return cls(np.array(centre), size)

    def numbers(self, points: Floats) -> Floats:
        """Return the numbers of points (N, 3), within -1 and 1."""
        return np.asarray((points - self.centre) / self.size)

    def points(self, points: Floats) -> NDArray[np.int16]:
        """Return points (N, 3) as whole numbers."""
        return whole(self.numbers(points))

    def displacements(self, values: Floats) -> NDArray[np.int16]:
        """Return displacements (..., 3) as whole numbers."""
        return whole(values / self.size)

    def bind(self, inverse_bind: Floats) -> Floats:
        """Return inverse bind matrices (J, 4, 4) for positions that are given as numbers of the file."""
        return inverse_bind @ self.matrix

    @property
    def matrix(self) -> Floats:
        """(4, 4) from a file's numbers to positions."""
        transform = np.diag([self.size, self.size, self.size, 1.0])
        transform[:3, 3] = self.centre
        return transform


def whole(values: Floats, steps: int = STEPS) -> NDArray[np.int16]:
    """Return numbers within -1 and 1 as normalised whole numbers."""
    return np.clip(np.rint(steps * values), -steps, steps).astype(np.int16)


def whole_weights(weights: Floats) -> NDArray[np.uint16]:
    """Return weights (N, K), rows that sum to 1 and begin with the largest, as whole numbers that sum to 65535."""
    numbers = np.rint(65535 * weights.astype(np.float64)).astype(np.int64)
    numbers[:, 0] += 65535 - numbers.sum(axis=1)
    return numbers.astype(np.uint16)
