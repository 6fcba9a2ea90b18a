"""Morton order: neighbours in the list are near each other in space."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from posespace.check import Floats


def curve_order(points: Floats, bits: int) -> NDArray[np.intp]:
    """Return the order (N,) of points (N, 3) along Morton's curve through a grid of 2**bits cells each way."""
    if not len(points):
        return np.zeros(0, dtype=np.intp)
    # In double precision: in single precision the least size is 0.
    apart = points.astype(np.float64) - points.min(axis=0)
    size = max(float(apart.max()), 1e-300)
    cells = (apart / size * (2**bits - 1)).astype(np.int64)
    key: NDArray[Any] = np.zeros(len(points), dtype=np.int64)
    for bit in range(bits):
        for axis in range(3):
            key |= ((cells[:, axis] >> bit) & 1) << (3 * bit + axis)
    return np.argsort(key, kind="stable")
